"""MPI programs for the end-to-end tests: compiled and run with each MPI that is installed, and what was recorded of them.

Truth is what the programs tell of themselves (tests/programs/mpi/truth.h), in files of their own.
"""

import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field

import pytest

from conftest import HYBRID_DUMP, HYBRID_RUN, PROGRAMS, SOURCE, Experiment, run

NAMES = ["mpich", "openmpi"]
FOLDER = PROGRAMS / "mpi"
SECONDS = 60  # for a run; mpiexec ends its ranks when it is ended


def need(name):
    """Not whether Hybrid was built with it: where it is installed that has to be so."""
    if not shutil.which(f"mpiexec.{name}") or not shutil.which(f"mpicc.{name}"):
        pytest.skip(f"mpicc.{name} and mpiexec.{name} are not installed")


class Mpi:
    """One MPI: its compilers and its launcher."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.made = {}
        need(name)
        self.mpiexec = shutil.which(f"mpiexec.{name}")
        self.yields = folder / "libyield.so"
        result = run("gcc", "-O2", "-shared", "-fPIC", FOLDER / "yield.c", "-o", self.yields, "-ldl")
        assert result.returncode == 0, result.stderr

    def compile(self, source, *flags, compiler=None):
        """The path of the executable; source is a file in tests/programs/mpi, or C text."""
        key = (source, flags, compiler)
        if key in self.made:
            return self.made[key]
        if "\n" in source:
            path = self.folder / f"program{len(self.made)}.c"
            path.write_text(source)
        else:
            path = FOLDER / source
        program = self.folder / f"{path.stem}{len(self.made)}"
        fortran = path.suffix in (".f", ".f90")
        compiler = compiler or ("mpif90" if fortran else "mpicxx" if path.suffix == ".cc" else "mpicc")
        if not shutil.which(f"{compiler}.{self.name}"):
            pytest.skip(f"{compiler}.{self.name} is not installed")
        flags = [*flags, f"-J{self.folder}"] if fortran else [*flags, f"-I{FOLDER}", f"-I{SOURCE}/include"]
        result = run(f"{compiler}.{self.name}", "-O2", "-g", path, "-o", program, *flags, "-pthread")
        assert result.returncode == 0, result.stderr
        self.made[key] = program
        return program

    def mpiexec_words(self, ranks, *options):
        words = ["timeout", "-k", "5", str(SECONDS), self.mpiexec, *options]
        return [*words, *(["--oversubscribe"] if self.name == "openmpi" else []), "-n", str(ranks)]

    def environment(self, **more):
        """Ranks that wait give their processor away; mpiexec of Open MPI runs as root."""
        result = {**os.environ, **{key: str(value) for key, value in more.items()}}
        if self.name == "mpich":
            result["LD_PRELOAD"] = " ".join(filter(None, [str(self.yields), result.get("LD_PRELOAD")]))
        else:
            result.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                          OMPI_MCA_mpi_yield_when_idle="1")
        return result


@dataclass
class Call:
    """A call of MPI in a trace."""

    function: str
    pid: int
    location: int
    path: str
    enter: int
    leave: int = None
    records: list = field(default_factory=list)  # events between


class Ranks(Experiment):
    """A run of several ranks: the experiment, and what each of them tells of itself."""

    def __init__(self, path, result, truth):
        super().__init__(path, result)
        self.truth_path = truth
        self._events = None

    def truth(self, rank):
        """Lines, without the first, which is the pid."""
        return (self.truth_path.with_name(f"{self.truth_path.name}.{rank}")).read_text().splitlines()[1:]

    def pid(self, rank):
        path = self.truth_path.with_name(f"{self.truth_path.name}.{rank}")
        return int(path.read_text().splitlines()[0].split()[1])

    def records(self, *options):
        """Lines of `hybrid-dump --json`."""
        result = run(HYBRID_DUMP, "--json", *options, self.path)
        assert (result.returncode, result.stderr) == (0, "")
        return [json.loads(line) for line in result.stdout.splitlines()]

    @property
    def events(self):
        if self._events is None:
            self._events = [event for event in self.records("--events") if event["record"] == "event"]
        return self._events

    def calls(self, rank=None):
        """The calls of MPI that the trace has, in the order of their ends."""
        open_calls, calls = {}, []
        pid = None if rank is None else self.pid(rank)
        for event in self.events:
            thread = event["pid"], event["location"]
            if pid not in (None, event["pid"]) or "path" not in event:
                continue
            name = event["path"].rpartition("/")[2]
            if event["kind"] == "enter" and name.startswith("MPI_"):
                assert thread not in open_calls, f"{name} inside {open_calls[thread].function}"
                open_calls[thread] = Call(name, *thread, event["path"], event["time"])
            elif event["kind"] == "leave" and name.startswith("MPI_"):
                calls.append(open_calls.pop(thread))
                assert calls[-1].function == name
                calls[-1].leave = event["time"]
            elif event["kind"] not in ("enter", "leave", "sample", "complete", "counter", "marker", "unmeasured"):
                assert open_calls[thread].function == name
                open_calls[thread].records.append(event)
        return calls

    def told(self, rank):
        """The trace in the words of truth.h; what only says that a request goes on is left out but for MPI_Test."""
        return Counter(line for call in self.calls(rank) for line in map(told, [call] * len(call.records), call.records)
                       if line)

    def same_as_truth(self, ranks):
        """The trace has what the programs say that they did, of all ranks; and is not empty."""
        assert self.returncode == 0, self.stderr
        for rank in range(ranks):
            truth = Counter(self.truth(rank))
            recorded = self.told(rank)
            assert recorded == truth, f"rank {rank}: {dict(recorded - truth)} recorded, {dict(truth - recorded)} true"


def told(call, event):
    kind, function = event["kind"], call.function
    peer = event.get("peer", -1)
    if kind == "epoch":
        return f"{function} epoch {peer}"
    if kind in ("created", "freed"):
        return None
    if kind in ("sent", "done", "collected", "cancelled"):
        return f"* {kind}"  # MPI may complete it at once, or when it is waited for
    if kind == "tested":
        return f"{function} tested" if function == "MPI_Test" else None
    if kind != "message":
        return f"{function} {kind}"
    what = event["message"]
    if what in ("read", "write"):
        return f"{function} {what} {event.get('position', '?')} {event['sent'] + event['received']}"
    return f"{function} {what} {peer} {event.get('tag', '-')} {event['sent']} {event['received']}"


def launcher(mpi, folder):
    """start(ranks, program, arguments ..., options=[...]): runs it, measured, in a new experiment; hybrid-run stands
    below mpiexec or around it, or (bare) where the command itself has it."""
    count = 0

    def start(ranks, *command, options=(), mpiexec=(), outside=False, bare=False, env=None, **more):
        nonlocal count
        count += 1
        path, truth = folder / f"experiment{count}", folder / f"truth{count}"
        measure = [] if bare else [HYBRID_RUN, "-o", path, *options]
        words = mpi.mpiexec_words(ranks, *mpiexec)
        words = [*measure, *words, *command] if outside else [*words, *measure, *command]
        more = {"cwd": folder, "timeout": SECONDS + 15, "env": mpi.environment(TRUTH=truth, **(env or {})), **more}
        return Ranks(path, run(*words, **more), truth)

    return start
