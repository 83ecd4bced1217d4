"""Experiments as programs see them. The work is done in hybrid._reader."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Type, Union

from hybrid import _reader
from hybrid._reader import Error, Event, Node, Row

_MODES = ("routine", "callsite", "function")
_SORTS = ("inclusive", "exclusive", "samples", "calls")


class Note(NamedTuple):
    """A message of the measurement: an error, a warning or information."""

    time: int  # ns
    severity: str  # "information", "warning" or "error"
    text: str


class Child(NamedTuple):
    """A process that became another program, or began one."""

    time: int  # ns
    pid: int
    kind: str  # "exec" or "fork"
    path: str  # exec: what it executed


class Module(NamedTuple):
    """A program or library whose code ran."""

    path: str
    build_id: str  # hexadecimal, "" if it has none
    size: int  # bytes of the file when it ran; 0: not known
    mtime: int  # seconds since 1970; 0: not known


class Handle(NamedTuple):
    """A communicator, window or file of MPI, as one process knows it."""

    id: int  # 1, 2, 3 ... in the process
    type: str  # "communicator", "window" or "file"
    name: str  # "MPI_COMM_WORLD", the last name it was given, a file's path, or ""
    identity: int  # the same in all its processes, and of no other one of the world
    parent: int  # identity of the communicator that it was made of; 0: none
    rank: int  # of the process in it (inter-communicator: in its own group)
    size: int  # processes in it (inter-communicator: in its own group)
    remote: int  # inter-communicator: processes in the other group; else 0
    group: int  # inter-communicator: 0 or 1, which group is the process's own


class Offset(NamedTuple):
    """What a process's clock was beside that of a rank of its world, at one moment."""

    time: int  # ns of its own clock
    offset: int  # ns to be added to get the other
    error: int  # ns: half of the round trip by which it was measured
    reference: int  # the rank


class Metric(NamedTuple):
    """Something that was read wherever time was: `hybrid-run -m`."""

    name: str  # "rusage::minor_faults", "memory::resident", "user::NAME" ...
    unit: str  # "" for plain numbers
    description: str
    level: bool  # goes up and down; else it only grows
    process_wide: bool  # of the process, not of the thread that reads it
    estimated: bool  # counted a part of the time, and scaled up
    period: int  # samples were taken each time it had grown by so much; 0: none


class Location:
    """A thread of a process. Times are nanoseconds of CLOCK_MONOTONIC of the host; of ranks, of rank 0's host."""

    process: Process
    id: int  # 1, 2, 3 ... in the process
    tid: int
    name: str  # "" if it was never named
    start: int
    end: int  # the last known moment if it did not end properly
    ended: bool
    cpu: int  # CPU ns used while measured
    samples: int  # recorded, in periods that were asked for
    taken: int  # interrupts that made them
    partial: Dict[str, int]  # samples with an incomplete path, by reason
    dropped: Dict[str, int]  # samples that were not recorded, by reason
    faults: Dict[str, int]  # what probes did wrong
    python: Dict[str, int]  # what became of Python's frames in the samples
    mpi: Dict[str, int]  # calls of MPI that failed, were made by MPI itself ...
    frames: int
    guessed: int
    handler_time: int  # ns spent taking samples
    cost: Dict[str, int]  # CPU ns that measuring took beside handlers and probes
    left_out: int  # calls of functions that the filter excludes
    python_left_out: int
    threads: int  # 1; of a process's rest: how many threads are in it
    rest: bool  # CPU time of the process that stands in no thread's own location
    period: int  # ns that one sample stands for
    slowed: int
    events: int  # records in the trace
    events_lost: int
    source: str  # what made the samples: "cpu_timer", "task_clock", "timer", "wall", "event" or "none"
    open: int  # regions that were open at the end

    def __init__(self, process: Process, index: int, facts: Dict[str, Any]) -> None:
        self.process = process
        self.__dict__.update(facts)
        self._index = index
        self._nodes: Optional[Tuple[Node, ...]] = None

    @property
    def nodes(self) -> Tuple[Node, ...]:
        """The nodes of its call paths; each stands behind its parent, the first is the root.

        Of probes the times are measured; what ran between them is known by samples only: see Experiment.profile().
        """
        if self._nodes is None:
            self._nodes = self.process._handle.nodes(self.process._index, self._index)
        return self._nodes

    def path(self, node: int) -> List[Node]:
        """The nodes from below the root down to the one at this index."""
        nodes, path = self.nodes, []
        while node:
            path.append(nodes[node])
            node = nodes[node].parent
        return path[::-1]

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<hybrid.Location {self.id}{name} of process {self.process.pid}>"


