"""OTF2 archives on their way in: written by Debian's python3-otf2, by EZTrace, by hybrid-convert; and damaged ones."""

import os
import random
import shutil
import subprocess

import pytest

from conftest import BUILD, HYBRID_DUMP, HYBRID_REPORT, HYBRID_RUN, report_json, run

otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")
HYBRID_CONVERT = BUILD / "converters/hybrid-convert"
CALLS = ("MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Bcast", "MPI_Put")


class Archive:
    """Three ranks; a tick is a microsecond. Everything that they do is written down here."""

    def __init__(self, path):
        self.path = path
        self.enums = otf2.enums
        with otf2.writer.open(str(path), timer_resolution=10**6) as trace:
            self.define(trace.definitions)
            self.writers = [trace.event_writer_from_location(location) for location in self.locations]
            self.write()

    def define(self, d):
        e = self.enums
        node = d.system_tree_node("nodeA", "node", parent=d.system_tree_node("machine"))
        self.main = d.region("main", source_file="work.c", begin_line_number=10)
        self.mpi = {name: d.region(name, paradigm=e.Paradigm.MPI) for name in CALLS}
        groups = [d.location_group(f"rank {i}", system_tree_parent=node) for i in range(3)]
        d.location_group_property(groups[0], "pid", e.Type.UINT32, 4711)
        self.locations = [d.location("main", group=group) for group in groups]
        d.group("ranks", group_type=e.GroupType.COMM_LOCATIONS, paradigm=e.Paradigm.MPI, members=self.locations)
        everybody, two = (
            d.group(name, group_type=e.GroupType.COMM_GROUP, paradigm=e.Paradigm.MPI, members=members)
            for name, members in (("everybody", [0, 1, 2]), ("two", [2, 0]))
        )
        self.world = d.comm("MPI_COMM_WORLD", group=everybody)
        self.sub = d.comm("sub", group=two, parent=self.world)
        self.window = d.rma_win("win", comm=self.world)
        whole = {"value_type": e.Type.UINT64}
        self.metrics = d.metric_class(
            [
                d.metric_member("instructions", metric_mode=e.MetricMode.ACCUMULATED_START, **whole),
                d.metric_member("memory", unit="B", metric_mode=e.MetricMode.ABSOLUTE_POINT, **whole),
            ],
            occurrence=e.MetricOccurrence.SYNCHRONOUS_STRICT,
        )
        self.temperature = d.metric("temperature", unit="K", metric_mode=e.MetricMode.ABSOLUTE_POINT)
        self.parameter = d.parameter("n", e.ParameterType.INT64)

    def read_metrics(self, writer, time):
        writer.metric(time, self.metrics, [time * 2, 100 + time])

    def call(self, rank, name, start, end, inside):
        writer = self.writers[rank]
        self.read_metrics(writer, start)
        writer.enter(start, self.mpi[name])
        inside(writer, start, end)
        self.read_metrics(writer, end)
        writer.leave(end, self.mpi[name])

    def write(self):
        world, sub, window = self.world, self.sub, self.window
        for rank, writer in enumerate(self.writers):
            self.read_metrics(writer, 1000)
            writer.enter(1000, self.main)
            writer.parameter_int(1000, self.parameter, rank)
        self.call(0, "MPI_Send", 1010, 1020, lambda w, start, end: w.mpi_send(start, 1, world, 5, 100))
        self.call(1, "MPI_Recv", 1005, 1025, lambda w, start, end: w.mpi_recv(end, 0, world, 5, 100))
        self.call(2, "MPI_Isend", 1010, 1011, lambda w, start, end: w.mpi_isend(start, 1, sub, 7, 4096, 55))
        self.call(2, "MPI_Wait", 1020, 1030, lambda w, start, end: w.mpi_isend_complete(end, 55))
        self.call(0, "MPI_Irecv", 1030, 1031, lambda w, start, end: w.mpi_irecv_request(end, 9))
        self.call(0, "MPI_Wait", 1032, 1040, lambda w, start, end: w.mpi_irecv(end, 0, sub, 7, 4096, 9))
        for rank in range(3):
            self.call(rank, "MPI_Bcast", 1050 + rank, 1060 + rank, lambda w, start, end: self.broadcast(w, start, end))
        self.call(0, "MPI_Put", 1070, 1072, lambda w, start, end: self.put(w, window, start, end))
        self.writers[0].metric(1075, self.temperature, 300.5)
        for writer in self.writers:
            writer.omp_fork(1090, 4)
            self.read_metrics(writer, 1100)
            writer.leave(1100, self.main)

    def broadcast(self, writer, start, end):
        writer.mpi_collective_begin(start)
        writer.mpi_collective_end(end, self.enums.CollectiveOp.BCAST, self.world, 1, 8, 8)

    @staticmethod
    def put(writer, window, start, end):
        writer.rma_put(start, window, 2, 64, 1)
        writer.rma_op_complete_blocking(end, window, 1)


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path / "archive").path


