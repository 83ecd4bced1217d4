"""The Python package: probes in Python programs, and experiments read from Python, on each interpreter."""

import functools
import json
import os
import re
import shutil
import subprocess
from collections import Counter

import pytest

from conftest import BUILD, HYBRID_DUMP, HYBRID_RUN, PROGRAMS, SOURCE, Experiment, run
from interpreters import interpreters

PACKAGE = BUILD / "python"
PROBES = PROGRAMS / "python/package_probes.py"
READS = PROGRAMS / "python/package_reads.py"

pytestmark = pytest.mark.skipif(
    not (PACKAGE / "hybrid/_probe.abi3.so").exists(), reason="built without the headers of Python"
)
every_interpreter = pytest.mark.parametrize(
    "python", [python for python in interpreters() if not python.free_threaded], ids=str
)
DEBIAN = min(interpreters(), key=lambda python: not str(python.path).startswith("/usr/bin/"), default=None)


def environment(**more):
    return {**{k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}, "PYTHONPATH": str(PACKAGE), **more}


def python_run(python, script, *arguments):
    """A file, or text of a program."""
    script = ["-c", script] if isinstance(script, str) else [script]
    result = run(python.path, *script, *arguments, env=environment())
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def package_measure(measure):
    """package_measure(python, script, arguments ...)"""

    def function(python, script, *arguments, options=()):
        script = ["-c", script] if isinstance(script, str) else [script]
        e = measure(python.path, *script, *arguments, options=options, env=environment())
        assert e.returncode == 0, e.stderr
        return e

    return function


# ------------------------------------------------------------------- probes


@every_interpreter
def test_unmeasured_probes_change_nothing(python):
    assert python_run(python, PROBES) == "not measured\n"


@pytest.fixture(scope="module")
def probes(tmp_path_factory):
    """probes(python): an experiment of package_probes.py with that interpreter, made once."""
    made = {}

    def function(python):
        if str(python) not in made:
            path = tmp_path_factory.mktemp("probes") / "experiment"
            result = run(HYBRID_RUN, "-o", path, "--trace", "--rate", 997, python.path, PROBES, env=environment())
            assert result.returncode == 0, result.stderr
            assert result.stdout == "measured\n"
            made[str(python)] = Experiment(path, result)
        return made[str(python)]

    return function


def regions(report):
    """name -> nodes"""
    found = {}
    for node in report["nodes"]:
        if node["kind"] == "probe":
            found.setdefault(node["name"], []).append(node)
    return found


@every_interpreter
def test_calls_are_those_that_the_program_makes(probes, python):
    found = regions(probes(python).report())
    wanted = set(re.findall(r'"([^"]+: [0-9]+)"', PROBES.read_text()))
    assert len(wanted) > 20
    for name in wanted:
        calls = int(name.rpartition(" ")[2])
        assert sum(node["calls"] for node in found.get(name, ())) == calls, name


@every_interpreter
def test_regions_carry_their_place(probes, python):
    lines = PROBES.read_text().splitlines()
    for name, nodes in regions(probes(python).report()).items():
        if re.search(r": [0-9]+$", name):
            for node in nodes:
                assert node["file"] == str(PROBES)
                assert f'"{name}"' in lines[node["line"] - 1]


@every_interpreter
def test_regions_nest_as_in_the_program(probes, python):
    """By the trace: enters and leaves pair up on each thread, and nothing stands between that should not."""
    open_, inside = {}, set()
    for line in run(HYBRID_DUMP, "--events", "--json", probes(python).path).stdout.splitlines():
        event = json.loads(line)
        if event["kind"] == "enter":
            stack = open_.setdefault(event["location"], [])
            names = [part for part in event["path"].split("/") if part]
            inside.add((stack[-1] if stack else None, names[-1]))
            stack.append(names[-1])
        elif event["kind"] == "leave":
            open_[event["location"]].pop()
    assert not any(open_.values())
    own = {pair for pair in inside if not any(name and name.startswith("[") for name in pair)}
    assert {inner for outer, inner in own if outer == "outer: 3"} == {"inner: 4", "outer: 3"}
    assert {inner for outer, inner in own if outer == "worker: 3"} == {"shared: 150"}
    assert {inner for outer, inner in own if outer and outer.startswith(("coroutine", "generator"))} == set()
    assert ("n=12", "below parameters: 1") in own and ("big=" + str(10**30), "ratio=0.25") in own
    assert ("ratio=0.25", "text=\u00e9") in own


