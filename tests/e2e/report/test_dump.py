"""hybrid-dump: the records of real experiments, whole and damaged, against what hybrid-report says of them."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
from collections import Counter

import pytest

from conftest import HYBRID_DUMP, HYBRID_RUN, children, run, wait_until
from known import calls, program, the, walk

SELECTIONS = {
    "--header": {"run", "file", "clock", "settings", "totals", "call_cost"},
    "--chunks": {"chunk"},
    "--defs": {"def"},
    "--nodes": {"location", "dropped", "partial", "fault", "cost", "open", "node"},
    "--trace": {"trace"},
    "--events": {"event"},
}

# 1000 times inner, then SIGKILL (or a wait to be looked at) in the middle of outer.
KILLED = """
#include <hybrid/hybrid.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static struct hybrid_region outer = HYBRID_REGION_INIT("outer", HYBRID_USER);
static struct hybrid_region inner = HYBRID_REGION_INIT("inner", HYBRID_LOOP);
int main(int argc, char **argv)
{
    volatile unsigned long work = 0;
    for (int i = 0; i < 1000; i++) {
        hybrid_enter(&inner);
        hybrid_leave(&inner);
    }
    hybrid_enter(&outer);
    while (work < 300000000)
        work++;
    puts("open");
    fflush(stdout);
    if (argc > 1)
        pause();
    raise(SIGKILL);
}
"""


def records(*arguments, status=0):
    """The records of `hybrid-dump --json`; more than damage is never said."""
    result = run(HYBRID_DUMP, "--json", *arguments)
    assert (result.returncode, result.stderr) == (status, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def of_kind(dumped, record, /, **fields):
    return [r for r in dumped if r["record"] == record and all(r.get(key) == value for key, value in fields.items())]


def total(dumped, field):
    return sum(r[field] for r in dumped)


def refused(*arguments, status=1):
    """The one line in which hybrid-dump says why there is nothing to print."""
    result = run(HYBRID_DUMP, *arguments)
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr.startswith("hybrid-dump: ") and result.stderr.count("\n") == 1, result.stderr
    return result.stderr[len("hybrid-dump: ") : -1]


def same_counts(experiment):
    """Threads, nodes, trace records and events against the report; returns (records, report)."""
    dumped = records(experiment.path)
    events = of_kind(records("--events", experiment.path), "event")
    report = experiment.report()
    quality = report["quality"]
    locations, nodes, trace = (of_kind(dumped, kind) for kind in ("location", "node", "trace"))
    assert len(locations) == quality["threads"]
    assert total(locations, "samples") == quality["samples"]
    assert total(nodes, "samples") == quality["samples"]
    assert sum(node["samples"] for _, node in walk(report["tree"])) == quality["samples"]
    assert total(locations, "frames") == quality["frames"]
    assert total(locations, "events") == quality["trace_events"]
    assert len([r for r in trace if r["kind"] != "start"]) == quality["trace_events"]
    assert total(of_kind(events, "event", kind="sample"), "weight") == quality["samples"]
    assert sum(r.get("weight", 1) for r in trace if r["kind"] == "sample") == quality["samples"]
    for reason, count in quality["dropped"].items():
        assert total(of_kind(dumped, "dropped", reason=reason), "count") == count, reason
    for reason, count in quality["faults"].items():
        assert total(of_kind(dumped, "fault", reason=reason), "count") == count, reason
    assert total(of_kind(dumped, "file"), "size") == sum(path.stat().st_size for path in experiment.files)
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    return dumped, report


def well_formed(dumped):
    """Each node's parent is a node of the same thread, and its children's root is the thread's."""
    place = {(node["location"], node["id"]): node for node in of_kind(dumped, "node")}
    roots = {location["id"]: location["root"] for location in of_kind(dumped, "location")}
    for (location, number), node in place.items():
        if node["kind"] == "root":
            assert number == roots[location]
        else:
            assert (location, node["parent"]) in place
    made = Counter(node["location"] for node in place.values())
    for location in of_kind(dumped, "location"):
        assert location["nodes"] == made[location["id"]]


@pytest.mark.parametrize("options", [[], ["--trace"], ["--rate", "1000", "--wall"], ["--rate", "0"]])
def test_threads(measure, options):
    e = measure(program("threads"), "unequal", options=["-q", *options])
    dumped, report = same_counts(e)
    well_formed(dumped)
    assert report["quality"]["threads"] > 1
    assert (report["quality"]["samples"] == 0) == (options == ["--rate", "0"])