def dumped(*arguments):
    result = run(HYBRID_DUMP, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def sums(report):
    """Calls and time by the names on the way down."""
    found = {}

    def add(node, names):
        names = (*names, node["name"])
        calls, time = found.get(names, (0, 0))
        found[names] = (calls + (node["calls"] or 0), time + node["inclusive_ns"])
        for child in node["children"]:
            add(child, names)

    for child in report["tree"]["children"]:
        add(child, ())
    return found


def test_profile(archive):
    found = sums(report_json(archive))
    assert found[("main",)] == (3, 300000)
    assert found[("main", "n=0", "MPI_Send")] == (1, 10000)
    assert found[("main", "n=1", "MPI_Recv")] == (1, 20000)
    assert found[("main", "n=2", "MPI_Wait")] == (1, 10000)
    assert [found[("main", f"n={i}", "MPI_Bcast")] for i in range(3)] == [(1, 10000)] * 3


def test_messages(archive):
    text = run(HYBRID_REPORT, archive).stdout
    assert "3 of 3 ranks" in text and "10 calls of 7 functions, 82.0 us" in text
    assert "2 matched; 0 sends without a receive; 0 receives without a send" in text
    lines = dumped("--trace", archive)
    assert any("kind send handle 1 peer 1 tag 5 sent 100" in line for line in lines)
    # Rank 0 of "sub" is rank 2 of the world.
    assert any("kind recv handle 2 peer 2 tag 7" in line and "received 4096 request" in line for line in lines)
    assert sum("kind collective handle" in line and "peer 1 sent 8 received 8" in line for line in lines) == 3
    assert any("kind put" in line and "peer 2 sent 64" in line for line in lines)


def test_what_is_known_of_processes(archive):
    lines = dumped("--header", "--defs", archive)
    assert any("pid 4711" in line and 'host "nodeA"' in line for line in lines)
    assert sum("type world" in line and "ranks 3" in line for line in lines) == 3
    assert any("records of the archive that are not shown: Fork and Join" in line for line in lines)
    assert any('name "temperature" unit "K"' in line for line in lines)


def test_archive_is_left_alone_and_nothing_stays(archive, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = sorted(path.name for path in archive.rglob("*"))
    for path in (archive, archive / "traces.otf2"):
        assert run(HYBRID_REPORT, path, env={**os.environ, "TMPDIR": str(temporary)}).returncode == 0
    assert sorted(path.name for path in archive.rglob("*")) == before
    assert not list(temporary.iterdir())


def test_kept(archive, tmp_path):
    kept = tmp_path / "kept"
    result = run(HYBRID_CONVERT, archive, "--to", "hybrid", "-o", kept)
    assert result.returncode == 0, result.stderr
    assert "nodeA-4711.0.hyb" in os.listdir(kept)
    assert sums(report_json(kept)) == sums(report_json(archive))


def test_no_room(archive):
    missing = run(HYBRID_REPORT, archive, env={**os.environ, "TMPDIR": "/nowhere"})
    assert missing.returncode == 1 and "TMPDIR" in missing.stderr and missing.stderr.count("\n") == 1
    full = run("sh", "-c", f"ulimit -f 20; exec {HYBRID_REPORT} {archive}")
    assert full.returncode == 1 and full.stderr.count("\n") == 1
    assert "File too large" in full.stderr


def test_samples_by_context(tmp_path):
    """Frames of calling contexts stand below the region in which they were sampled, with their lines."""
    e = otf2.enums
    with otf2.writer.open(str(tmp_path / "archive"), timer_resolution=10**9) as trace:
        d = trace.definitions
        node = d.system_tree_node("nodeA", "node")
        location = d.location("main", group=d.location_group("process", system_tree_parent=node))
        regions = {name: d.region(name, source_file="a.c") for name in ("main", "f", "g")}
        main = d.calling_context(regions["main"], d.source_code_location("a.c", 5), None)
        f = d.calling_context(regions["f"], d.source_code_location("a.c", 17), main)
        g = d.calling_context(regions["g"], d.source_code_location("a.c", 33), f)
        clock = d.interrupt_generator("clock", e.InterruptGeneratorMode.TIME, e.Base.DECIMAL, -3, 1)
        writer = trace.event_writer_from_location(location)
        writer.calling_context_enter(1000, main, 1)
        for i in range(10):
            writer.calling_context_sample(2000 + i * 1000, f if i < 4 else g, 1, clock)
        writer.calling_context_leave(20000, main)
    report = report_json(tmp_path / "archive")
    assert report["nodes"][0]["samples"] in (0, None)
    taken = {node["name"]: node["samples"] for node in report["nodes"] if node.get("samples")}
    assert sum(taken.values()) == 10 and sorted(taken.values()) == [4, 6]


def test_damaged(archive, tmp_path):
    """One line, or notes and what can be read; never a crash."""
    chance = random.Random(5)
    files = sorted(path.relative_to(archive) for path in archive.rglob("*") if path.is_file())
    for turn in range(40):
        copy = tmp_path / f"damaged{turn}"
        shutil.copytree(archive, copy)
        victim = copy / chance.choice(files)
        data = bytearray(victim.read_bytes())
        if turn % 4 == 0:
            victim.unlink()
        elif turn % 4 == 1:
            victim.write_bytes(data[: chance.randrange(len(data))])
        else:
            for _ in range(1 + turn % 5 * 4):
                data[chance.randrange(len(data))] = chance.randrange(256)
            victim.write_bytes(data)
        result = run(HYBRID_REPORT, copy, timeout=180)
        assert result.returncode in (0, 1)
        if result.returncode:
            assert result.stderr.count("\n") == 1 and str(copy) in result.stderr
        shutil.rmtree(copy)


def test_cut_off_events_are_said(archive):
    events = archive / "traces/1.evt"
    events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])
    text = " ".join(run(HYBRID_REPORT, archive).stdout.split())
    assert 'thread "main" of "rank 1": its events end behind number' in text
    (archive / "traces/2.evt").unlink()
    text = " ".join(run(HYBRID_REPORT, archive).stdout.split())
    assert 'thread "main" of "rank 2": its 22 events are missing' in text


