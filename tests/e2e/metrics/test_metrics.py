"""Values of metrics are true: the programs do things so often as is known, or ask the kernel themselves."""

import json
import re
import subprocess
import sys

import pytest

from conftest import BUILD, HYBRID_RUN, SOURCE, run, wait_until
from known import program, same_as_native

FAULTS, CLOCK, SWITCHES = "perf::PAGE-FAULTS", "perf::TASK-CLOCK", "perf::CONTEXT-SWITCHES"
# What the measurement itself may touch while a region is open: pages of its file and of its tables.
OWN_FAULTS = 20


@pytest.fixture(scope="module", autouse=True)
def kernel_counts():
    if not re.search(rf"{FAULTS}\s", run(HYBRID_RUN, "--list-metrics", "PAGE-FAULTS").stdout):
        pytest.skip("counters of the kernel are not permitted here")


class Process:
    """One process of an experiment as the raw file has it: metrics, and nodes with their values by name."""

    def __init__(self):
        self.metrics, self.nodes, self.last, self.entered, self.locations = [], [], {}, {}, []

    def values(self, node, overflows=False):
        if overflows:
            names = [metric["name"] for metric in self.metrics if metric["period"]]
            return dict(zip(names, node.get("overflows", [])))
        return dict(zip((metric["name"] for metric in self.metrics), node.get("values", [])))

    def regions(self, name):
        found = [node for node in self.nodes if node["kind"] == "region" and node["name"] == name]
        assert found, (name, self.nodes)
        return found

    def grown(self, region, metric):
        """Inclusive growth in all nodes of a region."""
        return sum(self.values(node)[metric] for node in self.regions(region))

    def below(self, parent):
        """It and all nodes below."""
        inside = {parent["id"]}
        for node in self.nodes:  # parents come first
            if node["parent"] in inside:
                inside.add(node["id"])
        return [node for node in self.nodes if node["id"] in inside]

    def overflows(self, region, metric):
        return sum(self.values(node, True)[metric] for parent in self.regions(region) for node in self.below(parent))


def processes(e):
    found = []
    for line in e.dump("--json").splitlines():
        record = json.loads(line)
        if record["record"] == "file":
            found.append(Process())
        elif record["record"] == "def" and record["type"] == "metric":
            found[-1].metrics.append(record)
        elif record["record"] == "node":
            found[-1].nodes.append(record)
        elif record["record"] == "location":
            found[-1].locations.append(record)
        elif record["record"] == "metrics":
            found[-1].last[record["location"]] = record["last"]
        elif record["record"] == "open":
            found[-1].entered[record["location"], record["depth"]] = record["entered"]
    return found


@pytest.fixture
def metrics(measure):
    """metrics("pages", 100, options=[...]): the experiment of tests/programs/metrics, and what that told."""

    def function(what, number, *more, metrics=FAULTS, options=("-r", "0"), **keywords):
        options = [*(["-m", metrics] if metrics else []), *options]
        e = measure(program("metrics"), what, number, *more, options=["-q", *options], **keywords)
        e.told = {name: int(value) for name, _, value in (line.rpartition(" ") for line in e.stdout.splitlines())}
        return e

    return function


def near(count, true, more=OWN_FAULTS):
    assert true <= count <= true + more, (count, true)


# ---------------------------------------------------------- of the kernel, at probes


@pytest.mark.parametrize("options", [["-r", "0"], [], ["--trace"], ["-r", "0", "-e", f"{FAULTS}@10"], ["-r", "1000"]],
                         ids=" ".join)
@pytest.mark.parametrize("metric", [FAULTS, "rusage::minor_faults"])
def test_page_faults(metrics, options, metric):
    n = 2000
    e = metrics("pages", n, metrics=metric, options=options)
    assert e.returncode == 0, e.stderr
    (p,) = processes(e)
    near(p.grown("once", metric), n)
    near(p.grown("inside", metric), n)
    near(p.grown("twice", metric), 3 * n)
    near(p.grown("all", metric), 4 * n, 3 * OWN_FAULTS)


def test_inclusive_is_the_sum_of_the_parts(metrics):
    """To the last fault: what is in a region is in the one around it."""
    (p,) = processes(metrics("pages", 100, metrics=f"{FAULTS},rusage::minor_faults"))
    for metric in (FAULTS, "rusage::minor_faults"):
        outer, parts = p.grown("all", metric), p.grown("once", metric) + p.grown("twice", metric)
        assert parts <= outer <= parts + OWN_FAULTS
        assert p.grown("inside", metric) <= p.grown("twice", metric)
    assert p.grown("all", FAULTS) == pytest.approx(p.grown("all", "rusage::minor_faults"), abs=2)