def test_regions(measure):
    """probes good: outer 10 times, and in it inner 1000 times."""
    e = measure(program("probes"), "good", options=["-q", "--trace", "--demote", "0"])
    dumped, report = same_counts(e)
    well_formed(dumped)
    events = of_kind(records("--events", e.path), "event")
    for name, path, count in (("outer", "/outer", 10), ("inner", "/outer/inner", 1000)):
        assert calls(report["tree"], name) == count
        assert total(of_kind(dumped, "node", kind="region", name=name), "count") == count
        assert len(of_kind(events, "event", kind="enter", path=path)) == count
        assert len(of_kind(events, "event", kind="leave", path=path)) == count
        assert len(of_kind(dumped, "def", type="region", name=name)) == 1
    spent, depth = Counter(), []
    for event in events:
        if event["kind"] == "enter":
            depth.append(event)
        elif event["kind"] == "leave":
            enter = depth.pop()
            assert enter["path"] == event["path"]
            spent[event["path"]] += event["time"] - enter["time"]
    assert not depth
    # Each event's time is rounded to a nanosecond on its own.
    for name, path in (("outer", "/outer"), ("inner", "/outer/inner")):
        assert abs(spent[path] - the(report["tree"], name)["inclusive_ns"]) <= 2 * calls(report["tree"], name)


def test_processes(measure):
    e = measure("sh", "-c", f"{program('probes')} good; {program('probes')} nothing; exit 3", options=["-q"])
    dumped, report = same_counts(e)
    files = of_kind(dumped, "file")
    assert len(files) == report["quality"]["processes"] == len(e.files)
    assert {f["path"] for f in files} == {str(path) for path in e.files}
    assert of_kind(dumped, "run", key="status") == [{"record": "run", "key": "status", "value": "exit 3"}]
    for path in e.files:
        alone = records(path)
        assert [f["path"] for f in of_kind(alone, "file")] == [str(path)]
        assert all(r in dumped for r in alone if r["record"] == "location")


@pytest.mark.parametrize("case", ["odd_names", "counters", "metadata", "never_left"])
def test_selections_and_forms(measure, case):
    e = measure(program("probes"), case, options=["-q", "--trace"])
    everything = records(e.path)
    parts = []
    for option, kinds in SELECTIONS.items():
        part = records(option, e.path)
        assert part and {r["record"] for r in part} <= kinds
        parts += part if option != "--events" else []
        words = [line.split(" ")[0] for line in e.dump(option).splitlines()]
        assert words == [r["record"] for r in part], option
    assert sorted(map(json.dumps, parts)) == sorted(map(json.dumps, everything))
    assert records("--chunks", "--defs", e.path) == records("--chunks", e.path) + records("--defs", e.path)


@pytest.fixture
def killed(measure, compile_c):
    e = measure(compile_c(KILLED), options=["-q", "--trace", "--demote", "0"])
    assert e.returncode == -signal.SIGKILL
    return e


def test_killed(killed):
    dumped, report = same_counts(killed)
    well_formed(dumped)
    assert of_kind(dumped, "file")[0]["state"] == "running"
    assert report["quality"]["samples"] > 0
    assert [r["depth"] for r in of_kind(dumped, "open")] == [0, 1]
    outer = of_kind(dumped, "node", kind="region", name="outer")
    assert [node["id"] for node in outer] == [of_kind(dumped, "open", depth=1)[0]["node"]]
    assert of_kind(dumped, "location")[0]["end"] == 0
    events = of_kind(records("--events", killed.path), "event")
    assert len(of_kind(events, "event", kind="enter", path="/inner")) == calls(report["tree"], "inner") == 1000
    assert len(of_kind(events, "event", kind="enter", path="/outer")) == calls(report["tree"], "outer") == 1
    assert not of_kind(events, "event", kind="leave", path="/outer")