@pytest.mark.parametrize("kind", ["open", "crossed"])
def test_unbalanced(tmp_path, kind):
    with otf2.writer.open(str(tmp_path / "archive"), timer_resolution=10**9) as trace:
        d = trace.definitions
        location = d.location("main", group=d.location_group("process", system_tree_parent=d.system_tree_node("n")))
        a, b = d.region("a"), d.region("b")
        writer = trace.event_writer_from_location(location)
        writer.enter(1000, a)
        writer.enter(2000, b)
        if kind == "crossed":
            writer.leave(3000, a)
            writer.leave(4000, b)
        else:
            writer.metric(4000, d.metric("m"), 1.0)
    report = report_json(tmp_path / "archive")
    found, faults = sums(report), report["quality"]["faults"]
    if kind == "open":
        assert found == {("a",): (1, 3000), ("a", "b"): (1, 2000)} and faults["not_left"] == 2
    else:
        assert found == {("a",): (1, 2000), ("a", "b"): (1, 1000)}
        assert (faults["not_left"], faults["not_entered"]) == (1, 1)


def round_trip(experiment, *options):
    """The archive that hybrid-convert makes of it."""
    out = experiment.parent / "converted"
    assert run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", out, *options).returncode == 0
    return out


def test_round_trip(measure):
    """What hybrid-convert wrote is what it was."""
    experiment = measure(BUILD / "tests/programs/probes", "good", options=("--trace", "-r", "0")).path
    out = round_trip(experiment, "--samples", "none")
    before, after = (
        {names[-1]: sum_ for names, sum_ in sums(report_json(path)).items() if names[-1] in ("outer", "inner")}
        for path in (experiment, out)
    )
    assert before.keys() == after.keys()
    for name, (calls, time) in before.items():
        # Times are whole nanoseconds there: an instance may differ by one.
        assert after[name][0] == calls and abs(after[name][1] - time) <= calls