@every_interpreter
def test_no_fault_and_threads_have_names(probes, python):
    result = run(HYBRID_DUMP, "--nodes", "--json", probes(python).path)
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert not [record for record in records if record["record"] == "fault"]
    assert sorted(r["name"] for r in records if r["record"] == "location" and r["name"]) == [
        "worker 0", "worker 1", "worker 2"]


def nan(value):
    return "nan" if value is None or value != value else value


@every_interpreter
def test_values_and_moments(probes, python):
    events = [json.loads(line) for line in run(HYBRID_DUMP, "--events", "--json", probes(python).path).stdout.splitlines()]
    counters = [(e["name"], e["unit"], nan(e["value"])) for e in events if e["kind"] == "counter"]
    # JSON has no infinity: hybrid-dump writes null for what is not finite.
    things = [3, 4, -1, 1.5, 1, 2**63 - 1, float(2**63), float(2**70), "nan", 7, 0.5]
    assert counters == [("things", "pieces", value) for value in things] + [
        ("temperature", "", "nan"), ("\\ud800\u00e9", "", -(2**63))]
    assert [e["text"] for e in events if e["kind"] == "marker"] == ["a moment \u20ac", "ends here"]


SPINS = """
import hybrid, time, asyncio
def spin():
    end = time.process_time() + 0.15
    while time.process_time() < end: pass
@hybrid.region("function")
def function():
    spin()
@hybrid.region("generator")
def generator():
    spin()
    yield
@hybrid.region("coroutine")
async def coroutine():
    spin()
    await asyncio.sleep(0)
def owner():
    with hybrid.region("context"):
        spin()
    function()
    list(generator())
    asyncio.run(coroutine())
owner()
"""
def python_names_below(location, node):
    """(the innermost region above a node, the names of Python functions between, outermost first)"""
    names = []
    while node["kind"] not in ("region", "root"):
        names += [node["name"]] * (node["kind"] == "python")
        node = location["nodes"][node["parent"]]
    return node["name"], tuple(names[::-1])


@every_interpreter
def test_regions_hold_the_frames_of_the_program_alone(package_measure, python):
    """No frame of the package, and none from outside of the region."""
    e, found = package_measure(python, SPINS), {}
    callers = {node["name"] for node in e.report()["nodes"] if node["kind"] == "intermediate"}
    assert "function" in callers and not callers & {"function_call", "steps_next", "steps_send"}
    for location in reading(python, e.path)["locations"]:
        for node in location["nodes"]:
            if node["samples"]:
                region, names = python_names_below(location, node)
                found.setdefault(region, Counter())[names] += node["samples"]
    for name in ("function", "generator", "coroutine", "context"):
        samples = found[name]
        # The frame that holds a `with` may show, as the function that enters a region does in C.
        right = samples[name, "spin"] + samples["spin",] + samples["owner", "spin"]
        assert right > 10
        # Few are in the moments of entering and leaving.
        assert right >= sum(samples.values()) - 4, samples
        assert name == "context" or not samples["owner", "spin"] + samples["spin",]


@every_interpreter
def test_objects_do_not_leak(package_measure, python):
    text = """
import gc, hybrid, resource
def once():
    for _ in range(200):
        r = hybrid.region("x" * 500)
        c = hybrid.counter("y" * 500, "z")
        with r, hybrid.paused():
            pass
        @r
        def f(): return f
        f()
        @r
        def g(): yield g
        list(g()), next(g())
        c.count(1.5)
        hybrid.parameter("a", 1)
        if not hybrid.measured(): hybrid.marker("m"), hybrid.metadata("b", "c")  # each is kept in the file
    gc.collect()
once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(20): once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    # 4000 turns of more than a kilobyte.
    assert int(python_run(python, text)) < 1000
    assert int(package_measure(python, text, options=["--trace-limit=1M"]).stdout) < 2000


@every_interpreter
def test_program_with_probes_loads_no_reader(python):
    out = python_run(python, """