def test_switches(metrics):
    n = 300
    e = metrics("sleeps", n, metrics=f"{SWITCHES},rusage::voluntary_switches,rusage::involuntary_switches")
    (p,) = processes(e)
    slept = p.grown("sleeps", "rusage::voluntary_switches")
    preempted = p.grown("sleeps", "rusage::involuntary_switches")
    # Who is held up on the way to its sleep finds the time over already: the program asks the kernel.
    assert slept == e.told["voluntary"] and n / 2 < slept <= n
    assert p.grown("sleeps", SWITCHES) == slept + preempted


def test_bytes(metrics):
    """Our own reading of /proc may add some hundred bytes and a call for each metric, nothing more."""
    names = ["io::read_chars", "io::write_chars", "io::read_calls", "io::write_calls"]
    e = metrics("bytes", 400, metrics=",".join(names))
    (p,) = processes(e)
    assert e.told == {"read_chars": 400000, "write_chars": 200000}
    near(p.grown("reads", "io::read_chars"), 400000, 1000)
    near(p.grown("reads", "io::read_calls"), 400, 10)
    assert p.grown("writes", "io::write_chars") == 200000 and p.grown("writes", "io::write_calls") == 400
    assert p.grown("reads", "io::write_chars") == 0
    near(p.grown("writes", "io::read_chars"), 0, 1000)


def test_memory_grows_and_shrinks(metrics):
    n = 5000
    (p,) = processes(metrics("memory", n, metrics="memory::resident,memory::virtual"))
    assert [metric["mode"] for metric in p.metrics] == ["level", "level"] and p.metrics[0]["process"]
    # The kernel adds up what a thread has touched only from time to time.
    assert p.grown("grows", "memory::resident") == pytest.approx(n * 4096, abs=256 * 4096)
    assert p.grown("shrinks", "memory::resident") == pytest.approx(-n * 4096, abs=256 * 4096)
    assert p.grown("shrinks", "memory::virtual") == -n * 4096


def test_rusage_is_what_the_program_sees(metrics):
    names = ["user_time", "system_time", "minor_faults", "major_faults", "voluntary_switches"]
    e = metrics("usage", 500, metrics=",".join(f"rusage::{name}" for name in names))
    (p,) = processes(e)
    for name in names:
        ours, own = p.grown("usage", f"rusage::{name}"), e.told[name]
        if name.endswith("_time"):  # it is told in microseconds
            assert own * 1000 <= ours <= own * 1000 + 5_000_000, name
        else:
            near(ours, own, 3)


def test_task_clock_is_the_threads_cpu_time(metrics):
    e = metrics("computes", 300, metrics=f"{FAULTS},{CLOCK}")
    (p,) = processes(e)
    assert e.told["cpu"] > 10_000_000
    assert p.grown("computes", CLOCK) == pytest.approx(e.told["cpu"], rel=0.02)


def test_a_clock_in_a_group_runs_from_the_start(metrics):
    """It stood still until the thread was next scheduled while it joined a group that counted."""
    e = metrics("computes", 10, metrics=f"{FAULTS},{CLOCK}")
    (p,) = processes(e)
    assert p.grown("computes", CLOCK) == pytest.approx(e.told["cpu"], rel=0.2)


# ------------------------------------------------------------------ the program's own


@pytest.mark.parametrize("options", [[], ["--trace"]])
def test_user_counters_are_exact(metrics, options):
    n = 1000
    e = metrics("counters", n, metrics="user::apples,user::pears,user::never", options=options)
    (p,) = processes(e)
    assert p.grown("picks", "user::apples") == 3 * n and p.grown("inside", "user::apples") == 2 * n
    assert p.grown("picks", "user::pears") == p.grown("inside", "user::pears") == -14
    assert p.grown("picks", "user::never") == 0


# ------------------------------------------------------- threads, processes, other ends


def test_threads_count_their_own(metrics):
    n = 500
    (p,) = processes(metrics("threads", n, metrics=f"{FAULTS},rusage::minor_faults"))
    counts = sorted(p.values(node)[FAULTS] for node in p.regions("thread"))
    assert len(counts) == 4
    for i, count in enumerate(counts):
        near(count, n * (i + 1))


def test_fork_counts_from_zero(metrics):
    n = 400
    found = processes(metrics("forks", n))
    counts = sorted(p.grown("once", FAULTS) for p in found)
    near(counts[0], n)
    near(counts[1], 2 * n, 2 * OWN_FAULTS)