@pytest.mark.parametrize("samples", ["none", "enter-leave", "context"])
def test_round_trip_of_metrics(measure, samples):
    options = ("--trace", "-r", "1000", "-m", "rusage::minor_faults,memory::resident")
    experiment = measure(BUILD / "tests/programs/metrics", "pages", "100", options=options)
    if experiment.returncode:
        pytest.skip("this build measures no metrics")
    reports = [report_json(path) for path in (experiment.path, round_trip(experiment.path, "--samples", samples))]
    # An archive does not say what accrues with CPU time: what is read of it is shared out so.
    assert [m.pop("shared") for report in reports for m in report["metrics"]] == [False, False, True, False]
    assert reports[1]["metrics"] == reports[0]["metrics"]
    before, after = (
        {node["name"]: {name: value["inclusive"] for name, value in node["metrics"].items()}
         for node in report["nodes"] if node["calls"] and node["name"] in ("once", "twice", "inside")}
        for report in reports
    )
    assert len(before) == 3 and after == before


def test_round_trip_of_counters(measure):
    experiment = measure(BUILD / "tests/programs/probes", "counters", options=("--trace", "-r", "0")).path
    counts = [[line.split("value")[1] for line in dumped("--trace", path) if "kind counter" in line]
              for path in (experiment, round_trip(experiment))]
    assert counts[0] and counts[1] == counts[0]


def test_round_trip_of_samples(measure, compile_c):
    """Nobody counted the calls of functions that samples were taken in: their time is all that is known."""
    program = compile_c("""
#include <hybrid/hybrid.h>
static volatile double sum;
__attribute__((noinline)) static void sampled(void) { for (int i = 0; i < 30000000; i++) sum += i; }
int main(void)
{
	for (int i = 0; i < 3; i++) {
		HYBRID_ENTER("probe");
		sampled();
		HYBRID_LEAVE("probe");
	}
	return 0;
}
""")
    experiment = measure(program, options=("--trace", "-r", "1000"))
    assert experiment.returncode == 0, experiment.stderr
    report = report_json("--threshold", "0", round_trip(experiment.path))
    calls, times = {}, {}
    for names, (count, time) in sums(report).items():
        calls[names[-1]] = calls.get(names[-1], 0) + count
        times[names[-1]] = times.get(names[-1], 0) + time
    assert calls["probe"] == 3 and sum(calls.values()) == 3
    assert times["sampled"] > 0.8 * times["probe"]
    assert report["quality"]["probe_calls"] == 3


def test_round_trip_of_the_command(measure):
    experiment = measure(BUILD / "tests/programs/probes", "good", options=("--trace", "-r", "0")).path
    out = round_trip(experiment)
    before, after = (report_json(path)["quality"]["experiments"][0] for path in (experiment, out))
    assert before["command"].endswith("probes good") and after == {**before, "path": str(out)}