import sys
before = set(sys.modules)
import hybrid
with hybrid.region("x"): pass
hybrid.region("y")(print)
assert set(sys.modules) - before == {"__future__", "hybrid", "hybrid._probe"}, set(sys.modules) - before
assert "libdw" not in open("/proc/self/maps").read()
try: hybrid.nothing
except AttributeError as error: print(error)
assert {"open", *hybrid.__all__} <= set(dir(hybrid))
python_open = open
from hybrid import *
assert Row is hybrid.Row and hybrid.open is not python_open and open is python_open
""")
    assert out == "module 'hybrid' has no attribute 'nothing'\n"


@every_interpreter
def test_subinterpreters_have_their_own(package_measure, python):
    text = """
import sys
try:
    import _interpreters as i
    create, execute = lambda: i.create("legacy"), i.exec
except ImportError:
    try:
        import _xxsubinterpreters as i
    except ImportError:
        print("none here"); sys.exit()
    create, execute = (lambda: i.create(isolated=False)) if sys.version_info >= (3, 9) else i.create, i.run_string
import hybrid
with hybrid.region("main"):
    for _ in range(3):
        other = create()
        execute(other, "import hybrid\\nwith hybrid.region('sub'): pass\\nhybrid.region('sub 2')(print)()\\n"
                       "assert hybrid.open and hybrid.Error")
        i.destroy(other)
"""
    e = package_measure(python, text)
    if "none here" in e.stdout:
        pytest.skip("no module for subinterpreters")
    found = regions(e.report())
    assert [node["calls"] for name in ("main", "sub", "sub 2") for node in found[name]] == [1, 3, 3]


@every_interpreter
def test_probes_go_on_in_forked_and_spawned_processes(package_measure, python, tmp_path):
    (tmp_path / "program.py").write_text("""
import multiprocessing, hybrid
region, counter = hybrid.region("region"), hybrid.counter("counter")
@hybrid.region("function")
def function(n):
    with region, hybrid.region("anew"):
        counter.count(n)
    return n
if __name__ == "__main__":
    function(1)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(function, range(6), chunksize=1) == list(range(6))
            pool.close(); pool.join()