def test_while_it_runs(compile_c, tmp_path):
    path = tmp_path / "experiment"
    command = [HYBRID_RUN, "-q", "-o", path, compile_c(KILLED), "wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            wait_until(lambda: of_kind(try_records(path), "location"))
            assert process.stdout.readline() == "open\n"
            dumped = records(path)
            assert [node["count"] for node in of_kind(dumped, "node", name="inner")] == [1000]
            assert [r["depth"] for r in of_kind(dumped, "open")] == [0, 1]
            assert of_kind(dumped, "file")[0]["state"] == "running"
        finally:
            for pid in children(process.pid):
                os.kill(pid, signal.SIGKILL)


def try_records(path):
    """What there is while it is being made; a valid answer in any case."""
    result = run(HYBRID_DUMP, "--json", path)
    assert result.returncode in (0, 1) and result.stderr.count("\n") <= 1
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_truncated(killed, tmp_path):
    """At every page and some odd places: a line why not, or what is left, and that something is missing."""
    whole = killed.files[0].read_bytes()
    chunks = of_kind(records("--chunks", killed.path), "chunk")
    ends = {chunk["offset"] + chunk["size"] for chunk in chunks}
    complete = Counter(json.dumps(r) for r in records("--defs", "--nodes", "--trace", killed.files[0]))
    shorter = tmp_path / "shorter.hyb"
    for size in [0, 1, 7, 8, 100, 200, *range(4096, max(ends), 4096), *range(5000, max(ends), 9973)]:
        shorter.write_bytes(whole[:size])
        if size <= 200:
            assert refused(shorter) == f"{shorter}: too short for a .hyb file ({size} bytes)"
            continue
        result = run(HYBRID_DUMP, "--json", "--defs", "--nodes", "--trace", shorter)
        dumped = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.stderr == "" and result.returncode == bool(of_kind(dumped, "damage"))
        inside_chunk = any(chunk["offset"] < size < chunk["offset"] + chunk["size"] for chunk in chunks)
        assert result.returncode == 1 if inside_chunk else result.returncode in (0, 1), size
        kept = Counter(json.dumps(r) for r in dumped if r["record"] in ("def", "location", "trace"))
        assert {r for r in kept - complete if "damaged" not in r} == set(), size
        assert run(HYBRID_DUMP, "--events", shorter).returncode in (0, 1)


def patched(experiment, path, offset, form, value):
    data = bytearray(experiment.files[0].read_bytes())
    struct.pack_into(form, data, offset, value)
    path.write_bytes(data)
    return path


def test_versions(killed, tmp_path):
    later = patched(killed, tmp_path / "later.hyb", 8, "<I", 2)
    assert refused(later) == f"{later}: written in format 2.0, this program reads up to 1.x: use a newer hybrid"
    minor = patched(killed, tmp_path / "minor.hyb", 10, "<H", 77)
    same = [r for r in records(killed.files[0]) if r["record"] != "file"]
    assert [r for r in records(minor) if r["record"] != "file"] == same
    assert of_kind(records(minor), "file")[0]["minor"] == 77
    none = patched(killed, tmp_path / "none.hyb", 8, "<H", 0)
    assert refused(none) == f"{none}: offset 0x8: the header is damaged"


def test_what_is_no_measurement(tmp_path, killed):
    garbage = tmp_path / "garbage.hyb"
    garbage.write_bytes(bytes(range(256)) * 64)
    zeros = tmp_path / "zeros.hyb"
    zeros.write_bytes(bytes(8192))
    empty = tmp_path / "empty"
    empty.mkdir()
    absent = tmp_path / "absent"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    only_bad = tmp_path / "only bad"
    only_bad.mkdir()
    shutil.copy(garbage, only_bad)
    assert refused(garbage) == f"{garbage}: not a .hyb file"
    assert refused(zeros) == f"{zeros}: empty: the measurement had not begun"
    assert refused(killed.path / "experiment") == f"{killed.path}/experiment: not a .hyb file"
    assert refused(empty) == f"{empty}: no measurement in this directory (no .hyb file)"
    assert refused(absent) == f"{absent}: cannot be opened: No such file or directory"
    assert refused(fifo) == f"{fifo}: not a regular file"
    assert refused(only_bad) == f"{only_bad}/garbage.hyb: not a .hyb file"


def test_one_bad_file_among_good_ones(measure, tmp_path):
    e = measure(program("probes"), "good", options=["-q"])
    before = records(e.path)
    bad = e.path / "bad.hyb"
    bad.write_bytes(b"HYBRID?" * 1000)
    after = records(e.path, status=1)
    damage = of_kind(after, "damage")
    assert [r["text"] for r in damage] == [f"{bad}: offset 0x0: left out: {bad}: not a .hyb file"]
    assert [r for r in after if r["record"] != "damage"] == before
    report = e.report()
    assert report["quality"]["damage"] == 1 and calls(report["tree"], "inner") == 1000


@pytest.mark.parametrize("offset", range(0, 200, 8))
def test_patched_header(killed, tmp_path, offset):
    """Every word of the header and behind it set to all ones: an answer in the usual form."""
    path = patched(killed, tmp_path / "patched.hyb", offset, "<Q", 2**64 - 1)
    result = run(HYBRID_DUMP, "--json", path)
    assert result.returncode in (0, 1)
    assert result.stderr.count("\n") <= 1
    for line in result.stdout.splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    "arguments, says",
    [
        ([], "no file or directory given; try --help"),
        (["one", "two"], "more than one file or directory given; try --help"),
    ],
)
def test_wrong_usage(arguments, says):
    assert refused(*arguments, status=2) == says


def test_wrong_option():
    result = run(HYBRID_DUMP, "--nothing", ".")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--nothing" in result.stderr and result.stderr.endswith("; see hybrid-dump --help\n")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version(option):
    result = run(HYBRID_DUMP, option)
    assert (result.returncode, result.stderr) == (0, "") and "hybrid-dump" in result.stdout


def test_output_that_cannot_be_written(measure):
    e = measure("true", options=["-q"])
    with open("/dev/full", "w") as full:
        result = run(HYBRID_DUMP, e.path, stdout=full)
    assert result.returncode == 1
    assert result.stderr == "hybrid-dump: cannot write the output: No space left on device\n"


def test_code_is_an_address(killed):
    """No symbols are looked up, even where the program has all of them."""
    leaves = of_kind(records("--nodes", killed.path), "node", kind="leaf")
    assert leaves and all(re.fullmatch(r"\S+\+0x[0-9a-f]+", leaf["code"]) for leaf in leaves)
