"""What a sample may not do to the interpreter that it strikes, and what it may not stumble over."""

import json
import os
import shutil
import sys

import pytest

from conftest import BUILD, HYBRID_REPORT, HYBRID_RUN, path_of, run
from interpreters import interpreters

every_interpreter = pytest.mark.parametrize("python", interpreters(), ids=str)

# Each has thread-local storage, and allocates memory while the loader is still at it.
EXTENSION = """
#include <stdlib.h>
__thread int local[4];
static void *volatile kept[64];
__attribute__((constructor)) static void begin(void)
{
	for (unsigned i = 0; i < 30000; i++) {
		unsigned k = i * 7 % 64;

		free(kept[k]);
		kept[k] = malloc(3000 + i % 5000);
	}
}
int *where(void)
{
	return local;
}
"""

LOAD = """
import ctypes, sys
for number in range(int(sys.argv[2])):
    ctypes.CDLL("%s/%d.so" % (sys.argv[1], number))
print("loaded")
"""

EXTENSIONS = 150


@every_interpreter
def test_libraries_with_thread_local_storage(python, tmp_path, compile_c, measure):
    """The loader gives a thread its part of them when it next asks for any thread-local variable: not in a sample."""
    if not python.has_module("ctypes"):
        pytest.skip(f"{python} has no ctypes")
    library = compile_c(EXTENSION, "-shared", "-fPIC")
    for number in range(EXTENSIONS):
        shutil.copy(library, tmp_path / f"{number}.so")
    command = [python.path, "-c", LOAD, tmp_path, EXTENSIONS]
    assert run(*command).stdout == "loaded\n"
    e = measure(*command, options=["-q", "--rate", "10000", "--budget", "100", "--source", "timer"])
    assert (e.returncode, e.stdout, e.stderr) == (0, "loaded\n", "")


SUBCLASS = """
import time
class Path(str):
    pass
source = "def hot():\\n  end = time.process_time() + 0.3\\n  while time.process_time() < end:\\n    pass\\nhot()\\n"
exec(compile(source, Path("made.py"), "exec"))
"""


@every_interpreter
def test_a_file_name_of_a_subclass_of_str(python, measure):
    e = measure(python.path, "-c", SUBCLASS, options=["-q", "--rate", "500", "--source", "timer"])
    assert (e.returncode, e.stderr) == (0, "")
    hot = [node for node in e.report()["nodes"] if (node["name"], node.get("file")) == ("hot", "made.py")]
    assert sum(node["samples"] for node in hot) > 10


OTHERS = """
import hashlib, threading
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
CODE = '''
import time
def inner(n):
    end = time.monotonic() + 0.5
    while time.monotonic() < end and not n:
        time.sleep(0.001)
    return n and inner(n - 1)
inner(5)
'''
def spin():
    data = bytes(3000000)
    while threading.active_count() > 1:
        hashlib.sha256(data).digest()
made = [interpreters.create() for _ in range(3)]
threads = [threading.Thread(target=interpreters.run_string, args=(one, CODE)) for one in made]
for thread in threads:
    thread.start()
spin()
for one in made:
    interpreters.destroy(one)
"""


@every_interpreter
def test_sub_interpreters_that_other_threads_run(python, measure):
    """Their states are of the thread that made them, which has frames of its own."""
    e = measure(python.path, "-c", OTHERS, options=["-q", "--rate", "1000", "--source", "perf", "--budget", "100"])
    assert (e.returncode, e.stderr) == (0, "")
    nodes = e.report()["nodes"]
    samples = {True: 0, False: 0}
    for node in nodes:
        if node["samples"] and "libcrypto" in (node["module"] or ""):
            samples["spin" in [outer["name"] for outer in path_of(nodes, node["id"])]] += node["samples"]
    assert samples[True] > 50 and samples[False] <= samples[True] / 20


SPIN = """
def gen(n):
    for i in range(n):
        yield i
def spin():
    return sum(gen(4000000))
spin()
"""


@every_interpreter
def test_reading_memory_is_forbidden(python, tmp_path):
    """A container that refuses process_vm_readv (310): memory is asked for in another way."""
    path = tmp_path / "e"
    ask = "import ctypes, os; print(ctypes.CDLL(None).syscall(310, os.getpid(), *map(ctypes.c_long, [0] * 5)))"
    assert run(sys.executable, "-c", ask).stdout == "0\n"
    assert run(BUILD / "tests/programs/refuse", "310", "1", "--", sys.executable, "-c", ask).stdout == "-1\n"
    result = run(BUILD / "tests/programs/refuse", "310", "1", "--", HYBRID_RUN, "-q", "-r", "1000", "-o", path, python.path,
                 "-c", SPIN)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    report = json.loads(run(HYBRID_REPORT, "--json", path).stdout)
    quality = report["quality"]["python"]
    assert quality["woven"] > 50 and quality["lost"] + quality["unmatched"] <= 1 + quality["woven"] / 50
    assert {"gen", "spin"} <= {node["name"] for node in report["nodes"]}


LONG_END = """
#include <unistd.h>
__attribute__((destructor)) static void end(void)
{
	usleep(30000);
}
"""

BUSY_TO_THE_END = """
import threading, time
def busy():
    while True:
        sum(range(10))
for i in range(4):
    threading.Thread(target=busy, daemon=True).start()
time.sleep(0.1)
print("end")
"""


@every_interpreter
@pytest.mark.parametrize("mode", ["off", "frames", "hooks"])
def test_the_end_is_not_seen_by_daemon_threads(python, mode, measure, compile_c):
    """CPython 3.10 dies of threads that wait for the GIL when its state was freed, if the process then does not end
    at once: what stands for our part of the end takes 30 ms here."""
    library = compile_c(LONG_END, "-shared", "-fPIC")
    for _ in range(3):
        e = measure(python.path, "-c", BUSY_TO_THE_END, options=[f"--python={mode}"],
                    env={**os.environ, "LD_PRELOAD": str(library)})
        assert (e.returncode, e.stdout, e.stderr.count("Fatal")) == (0, "end\n", 0)