""")
    e = package_measure(python, tmp_path / "program.py")
    found = regions(e.report())
    assert {name: sum(node["calls"] for node in found[name]) for name in ("function", "region", "anew")} == {
        "function": 13, "region": 13, "anew": 13}
    read = reading(python, e.path)
    assert len(read["processes"]) >= 5
    assert len([event for event in read["events"] if event["text"] == "counter"]) == 13


@every_interpreter
@pytest.mark.parametrize("mode", ["off", "hooks"])
def test_probes_in_other_modes(package_measure, python, mode):
    found = regions(package_measure(python, SPINS, options=[f"--python={mode}"]).report())
    for name in ("context", "function"):
        assert any(node["calls"] == 1 and node["inclusive_ns"] > 0.14e9 for node in found[name])
    # Started, and gone on with once.
    for name in ("generator", "coroutine"):
        assert any(node["calls"] == 2 and node["inclusive_ns"] > 0.14e9 for node in found[name])


# ------------------------------------------------------------------ reading


@pytest.fixture(scope="module")
def c_experiment(tmp_path_factory):
    """Threads and probes of a C program."""
    path = tmp_path_factory.mktemp("reading") / "experiment"
    result = run(HYBRID_RUN, "--trace", "-o", path, BUILD / "tests/programs/shares")
    assert result.returncode == 0, result.stderr
    return Experiment(path, result)


@pytest.fixture(scope="module", params=["C", "Python"])
def written(request, probes, c_experiment):
    """An experiment of a program in either language."""
    if request.param == "C":
        return c_experiment
    return probes(DEBIAN)


@functools.lru_cache(maxsize=None)
def reading(python, path):
    return json.loads(python_run(python, READS, path))


def same_rows(rows, nodes):
    """Rows of the package and nodes of hybrid-report --json."""
    assert len(rows) == len(nodes)
    for row, node in zip(rows, nodes):
        assert row["parent"] == (node["parent"] or 0)
        for key in ("depth", "kind", "name", "file", "line", "module", "calls", "skipped", "samples", "guess"):
            assert row[key] == node[key], key
        for key in ("inclusive", "exclusive", "blocked"):
            assert row[key] == node[key + "_ns"], key


OPTIONS = {"routine": "--routines", "callsite": "--callsites", "function": "--functions"}


@every_interpreter
def test_profile_is_what_the_report_shows(written, python):
    read = reading(python, written.path)
    for name, rows in read["profiles"].items():
        mode, sort = name.split()
        same_rows(rows, written.report(OPTIONS[mode], "--sort", sort)["nodes"])
    same_rows(read["by_thread"], written.report("--by-thread")["nodes"])
    same_rows(read["internals"], written.report("--python-internals")["nodes"])
    last = read["locations"][-1]
    same_rows(read["one_thread"], written.report("--thread", last["tid"])["nodes"])


@every_interpreter
def test_rows_add_up(written, python):
    for rows in reading(python, written.path)["profiles"].values():
        below = [0] * len(rows)
        for row in rows[1:]:
            below[row["parent"]] += row["inclusive"]
        assert all(row["inclusive"] == row["exclusive"] + row["blocked"] + sum_
                   for row, sum_ in zip(rows, below))


@every_interpreter
def test_events_are_what_dump_shows(written, python):
    events = reading(python, written.path)["events"]
    dumped = [json.loads(line) for line in run(HYBRID_DUMP, "--events", "--json", written.path).stdout.splitlines()]
    assert len(events) == len(dumped) > 100
    assert [e["time"] for e in events] == sorted(e["time"] for e in events)
    for event, record in zip(events, dumped):
        for key in ("time", "pid", "location", "kind"):
            assert event[key] == record[key]
        for key in ("weight", "since", "until", "unit"):
            assert event[key] == record.get(key)
        if event["kind"] == "sample":
            assert event["blocked"] == record.get("blocked", 0)
        if event["kind"] in ("counter", "marker"):
            assert event["text"] == record.get("text", record.get("name"))
        if event["kind"] == "counter":
            finite = record["value"] is not None
            assert event["value"] == record["value"] if finite else abs(event["value"]) != 1
        if "regions" in event:
            # The names of regions stand between others in the path.
            parts = iter(record["path"].split("/"))
            assert all(name in parts for name in event["regions"] if "/" not in name)


@every_interpreter
def test_nodes_agree_with_their_location(written, python):
    read = reading(python, written.path)
    assert read["event_count"] == len(read["events"])
    for location in read["locations"]:
        nodes = location["nodes"]
        assert sum(node["samples"] for node in nodes) == location["samples"]
        assert nodes[0]["kind"] == "root" and nodes[0]["parent"] == 0
        assert all(node["parent"] < i for i, node in enumerate(nodes) if i)
        # What was measured of a thread is the sum of what was measured of its regions alone.
        assert sum(node["exclusive"] for node in nodes) == nodes[0]["inclusive"]
        of_it = [e for e in read["events"] if (e["pid"], e["location"]) == (location["pid"], location["id"])]
        assert len(of_it) == location["events"]
        sampled = [0] * len(nodes)
        for event in of_it:
            if event["kind"] == "sample":
                sampled[event["node"]] += event["weight"]
        assert sampled == [node["samples"] for node in nodes]
        entered = [event["node"] for event in of_it if event["kind"] == "enter"]
        for i, node in enumerate(nodes):
            if node["kind"] == "region":
                assert node["calls"] == entered.count(i)


@every_interpreter
def test_facts_are_those_of_the_run(probes, python):
    e = probes(python)
    read = reading(python, e.path)
    assert read["values"] == e.values
    assert read["metadata"]["build"] == "1.2" and read["metadata"]["size"] == "5"
    assert read["damage"] == [0, []]
    (process,) = read["processes"]
    assert process["file"] == str(e.files[0]) and process["file_size"] == e.files[0].stat().st_size
    assert process["state"] == "exited" and process["trace_events"] is True
    assert process["rate"] == 997 and process["trace_stopped"] is None
    assert f"-{process['pid']}." in e.files[0].name
    assert str(python.libpython or python.path.resolve()) in [os.path.realpath(m[0]) for m in process["modules"]] + [
        m[0] for m in process["modules"]]
    for m in process["modules"]:
        if re.fullmatch("[0-9a-f]{40}", m[1]):
            assert m[1] in run("readelf", "-n", m[0]).stdout.replace("\n", " ")
            break
    else:
        pytest.fail("no build id")
    assert [l["name"] for l in read["locations"]][1:] == ["worker 0", "worker 1", "worker 2"]
    names = {node["name"]: node for node in read["locations"][0]["nodes"] if node["kind"] == "region"}
    assert names["inner: 4"]["calls"] == 4 and names["inner: 4"]["inclusive"] >= 4e6
    assert names["inner: 4"]["file"] == str(PROBES)
    python_names = {node["name"] for l in read["locations"] for node in l["nodes"] if node["kind"] == "python"}
    assert "<module package_probes>" in python_names


MPI = """
import json, sys, hybrid
with hybrid.open(sys.argv[1]) as e:
    print(json.dumps({
        "processes": [[p.rank, p.world, p.world_size, p.thread_level, p.clock_error, p.clock_shift_end,
                       [[h.id, h.type, h.name, h.parent] for h in p.handles.values()],
                       [[o.time, o.offset] for o in p.offsets], p.locations[0].mpi["inside"]] for p in e.processes],
        "nodes": [[p.rank, n.message, p.handles[n.handle].name, n.peer, n.size, n.calls, n.sent, n.received]
                  for p in e.processes for n in p.locations[0].nodes if n.kind == "message"],
        "events": [[v.location.process.rank, v.kind, v.message, v.handle, v.peer, v.tag, v.sent, v.received, v.offset,
                    v.request, v.value, v.operation] for v in e.events() if v.kind not in ("enter", "leave")],
    }))
