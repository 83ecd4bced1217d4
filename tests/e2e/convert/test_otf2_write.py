"""hybrid-convert --to otf2, against what readers of others find in it: otf2-print and python3-otf2."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import pytest

from conftest import HYBRID_CONVERT, HYBRID_DUMP, report_json, run

otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")
events = pytest.importorskip("otf2.events")


@dataclass
class Archive:
    """What python3-otf2 read, checked on the way for what must hold in every archive."""

    path: object
    said: str
    counts: Counter = field(default_factory=Counter)
    list: list = field(default_factory=list)  # (location, event)
    definitions: object = None
    entered: Counter = field(default_factory=Counter)  # by region's name and paradigm
    deepest: int = 0


ENTERS = (events.Enter, getattr(events, "CallingContextEnter", events.Enter))
LEAVES = (events.Leave, getattr(events, "CallingContextLeave", events.Leave))


def region_of(event):
    return event.calling_context.region if hasattr(event, "calling_context") else event.region


def convert(experiment, out, *options):
    result = run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", out, *options)
    assert result.returncode == 0, result.stderr
    return read(out, result.stderr)


def read(path, said=""):
    archive = Archive(path, said)
    stacks, last, numbers = defaultdict(list), {}, Counter()
    sent, received = Counter(), Counter()
    with otf2.reader.open(str(path / "traces.otf2")) as trace:
        archive.definitions = trace.definitions
        clock = trace.definitions.clock_properties
        for location, event in trace.events:
            assert event.time >= last.get(location, clock.global_offset)
            assert event.time <= clock.global_offset + clock.trace_length
            last[location] = event.time
            numbers[location] += 1
            archive.counts[type(event).__name__] += 1
            archive.list.append((location, event))
            if isinstance(event, ENTERS):
                region = region_of(event)
                stacks[location].append(region)
                archive.entered[region.name, region.paradigm] += 1
                archive.deepest = max(archive.deepest, len(stacks[location]))
            elif isinstance(event, LEAVES):
                assert stacks[location].pop() is region_of(event)
            elif isinstance(event, (events.MpiSend, events.MpiIsend)):
                here = rank_of(trace.definitions, event.communicator, location)
                sent[id(event.communicator), *peers(here, event.receiver), event.msg_tag, event.msg_length] += 1
            elif isinstance(event, (events.MpiRecv, events.MpiIrecv)):
                here = rank_of(trace.definitions, event.communicator, location)
                received[id(event.communicator), *peers(here, event.sender)[::-1], event.msg_tag, event.msg_length] += 1
        for location in trace.definitions.locations:
            assert location.number_of_events == numbers[location]
    assert not any(stacks.values())
    assert sent == received
    printed(path, archive)
    return archive


def peers(here, other):
    return (here, other) if isinstance(here, int) else (id(here), id(here))


def rank_of(definitions, communicator, location):
    """Of the process whose thread it is: its first thread stands in the group."""
    if communicator.group.group_type == otf2.GroupType.COMM_SELF:
        return location.group  # each has its own
    members = communicator.group.members
    mine = [other for other in definitions.locations if other.group is location.group]
    return next(i for i, member in enumerate(members) if member in mine)


def printed(path, archive):
    """otf2-print finds the same events, nothing that is odd, and the estimator reads the definitions."""
    result = run("otf2-print", path / "traces.otf2")
    assert (result.returncode, result.stderr) == (0, "")
    kinds = Counter(re.findall(r"^([A-Z_]+) {2,}\d+ {2,}\d+ ", result.stdout, re.M))
    assert sum(kinds.values()) == len(archive.list)
    assert kinds["ENTER"] == archive.counts["Enter"] and kinds["LEAVE"] == archive.counts["Leave"]
    result = run("otf2-print", "--show-global-defs", path / "traces.otf2")
    assert (result.returncode, result.stderr) == (0, "")
    if shutil.which("otf2-estimator"):
        result = run("otf2-estimator", input="set Region 10\nget Enter\nexit\n")
        assert result.returncode == 0


def recorded(experiment):
    """Our own events: what has to be in the archive."""
    result = run(HYBRID_DUMP, "--json", "--events", experiment)
    assert result.returncode == 0, result.stderr
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return [event for event in found if event["record"] == "event"]


def exact(archive):
    """Enters of regions that were not sampled, by name."""
    return Counter({name: count for (name, paradigm), count in archive.entered.items()
                    if paradigm != otf2.Paradigm.SAMPLING and not name.startswith("[hybrid")})


def enters(recorded_events):
    return Counter(event["path"].rpartition("/")[2] for event in recorded_events if event["kind"] == "enter")


REGIONS = """
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static struct hybrid_region outer = HYBRID_REGION_INIT("outer", HYBRID_USER);
static struct hybrid_region inner = HYBRID_REGION_INIT("inner", HYBRID_LOOP);
static struct hybrid_counter turns = HYBRID_COUNTER_INIT("turns", "1");
static volatile double sum;
__attribute__((noinline)) static void deeper(void) { for (int i = 0; i < 300000; i++) sum += i; }
__attribute__((noinline)) static void middle(void) { deeper(); sum += 1; }
static void *work(void *data)
{
	for (long i = 0; i < 20; i++) {
		hybrid_enter(&outer);
		middle();
		for (int k = 0; k < 3; k++) {
			hybrid_enter(&inner);
			middle();
			hybrid_leave(&inner);
		}
		hybrid_count(&turns, i);
		hybrid_leave(&outer);
	}
	hybrid_marker("done");
	if (data) {
		hybrid_enter(&outer);
		middle();
		kill(getpid(), SIGKILL);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	work(argc > 1 ? argv : NULL);
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(compile_c):
    return compile_c(REGIONS)


def test_probes_and_samples(measure, program, tmp_path):
    experiment = measure(program, options=["--trace", "-r", "2000", "--demote", "0:0"])
    assert experiment.returncode == 0, experiment.stderr
    archive = convert(experiment.path, tmp_path / "out")
    assert exact(archive) == {"outer": 60, "inner": 180} == enters(recorded(experiment.path))
    sampled = {name for name, paradigm in archive.entered if paradigm == otf2.Paradigm.SAMPLING}
    assert {"middle", "deeper"} <= sampled
    roles = {region.name: region.region_role for region in archive.definitions.regions}
    assert roles["inner"] == otf2.RegionRole.LOOP
    deeper = next(region for region in archive.definitions.regions if region.name == "deeper")
    assert deeper.source_file.endswith(".c") and deeper.begin_line_number > 0
    groups = {group.name for group in archive.definitions.groups}
    assert deeper.source_file in groups
    assert len(list(archive.definitions.locations)) == 3
    check_frames_in_probes(archive)
    values = [event.values[0] for _, event in archive.list if isinstance(event, events.Metric)]
    assert Counter(values) == {i: 3 for i in range(20)}
    result = run("otf2-marker", tmp_path / "out/traces.otf2")
    assert result.stdout.count('Text: "done"') == 3


def check_frames_in_probes(archive):
    """Where `deeper` is entered, `middle` is around it, in the innermost probe or outside all."""
    stacks = defaultdict(list)
    for location, event in archive.list:
        if isinstance(event, events.Enter):
            if event.region.name == "deeper":
                assert stacks[location][-1] == "middle"
            if event.region.name == "inner":
                assert "outer" in stacks[location]
            stacks[location].append(event.region.name)
        elif isinstance(event, events.Leave):
            stacks[location].pop()


STAMPS = """
#include <hybrid/hybrid.h>
static struct hybrid_region tiny = HYBRID_REGION_INIT("tiny", HYBRID_USER);
static struct hybrid_region phase = HYBRID_REGION_INIT("phase", HYBRID_USER);
static volatile double sum;
__attribute__((noinline)) static void stamp(void)
{
	hybrid_enter(&tiny);
	sum += 1;
	hybrid_leave(&tiny);
	sum += 1;
}
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 30000; i++) sum += i; }
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		hybrid_enter(&phase);
	for (int i = 0; i < 10000; i++) {
		work();
		stamp();
	}
	if (argc > 1)
		hybrid_leave(&phase);
	return 0;
}
"""


def exclusive(archive):
    """Time by region's name in which it was innermost."""
    times, stacks, last = Counter(), defaultdict(list), {}
    for location, event in archive.list:
        if isinstance(event, (events.Enter, events.Leave)):
            if stacks[location]:
                times[stacks[location][-1]] += event.time - last[location]
            if isinstance(event, events.Enter):
                stacks[location].append(event.region.name)
            else:
                stacks[location].pop()
            last[location] = event.time
    return times


@pytest.mark.parametrize("arguments", ([], ["phase"]), ids=("bare", "in a region"))
def test_time_behind_a_probe(measure, compile_c, tmp_path, arguments):
    """What called a probe does not get the time until the next sample."""
    experiment = measure(compile_c(STAMPS), *arguments, options=["--trace", "-r", "200", "--demote", "0:0"])
    assert experiment.returncode == 0, experiment.stderr
    archive = convert(experiment.path, tmp_path / "out")
    assert exact(archive) == {"tiny": 10000, **{name: 1 for name in arguments}}
    check_stamps(experiment, archive)


def check_stamps(experiment, archive):
    profile = Counter()
    for row in report_json(experiment.path, "--flat")["rows"]:
        profile[row["name"]] += row["exclusive_ns"]
    times = exclusive(archive)
    for found in (profile, times):
        assert found["stamp"] < 0.2 * found["work"]
    # The archive has wall time, the profile what the thread ran: only shares of the two are the same.
    shares = [found["work"] / (found["work"] + found["stamp"]) for found in (profile, times)]
    assert shares[0] == pytest.approx(shares[1], abs=0.1)


@pytest.mark.parametrize("arguments", ([], ["phase"]), ids=("bare", "in a region"))
def test_time_behind_a_call_of_mpi(mpi, ranks, tmp_path, arguments):
    """These know their call path: `stamp` is open around them, and left with them."""
    source = (STAMPS.replace("hybrid_enter(&tiny)", "sum += MPI_Wtime()").replace("hybrid_leave(&tiny);", "")
              .replace("static struct hybrid_region tiny", "#include <mpi.h>\nstruct hybrid_region tiny")
              .replace("(void)argv;", "MPI_Init(&argc, &argv);").replace("return 0;", "return MPI_Finalize();"))
    experiment = ranks(1, mpi.compile(source), *arguments, options=["--source", "perf", "--trace", "-r", "200", "--demote", "0:0"])
    assert experiment.returncode == 0, experiment.stderr
    archive = convert(experiment.path, tmp_path / "out")
    assert exact(archive)["MPI_Wtime"] == 10000
    check_stamps(experiment, archive)
    assert archive.entered["stamp", otf2.Paradigm.SAMPLING] > 9000


POLLING = """
#include <mpi.h>
#include <time.h>
static volatile double sum;
__attribute__((noinline)) static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
__attribute__((noinline)) static void third(void)
{
	for (double until = seconds() + 0.05; seconds() < until;)
		sum += 1;
}
__attribute__((noinline)) static void second(void) { third(); sum += 1; }
__attribute__((noinline)) static void first(void) { second(); sum += 1; }
__attribute__((noinline)) static void look(void)
{
	int flag;
	for (int i = 0; i < 10000; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	sum += 1;
}
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 3; i++) {
		first();
		look();
	}
	return MPI_Finalize();
}
"""


def test_enters_of_sampled_frames(mpi, ranks, tmp_path):
    """What was sampled is not entered again around each of 30,000 calls: only where samples or calls show a change."""
    experiment = ranks(1, mpi.compile(POLLING), options=["--trace", "--source", "perf"])
    assert experiment.returncode == 0, experiment.stderr
    archive = convert(experiment.path, tmp_path / "out")
    assert exact(archive)["MPI_Iprobe"] == 30000
    samples = sum(event["kind"] == "sample" for event in experiment.events)
    entered = Counter({name: count for (name, paradigm), count in archive.entered.items()
                       if paradigm == otf2.Paradigm.SAMPLING})
    assert entered["third"] >= 3 and entered["look"] >= 3 and entered["main"] == 1
    assert max(entered.values()) <= 2 * samples, (samples, entered)
    marked = next(group for group in archive.definitions.groups if "not calls" in group.name)
    assert {region.name for region in marked.members} >= {"main", "third", "look"}
    assert not any(region.name.startswith("MPI_") for region in marked.members)


def test_killed(measure, program, tmp_path):
    experiment = measure(program, "killed", options=["--trace", "-r", "1000", "--demote", "0:0"])
    archive = convert(experiment.path, tmp_path / "out")
    assert exact(archive) == {"outer": 61, "inner": 180}


def test_samples_alone(measure, program, tmp_path):
    experiment = measure(program, options=["-r", "2000"])
    archive = convert(experiment.path, tmp_path / "out")
    names = {name for name, _ in archive.entered}
    assert {"outer", "inner", "deeper"} <= names
    check_frames_in_probes(archive)
    result = run(HYBRID_CONVERT, experiment.path, "--to", "otf2", "-o", tmp_path / "none", "--samples", "none")
    assert result.returncode == 1 and "--trace" in result.stderr and not (tmp_path / "none").exists()


def test_other_kinds_of_samples(measure, program, tmp_path):
    experiment = measure(program, options=["--trace", "-r", "2000", "--demote", "0:0"])
    samples = sum(event["kind"] == "sample" for event in recorded(experiment.path))
    none = convert(experiment.path, tmp_path / "none", "--samples", "none")
    assert none.counts["Enter"] == 240 and none.deepest == 2
    context = convert(experiment.path, tmp_path / "context", "--samples", "context")
    assert context.counts["CallingContextSample"] == samples > 0
    assert context.counts["CallingContextEnter"] == context.counts["CallingContextLeave"] == 240
    assert context.counts["Enter"] == 0
    distances(context)
    generators = list(context.definitions.interrupt_generators)
    assert [(generator.period, generator.exponent) for generator in generators] == [(500000, -9)]


def distances(archive):
    """OTF2's unwind distance: 1 + the regions that were not open at the last event."""

    def path(context):
        found = []
        while context is not None:
            found.append(context)
            context = context.parent
        return found[::-1]

    before = defaultdict(list)
    for location, event in archive.list:
        if isinstance(event, events.CallingContextLeave):
            before[location] = path(event.calling_context)[:-1]
        elif hasattr(event, "calling_context"):
            now = path(event.calling_context)
            common = sum(1 for a, b in zip(now, before[location]) if a is b)
            assert event.unwind_distance == 1 + len(now) - common
            before[location] = now


def test_metrics(measure, program, tmp_path):
    options = ["--trace", "-r", "1000", "--demote", "0:0", "-m", "rusage::minor_faults,memory::resident"]
    experiment = measure(program, options=options)
    if experiment.returncode:
        pytest.skip("this build measures no metrics")
    read_at = [event for event in recorded(experiment.path) if event["kind"] in ("sample", "enter", "leave")]
    archive = convert(experiment.path, tmp_path / "out")
    by_name = defaultdict(lambda: defaultdict(list))
    for location, event in archive.list:
        if isinstance(event, events.Metric):
            by_name[event.metric.members[0].name if hasattr(event.metric, "members")
                    else event.metric.metric_class.members[0].name][location].append(event.values[0])
    members = {member.name: member for member in archive.definitions.metric_members}
    assert members["rusage::minor_faults"].metric_mode == otf2.MetricMode.ACCUMULATED_START
    assert members["memory::resident"].metric_mode == otf2.MetricMode.ABSOLUTE_POINT
    assert members["memory::resident"].unit == "B"
    for name in ("rusage::minor_faults", "memory::resident"):
        assert sum(map(len, by_name[name].values())) == len(read_at)
    assert all(values == sorted(values) for values in by_name["rusage::minor_faults"].values())
    rates = convert(experiment.path, tmp_path / "rates", "--counters", "rate")
    members = {member.name: member for member in rates.definitions.metric_members}
    assert members["rusage::minor_faults"].metric_mode == otf2.MetricMode.ABSOLUTE_LAST
    assert members["rusage::minor_faults"].unit == "#/s"


def test_python(measure, tmp_path):
    source = tmp_path / "work.py"
    source.write_text("def inner(n):\n    return sum(i * i for i in range(n))\n\n"
                      "def outer():\n    for _ in range(20):\n        inner(50000)\n\nouter()\n")
    experiment = measure(sys.executable, source, options=["-r", "1000"])
    archive = convert(experiment.path, tmp_path / "out")
    names = {name for name, _ in archive.entered}
    assert {"outer", "inner"} <= names
    assert not any("PyEval" in name for name in names)
    inner = next(region for region in archive.definitions.regions if region.name == "inner")
    assert (inner.source_file, inner.begin_line_number) == (str(source), 1)


ALL_OF_MPI = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int rank, size, flag, in = 1, out[4], mine[4] = {0};
	MPI_Request requests[3];
	MPI_Comm half, inter, self = MPI_COMM_SELF;
	MPI_Win win;
	MPI_File file;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 5; i++) { /* a ring: 5 blocking messages of 4 bytes each */
		MPI_Sendrecv(&in, 1, MPI_INT, (rank + 1) % size, 7, out, 1, MPI_INT, (rank + size - 1) % size, 7,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Irecv(out, 4, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(mine, 4, MPI_INT, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Irecv(out, 4, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[0]);
	MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
	MPI_Cancel(&requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Bcast(mine, 2, MPI_INT, 3, MPI_COMM_WORLD);
	MPI_Allreduce(&in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* rank 3 is 0 of its half, 1 is 1 */
	MPI_Reduce(&in, out, 1, MPI_INT, MPI_SUM, 1, half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 2 : 3, 5, &inter);
	if (rank == 3) /* to rank 0, which is 1 of the even half */
		MPI_Send(&in, 1, MPI_INT, 1, 11, inter);
	if (rank == 0)
		MPI_Recv(&in, 1, MPI_INT, 0, 11, inter, MPI_STATUS_IGNORE);
	MPI_Barrier(self);
	for (int i = 0; i <= rank; i++) /* each rank to itself */
		MPI_Sendrecv(mine, 3, MPI_INT, 0, 13, out, 3, MPI_INT, 0, 13, self, MPI_STATUS_IGNORE);
	MPI_Pcontrol(0);
	MPI_Pcontrol(1);
	MPI_Win_create(mine, sizeof(mine), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(&in, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Get(out, 2, MPI_INT, (rank + 1) % size, 1, 2, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Accumulate(&in, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_unlock(0, win);
	MPI_Win_free(&win);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_File_write_at_all(file, rank * 8, mine, 2, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at(file, rank * 8, out, 2, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iwrite_at(file, rank * 8, mine, 2, MPI_INT, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	if (rank == 0 && argc > 2) /* nobody takes it */
		MPI_Bsend(mine, 0, MPI_INT, 1, 12, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
"""


def of(archive, name):
    return [(location, event) for location, event in archive.list if type(event).__name__ == name]


def test_mpi(mpi, ranks, tmp_path):
    experiment = ranks(4, mpi.compile(ALL_OF_MPI), tmp_path / "file", options=["--trace", "-r", "1000"])
    assert experiment.returncode == 0, experiment.stderr
    archive = convert(experiment.path, tmp_path / "out")
    assert not archive.said
    counts = archive.counts
    assert counts["MpiSend"] == counts["MpiRecv"] == 21 + 10
    check_self(archive)
    assert counts["MeasurementOnOff"] == 8
    assert counts["MpiIsend"] == counts["MpiIrecv"] == counts["MpiIsendComplete"] == 4
    assert counts["MpiIrecvRequest"] == 8 and counts["MpiRequestCancelled"] == 4
    assert {event.msg_length for _, event in of(archive, "MpiIsend")} == {16}
    check_collectives(archive)
    check_ranks(archive)
    assert counts["RmaPut"] == counts["RmaGet"] == counts["RmaAtomic"] == 4
    assert counts["RmaOpCompleteBlocking"] == 12
    assert counts["RmaWinCreate"] == counts["RmaWinDestroy"] == 4
    assert counts["RmaCollectiveBegin"] == counts["RmaCollectiveEnd"] == 12 + 8
    check_made(archive)
    assert counts["RmaAcquireLock"] == counts["RmaReleaseLock"] == counts["RmaRequestLock"] == 4
    assert counts["IoOperationBegin"] == counts["IoOperationComplete"] == 12
    assert counts["IoOperationIssued"] == 4
    assert [handle.file.name for handle in archive.definitions.io_handles] == [str(tmp_path / "file")]
    roles = {region.name: region.region_role for region in archive.definitions.regions}
    assert roles["MPI_Barrier"] == otf2.RegionRole.BARRIER
    assert roles["MPI_Isend"] == otf2.RegionRole.POINT2POINT
    assert roles["MPI_Allreduce"] == otf2.RegionRole.COLL_ALL2ALL
    assert roles["MPI_File_read_at"] == otf2.RegionRole.FILE_IO
    groups = sorted(group.name for group in archive.definitions.location_groups)
    assert groups == [f"MPI Rank {rank}" for rank in range(4)]
    inside(archive)


def check_made(archive):
    """The halves, what joins them and the window are made by all of their ranks, inside of collective operations."""
    ops = otf2.CollectiveOp
    made = [event.communicator for _, event in of(archive, "MpiCollectiveEnd") if event.collective_op == ops.CREATE_HANDLE]
    assert sorted(Counter(made).values()) == [2, 2, 4]
    assert made == [event.communicator for _, event in of(archive, "CommCreate")]
    assert all(comm.flags == otf2.CommFlag.CREATE_DESTROY_EVENTS for comm in made)
    windows = Counter(event.collective_op for _, event in of(archive, "RmaCollectiveEnd"))
    assert windows[ops.CREATE_HANDLE] == windows[ops.DESTROY_HANDLE] == 4


def check_self(archive):
    """One communicator for all, in which each is rank 0 of itself: 1, 2, 3 and 4 messages."""
    alone = [(location, event) for location, event in of(archive, "MpiSend") if event.msg_tag == 13]
    assert sorted(Counter(location.group.name for location, _ in alone).values()) == [1, 2, 3, 4]
    assert {(event.communicator.name, event.receiver) for _, event in alone} == {("MPI_COMM_SELF", 0)}
    assert alone[0][1].communicator.group.group_type == otf2.GroupType.COMM_SELF


BCAST, REDUCE = otf2.CollectiveOp.BCAST, otf2.CollectiveOp.REDUCE


def check_collectives(archive):
    ends = [event for _, event in of(archive, "MpiCollectiveEnd")]
    for op in (BCAST, REDUCE, otf2.CollectiveOp.ALLREDUCE, otf2.CollectiveOp.BARRIER):
        assert sum(event.collective_op == op for event in ends) == 4
    assert {event.root for event in ends if event.collective_op == BCAST} == {3}
    assert {event.root for event in ends if event.collective_op == REDUCE} == {1}
    assert archive.counts["MpiCollectiveBegin"] == len(ends)
    assert archive.counts["NonBlockingCollectiveRequest"] == 4
    assert archive.counts["NonBlockingCollectiveComplete"] == 4


def check_ranks(archive):
    """Ranks are those of the communicator: of the halves, 3 and 2 are first."""
    comms = {comm.name: comm for comm in archive.definitions.comms}
    assert {"MPI_COMM_WORLD", "MPI_COMM_SELF"} <= set(comms)
    message = next(event for _, event in of(archive, "MpiSend") if event.msg_tag == 11)
    member = message.communicator.group.members[message.receiver]
    assert member.group.name == "MPI Rank 0"
    reduces = [event for _, event in of(archive, "MpiCollectiveEnd") if event.collective_op == REDUCE]
    for event in reduces:
        assert [member.group.name for member in event.communicator.group.members] in (
            ["MPI Rank 3", "MPI Rank 1"], ["MPI Rank 2", "MPI Rank 0"])


def inside(archive):
    """Every record of MPI stands in a function of MPI."""
    stacks = defaultdict(list)
    for location, event in archive.list:
        if isinstance(event, events.Enter):
            stacks[location].append(event.region.name)
        elif isinstance(event, events.Leave):
            stacks[location].pop()
        elif not isinstance(event, (events.Metric, events.MeasurementOnOff)):
            assert stacks[location][-1].startswith("MPI_"), (event, stacks[location])


def test_lone_sends(mpi, ranks, tmp_path):
    source = ALL_OF_MPI.replace("MPI_Bsend", "MPI_Send")
    experiment = ranks(4, mpi.compile(source), tmp_path / "file", "lone", options=["--trace"])
    archive = convert(experiment.path, tmp_path / "out")
    assert "1 sends without a receive" in archive.said
    information = run("otf2-print", "-I", tmp_path / "out/traces.otf2").stdout
    assert re.search(r"HYBRID::NOTE_1\s+Property value\s+1 sends without a receive", information)
    assert archive.counts["MpiSend"] == archive.counts["MpiRecv"] == 31


BEGUN_IN_A_PAUSE = r"""
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, out = 1, in;
	MPI_Request requests[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank)
		MPI_Pcontrol(0);
	MPI_Irecv(&in, 1, MPI_INT, !rank, 5, MPI_COMM_WORLD, &requests[0]);
	MPI_Issend(&out, 1, MPI_INT, !rank, 5, MPI_COMM_WORLD, &requests[1]);
	if (rank)
		MPI_Pcontrol(1);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Finalize();
	return 0;
}
"""


def test_requests_begun_in_a_pause(mpi, ranks, tmp_path):
    """Rank 1 has no begin of its two requests: the archive has what it received as that of a call that waits."""
    archive = convert(ranks(2, mpi.compile(BEGUN_IN_A_PAUSE), options=["--trace"]).path, tmp_path / "out")
    assert "1 receives without a send" in archive.said
    assert [rank_of(archive.definitions, e.communicator, location) for location, e in of(archive, "MpiRecv")] == [1]
    begun = {(location, event.request_id) for name in ("MpiIrecvRequest", "MpiIsend")
             for location, event in of(archive, name)}
    ended = {(location, event.request_id) for name in ("MpiIrecv", "MpiIsendComplete", "MpiRequestCancelled")
             for location, event in of(archive, name)}
    assert begun == ended and len(begun) == 2


RECEIVED_IN_A_PAUSE = r"""
#include <mpi.h>
int main(int argc, char **argv)
{
	char data[16];
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 1; i <= 10; i++) {
		if (rank && (i == 1 || i == 8))
			MPI_Pcontrol(0);
		if (rank)
			MPI_Recv(data, i, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(data, i, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
		if (rank && (i == 5 || i == 9))
			MPI_Pcontrol(1);
	}
	MPI_Finalize();
	return 0;
}
"""


def test_received_in_a_pause(mpi, ranks, tmp_path):
    """What is left of a side is the other end of what is left of the other one, not its first messages."""
    archive = convert(ranks(2, mpi.compile(RECEIVED_IN_A_PAUSE), options=["--trace"]).path, tmp_path / "out")
    assert "7 sends without a receive" in archive.said
    for name in ("MpiSend", "MpiRecv"):
        assert [event.msg_length for _, event in of(archive, name)] == [6, 7, 10]

# ------------------------------------------------------------------ failures

@pytest.fixture
def experiment(measure, program):
    return measure(program, options=["--trace", "-r", "1000"]).path


def test_what_is_there_stays(experiment, tmp_path):
    out = tmp_path / "out"
    convert(experiment, out)
    before = sorted(path.name for path in out.rglob("*"))
    result = run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", out)
    assert result.returncode == 1 and "--force" in result.stderr
    assert sorted(path.name for path in out.rglob("*")) == before
    convert(experiment, out, "--force")
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter").write_text("dear")
    result = run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", home, "--force")
    assert result.returncode == 1 and (home / "letter").read_text() == "dear"
    assert not list(tmp_path.glob("*.part-*"))


def test_full_disk(experiment, small_disk):
    for size in ("4k", "8k", "16k", "32k"):
        disk = small_disk(f"size={size}")
        result = run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", disk / "out")
        if result.returncode:
            assert "No space left" in result.stderr and len(result.stderr.splitlines()) == 1
            assert list(disk.iterdir()) == []


@pytest.mark.parametrize("part", [0, 0.5, 1])
def test_file_too_large(experiment, tmp_path, part):
    whole = tmp_path / "whole"
    convert(experiment, whole)
    largest = max(path.stat().st_size for path in whole.rglob("*") if path.is_file())
    blocks = int(part * ((largest - 1) // 1024))  # of 1024 bytes: less than the largest file
    out = tmp_path / "folder" / "out"
    out.parent.mkdir()
    command = f'ulimit -f {blocks}; exec "$0" "$@"'
    result = run("bash", "-c", command, HYBRID_CONVERT, experiment, "--to", "otf2", "-o", out)
    assert result.returncode == 1 and "too large" in result.stderr, result.stderr
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(measure, compile_c, tmp_path, number):
    source = """
#include <hybrid/hybrid.h>
static struct hybrid_region region = HYBRID_REGION_INIT("region", HYBRID_USER);
int main(void)
{
	for (long i = 0; i < 20000000; i++) {
		hybrid_enter(&region);
		hybrid_leave(&region);
	}
	return 0;
}
"""
    experiment = measure(compile_c(source), options=["--trace", "-r", "0", "--demote", "0:0"])
    folder = tmp_path / "folder"
    folder.mkdir()
    with subprocess.Popen([HYBRID_CONVERT, experiment.path, "--to", "otf2", "-o", folder / "out"]) as process:
        deadline = time.monotonic() + 20
        while not list(folder.glob("out.part-*/traces/*.evt")) and time.monotonic() < deadline:
            time.sleep(0.001)
        os.kill(process.pid, number)
        assert process.wait(20) == -number
    assert list(folder.iterdir()) == []


def test_wrong_usage(experiment, measure, tmp_path):
    result = run(HYBRID_CONVERT, experiment, "--to", "vtf", "-o", tmp_path / "out")
    assert result.returncode == 2 and "otf2" in result.stderr
    result = run(HYBRID_CONVERT, experiment, "-o", tmp_path / "out")
    assert result.returncode == 2 and "otf2, collapsed" in result.stderr
    assert run(HYBRID_CONVERT, experiment, "--to", "otf2").returncode == 2
    assert run(HYBRID_CONVERT, "--to", "otf2", "-o", tmp_path / "out").returncode == 2
    assert "Examples:" in run(HYBRID_CONVERT, "--help").stdout
    profile = measure("true", options=["-r", "0"])
    result = run(HYBRID_CONVERT, profile.path, "--to", "otf2", "-o", tmp_path / "out")
    assert result.returncode == 1 and "no trace" in result.stderr
    assert not (tmp_path / "out").exists()