class Process:
    """A program that ran in a process: one .hyb file, or its part of a file of several."""

    file: str  # path of the .hyb file
    host: str
    pid: int
    ppid: int
    image: int  # 0, 1, 2 ... for each exec of the same pid
    state: str  # "running" (perhaps killed), "exited", "exec" or "stopped"
    source: str  # of samples, as asked for
    rate: int  # samples a second asked for
    trace_events: bool  # whether regions are in the trace
    tick_ns: float  # ns of one tick of its clock
    start: int  # ns
    end: int  # ns; the last known moment
    realtime: int  # ns from CLOCK_MONOTONIC to the time since 1970
    trace_bytes: int
    trace_stopped: Optional[int]  # ns; None: the trace is whole
    threads_lost: int
    regions_lost: int
    names_cut: int
    probe_cost: Optional[int]  # ns of 1024 pairs of enter and leave
    call_cost: Dict[str, int]  # ns of 1024 calls of what costs something else; 0: not known
    file_size: int  # bytes; of a file of several processes those of this one
    world: Optional[int]  # identity of its MPI_COMM_WORLD; None: it is no rank
    rank: Optional[int]  # in that
    world_size: int  # ranks of it, or 0
    thread_level: str  # of MPI: "single", "funneled", "serialized" or "multiple"
    clock_domain: Optional[int]  # processes with the same read the same clock; None: not known
    clock_shift_start: int  # ns that were added to its times at the start to get those of rank 0's clock
    clock_shift_end: int  # at the end
    clock_error: Optional[int]  # ns by which that may be wrong; None: not known, the clock is another than rank 0's
    locations: Tuple[Location, ...]
    metadata: Dict[str, str]
    notes: List[Note]
    children: List[Child]
    modules: List[Module]
    handles: Dict[int, Handle]  # by id
    offsets: List[Offset]  # as measured; none where the clock is rank 0's
    metrics: List[Metric]

    def __init__(self, handle: _reader.Experiment, index: int, facts: Dict[str, Any]) -> None:
        self.__dict__.update(facts)
        self._handle = handle
        self._index = index
        self.locations = tuple(Location(self, i, facts) for i, facts in enumerate(facts["locations"]))
        self.metadata = dict(facts["metadata"])
        self.notes = [Note(*note) for note in facts["notes"]]
        self.children = [Child(*child) for child in facts["children"]]
        self.modules = [Module(*module) for module in facts["modules"]]
        self.handles = {handle[0]: Handle(*handle) for handle in facts["handles"]}
        self.offsets = [Offset(*offset) for offset in facts["offsets"]]
        self.metrics = [Metric(*metric) for metric in facts["metrics"]]

    def __repr__(self) -> str:
        return f"<hybrid.Process {self.pid} on {self.host}, {len(self.locations)} locations>"


class Experiment:
    """What one hybrid-run measured; hybrid.open() makes it.

    For one thread at a time. While an experiment is opened, while names of code are looked up (first use of nodes or
    profile) and while a profile is computed, other Python threads run; not while events are read.
    """

    path: str
    processes: Tuple[Process, ...]  # by start
    values: Dict[str, str]  # what hybrid-run wrote: "command", "status", "wall_ns" ...
    damage: List[str]  # what was found damaged, the first hundred
    damage_count: int  # of all

    def __init__(self, path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> None:
        self.path = os.fsdecode(path)
        self._handle = _reader.open(path)
        self.processes = tuple(Process(self._handle, i, facts) for i, facts in enumerate(self._handle.processes()))
        self.values = self._handle.values()
        self.damage_count, self.damage = self._handle.damage()

    @property
    def locations(self) -> Tuple[Location, ...]:
        """Those of all processes."""
        return tuple(location for process in self.processes for location in process.locations)

    @property
    def notes(self) -> List[Note]:
        """Those of all processes."""
        return [note for process in self.processes for note in process.notes]

    @property
    def metadata(self) -> Dict[str, str]:
        """That of all processes; of one key the value of the process that started first."""
        return {key: value for process in self.processes[::-1] for key, value in process.metadata.items()}

    def events(self, location: Optional[Location] = None, complete: bool = False) -> Iterator[Event]:
        """The records of the trace by time, of one location or of all.

        With complete=True samples know the time to the end of their region (`until`); the trace is then read twice.
        """
        process, index = self._indices(location) if location is not None else (-1, -1)
        return self._handle.events([process.locations for process in self.processes], process, index, complete)

    def profile(
        self,
        mode: str = "routine",
        sort: str = "inclusive",
        by_thread: bool = False,
        locations: Optional[Iterable[Location]] = None,
        python_internals: bool = False,
    ) -> List[Row]:
        """The merged call tree, row by row as hybrid-report shows it; pandas.DataFrame() takes it.

        mode: how frames merge. "routine": by function, sampled lines show; "callsite": each line that calls is a row;
        "function": lines do not show.
        sort: most first among siblings: "inclusive", "exclusive", "samples" or "calls".
        by_thread: one row below the root for each process and thread.
        locations: only these.
        python_internals: show the frames of Python's interpreter.

        Of each row inclusive = exclusive + blocked + inclusive of the rows below it, exactly; of each metric
        metrics_inclusive = metrics_exclusive + metrics_inclusive of the rows below it.
        """
        numbers = _number("mode", _MODES, mode), _number("sort", _SORTS, sort)
        chosen = None if locations is None else tuple(self._indices(location) for location in locations)
        return self._handle.profile(*numbers, by_thread, python_internals, chosen)

    def _indices(self, location: Location) -> Tuple[int, int]:
        if not isinstance(location, Location):
            raise TypeError(f"a location must be a hybrid.Location, not {type(location).__name__}")
        if location.process._handle is not self._handle:
            raise ValueError(f"{location!r} is of another experiment")
        return location.process._index, location._index

    def close(self) -> None:
        """Ends reading and frees memory; what is kept in processes and locations stays."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._handle.closed

    def __enter__(self) -> Experiment:
        return self

    def __exit__(
        self,
        type: Optional[Type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<hybrid.Experiment {self.path!r}, {len(self.processes)} processes{', closed' * self.closed}>"


def _number(what: str, words: Tuple[str, ...], word: str) -> int:
    if word in words:
        return words.index(word)
    raise ValueError(f"{what} must be one of {', '.join(words)}, not {word!r}")


def open(path: Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]) -> Experiment:
    """Opens an experiment: a directory that hybrid-run made, or a single .hyb file."""
    return Experiment(path)