"""


@every_interpreter
def test_mpi(python):
    """The file of two ranks whose contents test_reader_old.c describes."""
    read = json.loads(python_run(python, MPI, SOURCE / "tests/data/v1.2.hyb"))
    handles = [[1, "communicator", "MPI_COMM_WORLD", 0], [2, "window", "halo", 77], [3, "file", "/scratch/out", 77]]
    assert read["processes"] == [
        [0, 0xFEED, 2, "single", 0, 0, handles, [], 7],
        [1, 0xFEED, 2, "single", 60, -5500, handles, [[1005000, -5000], [1505500, -5500]], 7],
    ]
    assert read["nodes"] == [
        [0, "send", "MPI_COMM_WORLD", 1, 7, 2, 200, 0],
        [0, "write", "/scratch/out", None, 4, 1, 8, 0],
        [1, "recv", "MPI_COMM_WORLD", 0, 7, 2, 0, 200],
        [1, "write", "/scratch/out", None, 4, 1, 8, 0],
    ]
    assert read["events"] == [
        [0, "message", "send", 1, 1, 42, 100, 0, None, None, None, None],
        [0, "message", "send", 1, 1, 43, 100, 0, None, 9, None, None],
        [0, "message", "collective", 1, None, None, 16, 32, None, None, None, None],
        [1, "message", "recv", 1, 0, 42, 0, 100, None, None, None, None],
        [1, "posted", None, None, None, None, None, None, None, 3, None, None],
        [1, "epoch", None, 2, 0, None, None, None, None, None, None, None],
        [1, "message", "write", 3, None, None, 8, 0, 4096, None, None, None],
        [1, "failed", None, None, None, None, None, None, None, None, 15, None],
    ]


CLOSED = """
import gc, sys, hybrid, threading
def fails(error, wanted, call):
    try: call()
    except error as e: assert wanted in str(e), str(e)
    else: raise AssertionError(wanted)
path = sys.argv[1]
e = hybrid.open(path)
events, fresh = e.events(), e.events()
location = e.locations[0]
nodes = location.nodes
first = next(events)
with e as same:
    assert same is e and not e.closed