@pytest.mark.parametrize("recorder", ["CPU", "ABSTRACT"])
def test_asynchronous_metric(tmp_path, recorder):
    """What a thread reads of itself, when it likes, belongs to the regions around; of others it is a counter."""
    e = otf2.enums
    with otf2.writer.open(str(tmp_path / "archive"), timer_resolution=10**9) as trace:
        d = trace.definitions
        location = d.location("main", group=d.location_group("process", system_tree_parent=d.system_tree_node("n")))
        a, b = d.region("a"), d.region("b")
        pages = d.metric_class(
            [d.metric_member("pages", unit="#", metric_mode=e.MetricMode.ACCUMULATED_START, value_type=e.Type.UINT64)],
            occurrence=e.MetricOccurrence.ASYNCHRONOUS, recorder_kind=getattr(e.RecorderKind, recorder))
        writer = trace.event_writer_from_location(location)
        for time, what, value in ((1000, "enter", a), (1500, "metric", 10), (2000, "enter", b), (2500, "metric", 14),
                                  (3000, "leave", b), (3500, "metric", 20), (5000, "leave", a)):
            getattr(writer, what)(time, *((pages, [value]) if what == "metric" else (value,)))
    report, lines = report_json(tmp_path / "archive"), dumped("--trace", tmp_path / "archive")
    if recorder == "CPU":
        grown = {node["name"]: node["metrics"]["pages"]["inclusive"] for node in report["nodes"]}
        assert grown["a"] == 10 and grown["b"] == 4 and report["metrics"][0]["unit"] == ""
    else:
        assert "metrics" not in report and sum("kind counter" in line for line in lines) == 3


def test_fortran_functions_of_mpi(tmp_path):
    """EZTrace has them under the names that a Fortran compiler gave them, and no paradigm that says MPI."""
    names = {"mpi_send_": 2, "mpi_allreduce__": 1, "mpi_comm_rank_": 1, "mpi_helper_": 1, "mpi_send": 1}
    with otf2.writer.open(str(tmp_path / "archive"), timer_resolution=10**6) as trace:
        d = trace.definitions
        group = d.location_group("rank 0", system_tree_parent=d.system_tree_node("host", "node"))
        writer = trace.event_writer_from_location(d.location("main", group=group))
        time = 1000
        for name, calls in names.items():
            region = d.region(name, paradigm=otf2.enums.Paradigm.USER)
            for _ in range(calls):
                writer.enter(time, region)
                writer.leave(time + 5, region)
                time += 10
    report = report_json(tmp_path / "archive", "--mpi")
    calls = {node["name"]: node["calls"] for node in report["nodes"] if node["name"].startswith("mpi_")}
    assert calls == {"mpi_send_": 2, "mpi_allreduce__": 1, "mpi_comm_rank_": 1}


@pytest.mark.skipif(not shutil.which("eztrace"), reason="EZTrace is not installed")
def test_eztrace(tmp_path):
    (tmp_path / "locks.c").write_text(
        """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *p) { for (int i = 0; i < 50; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } return p; }
int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }
"""
    )
    subprocess.run(["cc", "-pthread", "locks.c", "-o", "locks"], cwd=tmp_path, check=True)
    subprocess.run(["eztrace", "-t", "pthread", "-o", "out", "./locks"], cwd=tmp_path, timeout=60, capture_output=True)
    anchors = list(tmp_path.glob("out/**/*.otf2"))
    if not anchors:
        pytest.skip("EZTrace does not work here")
    calls = {}
    for names, (count, _) in sums(report_json("--threshold", "0", anchors[0].parent)).items():
        calls[names[-1]] = calls.get(names[-1], 0) + count
    assert calls["pthread_mutex_unlock"] == 100 and calls["pthread_create"] == 2 and calls["pthread_join"] == 2
