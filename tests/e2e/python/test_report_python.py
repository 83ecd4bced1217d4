"""What hybrid-report makes of Python programs, on every interpreter of the machine."""

import pytest

from conftest import HYBRID_REPORT, path_of, report_json, run
from interpreters import interpreters

RATE = "--rate=997"

# busy() runs for so many seconds of CPU, nearly all in the line of its loop; sorted() calls `key` back from the interpreter.
PROGRAM = """\
import asyncio, hashlib, sys, time

def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        for _ in range(10000): pass

class Work:
    def inner(self):
        busy(0.3)

    def outer(self):
        self.inner()
        sorted([1], key=lambda n: busy(0.1) or n)

def native():
    data = b"x" * (1 << 20)
    end = time.process_time() + 0.2
    while time.process_time() < end:
        hashlib.sha512(data)

async def nap():
    for _ in range(10):
        await asyncio.sleep(0.001)

async def naps():
    await asyncio.gather(nap(), nap(), nap())

if "busy" in sys.argv:
    Work().outer()
    native()
else:
    asyncio.run(naps())
"""


@pytest.fixture(params=interpreters(), ids=str)
def python(request):
    return request.param


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def is_exact(nodes):
    """Whether inclusive times are what the nodes below have, and their own."""
    below = [0] * len(nodes)
    for node in nodes[1:]:
        below[node["parent"]] += node["inclusive_ns"]
    return all(n["inclusive_ns"] == n["exclusive_ns"] + n["blocked_ns"] + below[n["id"]] for n in nodes)


def own(nodes, name, file=".py"):
    return sum(n["exclusive_ns"] for n in nodes if n["name"] == name and n["file"].endswith(file))


def qualified(python, name):
    """Names have no class in front before 3.11."""
    return name if python.minor >= (3, 11) else name.rpartition(".")[2]


def test_frames(measure, python, program):
    e = measure(python.path, program, "busy", options=[RATE])
    assert e.returncode == 0, e.stderr
    report = report_json(e.path)
    nodes, quality = report["nodes"], report["quality"]["python"]
    version = ".".join(map(str, python.version))
    if python.free_threaded:
        assert f"CPython {version}" in quality["versions"][0]["text"]
        return
    assert quality["versions"] == [{"text": f"CPython {version}, frames", "programs": 1}]
    assert quality["woven"] and quality["released"] and not quality["unmatched"]
    assert is_exact(nodes) and "awaiting" not in report
    # With what the interpreter's library was sampled in below it: reading the clock, thread-local variables.
    busy = [n for n in nodes if n["name"] == "busy" and nodes[n["parent"]]["name"] != "busy"]
    assert sum(n["inclusive_ns"] for n in busy) > 0.35e9
    lines = {n["line"] for n in nodes if n["name"] == "busy" and n["kind"] == "leaf"}
    assert lines <= {4, 5, 6} and 6 in lines
    paths = {tuple(m["name"] for m in path_of(nodes, n["id"])[1:]) for n in nodes if n["name"] == "busy"}
    outer, inner = qualified(python, "Work.outer"), qualified(python, "Work.inner")
    callback = qualified(python, "Work.outer.<locals>.<lambda>")
    assert ("<module program>", outer, inner, "busy") in paths
    assert ("<module program>", outer, callback, "busy") in paths
    # below Python nothing of the interpreter is left but what it does for itself
    for node in nodes:
        above = path_of(nodes, node["id"])[:-1]
        if any(n["python"] for n in above) and not node["python"] and node["name"] != "garbage collection":
            assert node["module"] != next(n["module"] for n in above if n["python"])
    # the library that Python called stays, where it was called
    libraries = [n for n in nodes if "crypto" in n["module"] or "sha512" in n["module"]]
    called = [n for n in libraries if [m["name"] for m in path_of(nodes, n["id"])[1:3]] == ["<module program>", "native"]]
    assert sum(n["exclusive_ns"] for n in called) > 0.1e9