def test_exec_counts_from_zero(metrics):
    n = 400
    before, after = processes(metrics("exec", n))
    near(before.grown("once", FAULTS), n)
    near(after.grown("all", FAULTS), 4 * n, 3 * OWN_FAULTS)
    assert not [node for node in before.nodes if node.get("name") == "all"]


def test_killed_run_has_what_was_counted(metrics):
    """The region that was open at the end has the values of its enter, what was left before has its own."""
    n = 600
    e = metrics("killed", n)
    assert e.returncode == -9 or e.returncode == 137
    (p,) = processes(e)
    near(p.grown("inside", FAULTS), n)
    assert p.grown("killed", FAULTS) == 0  # it was never left
    (location,) = p.last
    near(p.entered[location, 1][0], 0)


def test_python(measure, tmp_path):
    """Functions as probes: one that touches pages, one that writes."""
    script = tmp_path / "touches.py"
    script.write_text("""
import mmap, os
def touch(pages):
    area = mmap.mmap(-1, pages * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(pages):
        area[i * 4096] = 1
def write(size):
    with open(os.devnull, "wb", 0) as out:
        out.write(bytes(size))
touch(3000)
write(12345)
""")
    e = measure("/usr/bin/python3", script, options=["-q", "--python=hooks", "-m", f"{FAULTS},io::write_chars"])
    assert e.returncode == 0, e.stderr
    (p,) = processes(e)
    near(p.grown("touch", FAULTS), 3000, 100)
    assert p.grown("touch", "io::write_chars") == 0 and p.grown("write", "io::write_chars") == 12345


RANKS = """
#include <hybrid/hybrid.h>
#include <mpi.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	size_t pages = 500 * (rank + 1);
	volatile char *p = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)p, pages * 4096, MADV_NOHUGEPAGE);
	HYBRID_ENTER("touches");
	for (size_t i = 0; i < pages; i++)
		p[i * 4096] = 1;
	HYBRID_LEAVE("touches");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
"""


def test_ranks_count_their_own(ranks, mpi):
    e = ranks(2, mpi.compile(RANKS, "-D_GNU_SOURCE"), options=["-q", "-r", "0", "-m", FAULTS])
    assert e.returncode == 0, e.stderr
    counts = sorted(p.grown("touches", FAULTS) for p in processes(e))
    assert len(counts) == 2
    near(counts[0], 500)
    near(counts[1], 1000)


# ------------------------------------------------------------------ samples by events


@pytest.mark.parametrize("options", [["-r", "0"], ["-r", "500"], ["--wall"], ["-r", "0", "--trace"]], ids=" ".join)
def test_samples_are_the_faults_over_the_period(metrics, options):
    """Each stands for ten of them."""
    n = 3000
    # What has come since the last sample is in none: a budget that is kept would make that more than one period.
    e = metrics("pages", n, metrics=None, options=["-e", f"{FAULTS}@10", "--budget", "100", *options])
    (p,) = processes(e)
    for region, true in (("once", n), ("inside", n), ("all", 4 * n)):
        assert p.overflows(region, FAULTS) == pytest.approx(true / 10, abs=3 + OWN_FAULTS / 10 * 3), region
    total = sum(p.values(node, True)[FAULTS] for node in p.nodes)
    (last,) = p.last.values()
    assert total == pytest.approx(last[0] / 10, abs=6)
    (location,) = p.locations
    if "-r" in options and options[options.index("-r") + 1] == "0":
        # What a probe had to drop the next sample makes up for.
        assert location["samples"] == pytest.approx(last[0] / 10, abs=6)


def test_each_thread_is_sampled_by_its_own_faults(metrics):
    n = 1000
    e = metrics("threads", n, metrics=None, options=["-e", f"{FAULTS}@10", "-r", "0", "--budget", "100"])
    (p,) = processes(e)
    counts = []
    for node in p.regions("thread"):
        counts.append(sum(p.values(below, True)[FAULTS] for below in p.below(node)))
    assert sorted(counts) == pytest.approx([n * i / 10 for i in (1, 2, 3, 4)], abs=4)


def lines_of(e, *options):
    """Samples by line of metrics.c, from the report."""
    found = {}
    for node in e.report(*options)["nodes"]:
        if node["samples"] and node.get("line"):
            found[node["line"]] = found.get(node["line"], 0) + node["samples"]
    return found