assert e.closed and "closed" in repr(e)
e.close()
closed = "the experiment is closed"
for call in (lambda: next(events), lambda: next(fresh), e.events, e.profile, lambda: e.events(location)):
    fails(hybrid.Error, closed, call)
assert location.nodes is nodes and first.location is location and location.path(1)[0] is nodes[1]
assert location.process.pid and e.values and e.notes == []  # facts stay
other = hybrid.open(path)
fails(hybrid.Error, closed, lambda: hybrid.Location.nodes.fget(hybrid.Location(location.process, 0, {})))
fails(ValueError, "another experiment", lambda: other.events(location))
fails(TypeError, "a location must be a hybrid.Location, not int", lambda: other.events(1))
fails(TypeError, "not NoneType", lambda: other.profile(locations=[None]))
fails(ValueError, "mode must be one of routine, callsite, function, not 'lines'", lambda: other.profile("lines"))
fails(ValueError, "sort must be one of", lambda: other.profile(sort=None))
fails(TypeError, "int", lambda: hybrid.open(3))
fails(ValueError, "null", lambda: hybrid.open("a\\0b"))
fails(hybrid.Error, "/no/where: cannot be opened", lambda: hybrid.open("/no/where"))
fails(hybrid.Error, sys.argv[0], lambda: hybrid.open(sys.argv[0]))
from hybrid import _reader
fails(TypeError, "only hybrid.open()", _reader.Experiment)
fails(TypeError, "only hybrid.open()", _reader.Events)
fails(TypeError, "", lambda: object.__new__(_reader.Events))
handle = other._handle
for indices in ((9, 0), (0, 99), (-1, 0), (0, -1)):
    fails(IndexError, "no such location", lambda: handle.nodes(*indices))
    fails(IndexError, "no such location", lambda: handle.profile(0, 0, False, False, (indices,)))
fails(IndexError, "", lambda: handle.events([], -1, 0, False))
fails((TypeError, SystemError), "", lambda: handle.profile(0, 0, False, False, (3,)))
# What is still used keeps the experiment.
events = hybrid.open(path).events()
location = hybrid.open(path).locations[-1]
gc.collect()
assert sum(1 for _ in events) and location.nodes and next(events, None) is None
# An event may outlive all.
del events, location, other, handle; gc.collect()
assert first.location.process.locations[0] is first.location
# Threads: each with an experiment of its own, and one that two want at once: it works, or says so.
wrong = []
def many(e):
    for _ in range(20):
        try:
            assert e.profile()[0].kind == "root"
            assert sum(1 for _ in e.events()) > 1
        except hybrid.Error as error:
            if "in use by another thread" not in str(error): wrong.append(error)
        except BaseException as error:
            wrong.append(error)
shared = hybrid.open(path)
threads = [threading.Thread(target=many, args=(e,)) for e in (shared, shared, hybrid.open(path))]
[t.start() for t in threads]; [t.join() for t in threads]
assert not wrong, wrong
"""


@every_interpreter
def test_closed_and_wrong(written, python, tmp_path):
    (tmp_path / "closed.py").write_text(CLOSED)
    python_run(python, tmp_path / "closed.py", written.path)


DAMAGED = """
import os, sys, hybrid
def read(path):
    try: e = hybrid.open(path)
    except hybrid.Error as error:
        assert path in str(error), str(error)
        return "error"
    with e:
        for l in e.locations: l.nodes, repr(l)
        events = sum(1 for _ in e.events(complete=True))
        rows = e.profile()
        assert rows[0].kind == "root" and repr(e)
        return "damage" if e.damage_count else "whole"
whole = open(sys.argv[1], "rb").read()
copy = sys.argv[2]
results = []
def attempt(data):
    with open(copy, "wb") as f: f.write(data)
    results.append(read(copy))
attempt(whole)
for length in range(0, len(whole), 1013): attempt(whole[:length])
for at in range(0, len(whole), 211):
    data = bytearray(whole); data[at] ^= 0xff; attempt(data)