def test_internals(measure, python, program):
    if python.free_threaded:
        pytest.skip("native samples only")
    e = measure(python.path, program, "busy", options=[RATE])
    plain, internals = report_json(e.path), report_json(e.path, "--python-internals")
    modules = {n["module"] for n in plain["nodes"] if n["python"]}
    inside = [n for n in internals["nodes"] if n["module"] in modules and not n["python"]]
    assert len(modules) == 1
    assert any(m["python"] for n in inside for m in path_of(internals["nodes"], n["id"])[:-1])
    assert is_exact(internals["nodes"])
    assert internals["nodes"][0]["inclusive_ns"] == plain["nodes"][0]["inclusive_ns"]
    assert sum(n["samples"] for n in internals["nodes"]) == sum(n["samples"] for n in plain["nodes"])


def test_hooks(measure, python, program):
    if python.free_threaded:
        pytest.skip("native samples only")
    e = measure(python.path, program, "busy", options=[RATE, "--python=hooks"])
    report = report_json(e.path)
    nodes = report["nodes"]
    assert is_exact(nodes)
    outer = next(n for n in nodes if n["name"] == qualified(python, "Work.outer"))
    assert outer["kind"] == "probe" and outer["calls"] == 1
    assert 0.35e9 < outer["inclusive_ns"]
    probes = [n for n in nodes if n["name"] == "busy" and n["kind"] == "probe"]
    assert sum(n["calls"] for n in probes) == 2
    # their own frames fold into the probes: what is below them is a line, or was called
    for probe in probes:
        for node in nodes:
            if node["parent"] == probe["id"] and node["name"] == "busy":
                assert node["kind"] == "leaf" and node["line"] in (4, 5, 6)


def test_awaiting(measure, python, program):
    if python.free_threaded:
        pytest.skip("native samples only")
    e = measure(python.path, program, options=["--python=hooks"])
    assert e.returncode == 0, e.stderr
    rows = {row["name"]: row for row in report_json(e.path)["awaiting"]}
    assert rows["nap"]["suspensions"] == 30
    assert rows["nap"]["file"] == str(program) and rows["nap"]["line"] == 22
    assert rows["nap"]["awaited_ns"] >= 30 * 1000000
    assert rows["naps"]["suspensions"] >= 1
    text = run(HYBRID_REPORT, e.path).stdout
    assert "awaiting" in text and "nap (program.py:22)" in text


EMBEDDED = """
void Py_InitializeEx(int handlers);
int PyRun_SimpleString(const char *text);

static int run_script(void)
{
	int result = PyRun_SimpleString("import time\\n"
		"def f(end):\\n"
		"    while time.process_time() < end:\\n"
		"        for _ in range(10000): pass\\n"
		"f(time.process_time() + 0.3)\\n");

	return result ? 2 : 0;
}

int main(void)
{
	int result;

	Py_InitializeEx(0);
	result = run_script();
	return result;
}
"""


def test_embedded(measure, python, compile_c):
    """C that runs Python is above it, the interpreter between them is not."""
    if not python.libpython or python.free_threaded:
        pytest.skip("no shared libpython")
    program = compile_c(EMBEDDED, str(python.libpython), f"-Wl,-rpath,{python.libpython.parent}", "-O1", "-fno-inline")
    e = measure(program, options=[RATE])
    assert e.returncode == 0, e.stderr
    nodes = report_json(e.path)["nodes"]
    functions = [n for n in nodes if n["name"] == "f" and n["file"] == "<string>"]
    paths = {tuple(m["name"] for m in path_of(nodes, n["id"])[1:]) for n in functions}
    assert paths == {("main", "run_script", "<module>", "f")}
    assert own(nodes, "f", "<string>") > 0.2e9


COUNTED = """
def tiny(n):
    return n + 1

def many():
    for n in range(3000000):
        tiny(n)

many()
"""


def test_a_function_with_probes_has_one_row(measure, python):
    """Most calls are only counted, and their samples are the caller's probe's: in the flat table they are the function's."""
    if python.free_threaded:
        pytest.skip("native samples only")
    e = measure(python.path, "-c", COUNTED, options=[RATE, "--python=hooks"])
    assert e.returncode == 0, e.stderr
    rows = [row for row in report_json(e.path, "--flat")["rows"] if row["file"] == "<string>"]
    names = [row["name"] for row in rows if row["name"] != "<module>"]
    assert sorted(names) == ["many", "tiny"]
    tiny = next(row for row in rows if row["name"] == "tiny")
    assert tiny["calls"] == 3000000 and tiny["samples"] > 5