def test_a_line_that_touches_twice_as_much_has_twice_the_samples(metrics):
    n = 3000
    e = metrics("lines", n, metrics=None, options=["-e", f"{FAULTS}@10", "-r", "0"])
    source = (SOURCE / "tests/programs/metrics.c").read_text().splitlines()
    one, two = (next(i for i, line in enumerate(source, 1) if f"/* {word} */" in line) for word in ("one", "two"))
    found = lines_of(e)
    assert found.get(one, 0) + found.get(two, 0) == pytest.approx(3 * n / 10, abs=6)
    assert found[two] == pytest.approx(2 * found[one], rel=0.1)


# ------------------------------------------------------------------------ the trace


def test_trace_has_the_values(metrics):
    """Values never fall, and from a region's enter to its leave they grow as the profile says."""
    e = metrics("pages", 1000, options=["--trace", "-r", "1000"])
    (p,) = processes(e)
    events = [json.loads(line) for line in e.dump("--json", "--events").splitlines()]
    values = [event["values"][FAULTS] for event in events if "values" in event]
    assert len(values) > 8 and values == sorted(values)
    at = {(event["kind"], event["path"].rpartition("/")[2]): event["values"][FAULTS]
          for event in events if event["kind"] in ("enter", "leave")}
    for region in ("all", "once", "twice", "inside"):
        assert at["leave", region] - at["enter", region] == p.grown(region, FAULTS)


@pytest.mark.parametrize("trace", [[], ["--trace"]])
def test_values_to_the_start_and_end_of_the_region(metrics, trace):
    """Of each sample: since and until together are by what its instance of the region grew."""
    e = metrics("pages", 5000, options=["-r", "1000", *trace])
    (p,) = processes(e)
    events = [json.loads(line) for line in e.dump("--json", "--events").splitlines()]
    checked = 0
    for event in events:
        if event["kind"] == "sample" and "until_values" in event and "/inside/" in event["path"]:
            whole = event["since_values"][FAULTS] + event["until_values"][FAULTS]
            assert whole == p.grown("inside", FAULTS)
            checked += 1
    assert checked


def test_bytes_of_a_sample(measure):
    """At most 16 with two counters of the kernel's, all of the records together."""
    e = measure(BUILD / "bench/steady", 1, "1500ms", options=["-q", "-r", "997", "-m", f"{FAULTS},{CLOCK}"])
    if e.returncode == 127:
        pytest.skip("bench/ is not built")
    used = sum(int(number) for number in re.findall(r'"kind":"trace","size":\d+,"used":(\d+)', e.dump("--json", "--chunks")))
    taken = e.report()["quality"]["samples"]
    assert taken > 200 and used / taken <= 16


# ------------------------------------------------- the program does not see any of it


WITH_ALL = ["-m", f"{FAULTS},{CLOCK},rusage::minor_faults,io::read_chars,memory::resident,user::apples"]


@pytest.mark.parametrize("options", [WITH_ALL, ["-r", "0", *WITH_ALL, "-e", f"{SWITCHES}@1"],
                                     [*WITH_ALL, "-e", f"{FAULTS}@3"]], ids=["timer", "events", "both"])
def test_program_is_as_ever(measure, options):
    """errno, its descriptors, its own SIGSTKFLT."""
    same_as_native(measure, options, "metrics", "own", "200")


@pytest.mark.parametrize("name, arguments", [("threads", ["many", "200"]), ("processes", ["fork"])])
def test_other_programs_are_as_ever(measure, name, arguments):
    same_as_native(measure, [*WITH_ALL, "-e", f"{SWITCHES}@2"], name, *arguments)


@pytest.mark.parametrize("options", [[], WITH_ALL, ["-e", f"{FAULTS}@10"]], ids=["none", "read", "sampled"])
def test_papi_is_not_in_the_program(measure, options):
    e = measure(program("metrics"), "maps", options=["-q", *options])
    assert e.stdout == "papi 0\n"


def test_values_of_a_running_program_can_be_read(tmp_path):
    experiment = tmp_path / "experiment"
    child = subprocess.Popen([HYBRID_RUN, "-q", "-m", FAULTS, "-o", experiment, sys.executable, "-c",
                              "import time; x = bytearray(b'1') * 80000000; y = [i * i for i in range(3000000)]; time.sleep(30)"])
    try:
        wait_until(lambda: list(experiment.glob("*.hyb")))

        def counted():
            text = run(BUILD / "src/dump/hybrid-dump", "--json", "--nodes", experiment).stdout
            found = re.search(r'"record":"metrics","location":1,"last":\[(\d+)\]', text)
            return found and int(found[1]) > 5000

        assert wait_until(counted)
    finally:
        child.terminate()
        child.wait()