print(results[0], *[results.count(r) for r in ("error", "damage", "whole")])
"""


@pytest.mark.parametrize("name", sorted(path.name for path in (SOURCE / "tests/data").glob("*.hyb")))
@every_interpreter
def test_damaged_files(python, name, tmp_path):
    out = python_run(python, DAMAGED, SOURCE / "tests/data" / name, str(tmp_path / "copy.hyb"))
    first, *counts = out.split()
    errors, damaged, whole = map(int, counts)
    assert first == "whole" and errors and damaged and whole


@every_interpreter
def test_reading_does_not_leak(python, tmp_path):
    data = shutil.copy(sorted((SOURCE / "tests/data").glob("*.hyb"))[0], tmp_path / "data.hyb")
    out = python_run(python, """
import gc, resource, sys, tracemalloc, hybrid
def once(close):
    for _ in range(25):
        e = hybrid.open(sys.argv[1])
        it = e.events()
        assert next(it) and len(list(e.events())) > 1
        for l in e.locations: assert l.nodes
        assert e.profile() and e.profile(locations=e.locations)
        try: hybrid.open("/no/where")
        except hybrid.Error: pass
        if close: e.close()
    del e, it
    gc.collect()
once(True); once(False)
tracemalloc.start()
once(True); once(False)
before, rss = tracemalloc.get_traced_memory()[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(4): once(True); once(False)
print(tracemalloc.get_traced_memory()[0] - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss)
""", data)
    python_memory, rss = map(int, out.split())
    assert python_memory < 20_000  # bytes in 200 openings
    assert rss < 4096  # KiB


def test_pandas_takes_rows(written):
    python = next((python for python in interpreters() if python.has_module("pandas")), None)
    if not python:
        pytest.skip("no interpreter here has pandas")
    out = json.loads(python_run(python, """
import json, sys, hybrid, pandas
with hybrid.open(sys.argv[1]) as e:
    rows = pandas.DataFrame(e.profile("function"))
    events = pandas.DataFrame(e.events())
    nodes = pandas.DataFrame(e.locations[0].nodes)
flat = rows.groupby("name")[["exclusive", "blocked"]].sum()
print(json.dumps({
    "columns": [list(rows), list(events), list(nodes)],
    "fields": [hybrid.Row._fields, hybrid.Event._fields, hybrid.Node._fields],
    "lengths": [len(rows), len(events), len(nodes)],
    "integers": all(str(rows[c].dtype).startswith("int") for c in ("parent", "depth", "line", "inclusive", "samples")),
    "sum": int(flat.sum().sum()),
}))
""", written.path))
    assert out["columns"] == out["fields"]
    report = written.report("--functions")
    assert out["lengths"][0] == len(report["nodes"]) and out["integers"]
    assert out["sum"] == report["tree"]["inclusive_ns"]


def test_examples_of_the_documentation_run(probes, tmp_path):
    python = next((python for python in interpreters() if python.has_module("pandas")), None)
    if not python:
        pytest.skip("no interpreter here has pandas")
    marking, reading_ = re.findall("```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.S)
    python_run(python, "norm, message = 0.5, b'12'\n" + marking + "solve(None)")
    out = python_run(python, re.sub('open\\(".*?"\\)', f'open("{probes(DEBIAN).path}")', reading_))
    assert "things" in out and "<module package_probes>" in out


# -------------------------------------------------------------------- house


def test_types(needs, tmp_path):
    needs("mypy")
    sample = tmp_path / "sample.py"
    sample.write_text("""
import hybrid
from typing import Tuple

@hybrid.region("f")
def f(x: int) -> str:
    with hybrid.region("g"), hybrid.paused():
        hybrid.counter("c", unit="s").set(1.5)
    return str(x)

with hybrid.open("path") as experiment:
    for event in experiment.events(experiment.locations[0], complete=True):
        reveal_type(event.time)
    reveal_type(experiment.profile(mode="callsite")[0].inclusive)
reveal_type(f(1))
f("x")
hybrid.region(3)
experiment.profile(mod="x")
""")
    result = run("mypy", "--strict", "--cache-dir", tmp_path / "cache", sample, env={**os.environ, "MYPYPATH": str(PACKAGE)})
    assert re.findall(r"sample.py:(\d+): (\w+): (.*)", result.stdout) == [
        ("13", "note", 'Revealed type is "builtins.int"'),
        ("14", "note", 'Revealed type is "builtins.int"'),
        ("15", "note", 'Revealed type is "builtins.str"'),
        ("16", "error", 'Argument 1 to "f" has incompatible type "str"; expected "int"  [arg-type]'),
        ("17", "error", 'Argument 1 to "region" has incompatible type "int"; expected "str"  [arg-type]'),
        ("18", "error", 'Unexpected keyword argument "mod" for "profile" of "Experiment"; did you mean "mode"?  [call-arg]'),
    ], result.stdout
    result = run("mypy", "--strict", "--python-version", "3.8", "--cache-dir", tmp_path / "cache", "-p", "hybrid", cwd=PACKAGE)
    assert result.returncode == 0, result.stdout


@every_interpreter
def test_everything_public_is_documented(python):
    out = python_run(python, """
import hybrid
missing = [name for name in ("open", *hybrid.__all__) if not getattr(hybrid, name).__doc__]
for name in ("region", "counter", "Experiment", "Location", "Process"):
    for member, value in vars(getattr(hybrid, name)).items():
        if not member.startswith("_") and not getattr(value, "__doc__", None): missing.append(f"{name}.{member}")
print(missing)
""")
    assert out == "[]\n"


def test_extensions_export_their_start_only():
    for name in ("_probe", "_reader"):
        result = run("nm", "-D", "--defined-only", PACKAGE / f"hybrid/{name}.abi3.so")
        assert [line.split()[-1] for line in result.stdout.splitlines()] == [f"PyInit_{name}"]


def test_installed_where_the_interpreter_looks(needs):
    needs("meson")
    installed = json.loads(run("meson", "introspect", "--installed", BUILD).stdout)
    folders = {os.path.dirname(path) for path in installed.values() if path.endswith("/hybrid/__init__.py")}
    assert len(folders) == 1
    result = subprocess.run([DEBIAN.path, "-c", "import sys; print(*sys.path, sep='\\n')"], stdout=subprocess.PIPE, text=True)
    assert os.path.dirname(folders.pop()) in result.stdout.splitlines()


METERED = """
kept = []
def take():
    for i in range(60):
        kept.append(bytearray(b"x") * (1 << 20))
def burn():
    return sum(i * i for i in range(3_000_000))
burn()
take()
burn()
"""

READS_METRICS = """
import hybrid, json, sys
with hybrid.open(sys.argv[1]) as experiment:
    (process,) = experiment.processes
    rows = experiment.profile("function")
    for i, row in enumerate(rows):
        for name in row.metrics_inclusive:
            below = sum(r.metrics_inclusive[name] for j, r in enumerate(rows) if j and r.parent == i)
            assert row.metrics_inclusive[name] == row.metrics_exclusive[name] + below
    samples = [e for e in experiment.events() if e.kind == "sample"]
    print(json.dumps({
        "metrics": [m._asdict() for m in process.metrics],
        "grown": {row.name: row.metrics_inclusive for row in rows},
        "root": process.locations[0].nodes[0].metrics,
        "first": samples[0].metrics, "most": max(e.metrics["memory::resident"] for e in samples),
    }))
"""


def test_metrics(measure, tmp_path):
    names = ["memory::resident", "rusage::minor_faults"]
    (tmp_path / "load.py").write_text(METERED)
    options = ["-q", "-r", "1000", "--trace", "-m", ",".join(names)]
    e = measure(DEBIAN.path, tmp_path / "load.py", options=options)
    out = json.loads(python_run(DEBIAN, READS_METRICS, e.path))
    assert [m["name"] for m in out["metrics"]] == names
    assert [(m["unit"], m["level"], m["process_wide"]) for m in out["metrics"]] == [("B", True, True), ("", False, False)]
    assert out["grown"]["take"][names[0]] == pytest.approx(60 << 20, abs=3 << 20)
    assert abs(out["grown"]["burn"][names[0]]) < 1 << 20
    root = next(iter(out["grown"].values()))
    assert root == out["root"]
    assert out["most"] - out["first"][names[0]] > 50 << 20
