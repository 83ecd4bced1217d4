"""What the interpreter does for itself, garbage collection and finalisation, has a name in the tree."""

import functools
import re
import shutil

import pytest

from conftest import run
from interpreters import interpreters
from known import names, walk

every_interpreter = pytest.mark.parametrize(
    "python", [python for python in interpreters() if not python.free_threaded], ids=str
)
GC, END = "garbage collection", "finalisation"

COLLECTS = """
import gc, time

class Knot:
    def __init__(self):
        self.me = self

spent = begun = 0
def watch(phase, info):
    global spent, begun
    if phase == "start":
        begun = time.thread_time_ns()
    else:
        spent += time.thread_time_ns() - begun

def asks():
    for i in range(4):
        gc.collect()

def makes():
    for i in range(200000):
        Knot()

def spins():
    for i in range(3000000):
        pass

gc.callbacks.append(watch)
keep = [Knot() for i in range(100000)]
asks()
makes()
spins()
print(spent, time.thread_time_ns())
gc.callbacks.clear()
"""


@functools.lru_cache(maxsize=None)
def has_names(python):
    """Whether functions that are not exported have names in this interpreter."""
    if not shutil.which("nm"):
        return False
    symbols = run("nm", python.libpython or python.path).stdout
    return bool(re.search(r" t (gc_collect_main|collect)\b", symbols))


def samples(tree, wanted):
    """By the names of the path: samples of the nodes for which wanted(path) says yes."""
    return sum(node["samples"] for path, node in walk(tree) if wanted(names(path)))


@pytest.mark.parametrize("mode", ["frames", "hooks"])
@every_interpreter
def test_garbage_collection_is_what_the_interpreter_says(python, mode, measure, tmp_path):
    (tmp_path / "collects.py").write_text(COLLECTS)
    e = measure(python.path, "-I", "-S", "collects.py", options=["--rate", "1000", f"--python={mode}"])
    assert e.returncode == 0, e.stderr
    tree = e.report()["tree"]
    if not has_names(python):
        pytest.skip(f"{python} has no names of functions that are not exported")
    spent, all_ns = map(int, e.stdout.split())
    own = samples(tree, lambda path: any("<module collects>" in name for name in path))
    collecting = samples(tree, lambda path: path[-1] == GC and END not in path)
    # Its callbacks are called from inside, and what was sampled in them is theirs.
    assert collecting / own == pytest.approx(spent / all_ns, abs=0.08), (collecting, own, spent, all_ns)
    for function in ("asks", "makes"):
        assert samples(tree, lambda path: path[-1] == GC and function in path) > 2
    assert not samples(tree, lambda path: GC in path and "spins" in path)
    # It stands for all that is below it, and only once.
    assert all(names(path).count(GC) <= 1 for path, node in walk(tree))


@every_interpreter
def test_finalisation(python, measure, tmp_path):
    """Py_FinalizeEx is exported: its name is known everywhere."""
    (tmp_path / "ends.py").write_text(
        "import atexit\n"
        "def at_the_end():\n    for i in range(3000000):\n        pass\n"
        "atexit.register(at_the_end)\n"
        "keep = [{} for i in range(400000)]\n"
    )
    e = measure(python.path, "-I", "-S", "ends.py", options=["--rate", "1000"])
    assert e.returncode == 0, e.stderr
    tree = e.report()["tree"]
    ends = [names(path) for path, node in walk(tree) if node["name"] == END]
    assert ends and all(path[1] == END for path in ends)  # below nothing but the thread
    assert samples(tree, lambda path: path[1:3] == [END, "at_the_end"]) > 2
    assert samples(tree, lambda path: path[1:2] == [END] and "at_the_end" not in path) > 1
    assert not samples(tree, lambda path: "at_the_end" in path and END not in path)
    internals = e.report("--python-internals")["tree"]
    assert any(node["name"] in ("Py_FinalizeEx", "_Py_Finalize") for _, node in walk(internals))
    assert not any(node["name"] in (GC, END) for _, node in walk(internals))
