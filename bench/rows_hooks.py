"""Hooks mode: Python functions as probes, beside the native run and cProfile of the same session."""

import sys
from pathlib import Path

from measure import Row, interleave, middle, run
from rows_programs import bench_run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/e2e"))

FIB = """
import time
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def program():
    fib({depth})
"""

C_CALLS = """
import time
def program():
    f = abs
    for i in range({loops}): f(i)
"""

# CPU seconds of the part that is measured: starting the interpreter is another row's.
TIMED = """
start = time.thread_time()
program()
print("seconds", time.thread_time() - start)
"""

PROFILED = """
import cProfile
profile = cProfile.Profile()
start = time.thread_time()
profile.runcall(program)
print("seconds", time.thread_time() - start)
"""


def loads(bench):
    """Name to text and the target on CPython 3.11."""
    return {
        "recursive Fibonacci": (FIB.format(depth=bench.pick(10, 30, 32)), 1.7),
        "loop of C calls": (C_CALLS.format(loops=bench.pick(1000, 3000000, 10000000)), 1.1),
    }


def hooks(bench):
    from interpreters import interpreters

    for python in interpreters():
        if not python.free_threaded:
            for name, (text, target) in loads(bench).items():
                yield from rows(bench, python, name, text, target if python.minor == (3, 11) else None)


def rows(bench, python, name, text, target):
    timed, profiled = bench.scratch / "timed.py", bench.scratch / "profiled.py"
    timed.write_text(text + TIMED)
    profiled.write_text(text + PROFILED)
    hooked = ["--python=hooks"]
    ways = {
        "native": lambda: run([python.path, timed], cpu=bench.core),
        "hooks": lambda: bench_run(bench, [python.path, timed], hooked, cpu=bench.core),
        "hooks, all calls timed": lambda: bench_run(bench, [python.path, timed], [*hooked, "--demote=0"], cpu=bench.core),
        "cProfile": lambda: run([python.path, profiled], cpu=bench.core),
    }
    seconds = {way: [r.values()["seconds"] for r in results]
               for way, results in interleave(ways, bench.times(1, 5, 11)).items()}
    for way in ("hooks", "hooks, all calls timed", "cProfile"):
        yield Row(f"{python}, {name}: {way}", f"{middle(seconds[way]).value:.3f} s",
                  f"native {middle(seconds['native']).value:.3f} s",
                  middle([a / b for a, b in zip(seconds[way], seconds["native"])]),
                  target if way == "hooks" else None)
