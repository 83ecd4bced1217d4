"""What hybrid-report says that measuring cost, beside what it did cost: CPU time with and without, of whole programs."""

import sys
from pathlib import Path

from measure import Middle, Row, interleave, middle, run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/e2e"))

TIMED = """
import time
def main():
    start = time.process_time()
    program()
    print("seconds", time.process_time() - start)
main()
"""

PYTHONS = {
    "recursive Fibonacci": """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def program():
    fib({fib})
""",
    "methods of small objects": """
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def plus(self, other):
        return Point(self.x + other.x, self.y + other.y)
def total(points):
    sum = Point(0, 0)
    for point in points:
        sum = sum.plus(point)
    return sum
def program():
    points = [Point(i, -i) for i in range(1000)]
    for i in range({rounds}):
        total(points)
""",
    "longer functions": """
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
def words(text):
    counts = {{}}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts
def program():
    for i in range(1, {loops}):
        collatz(i)
        words("one two three two one")
""",
}


def cost(bench):
    """Yields rows: our figure over the measured one, on whichever side of 1."""
    from interpreters import interpreters

    yield from compiled(bench)
    yield from sampled(bench)
    for python in interpreters():
        if not python.free_threaded:
            yield from hooked(bench, python)


def compiled(bench):
    calls = bench.pick(10000, 3000000, 10000000)
    for kind in ("regions", "tiny", "medium"):
        ways = {"timed": ["--demote=0"], "demoted": [], "timed, --trace": ["--demote=0", "--trace"],
                "demoted, --trace": ["--trace"]}
        program = bench.program("cost" if kind == "regions" else "cost_functions")
        if kind != "regions":
            left_out = bench.scratch / "filter"
            left_out.write_text("exclude *\n")
            ways["left out"] = ["--filter", left_out]
        yield from rows(bench, f"{calls} calls, {kind}", [program, kind, calls], ways)


def sampled(bench):
    calls = bench.pick(10000, 20000000, 60000000)
    ways = {}
    for source, rate, budget in (("cpu", 250, 5), ("perf", 1000, 100), ("perf", 10000, 100), ("perf", 10000, 5),
                                 ("timer", 10000, 100), ("timer", 10000, 5)):
        ways[f"--source {source} -r {rate} --budget {budget}"] = ["--source", source, "-r", rate, "--budget", budget]
    yield from rows(bench, "no probes", [bench.program("cost"), "plain", calls], ways)


def hooked(bench, python):
    sizes = {"fib": bench.pick(10, 27, 30), "rounds": bench.pick(2, 300, 1000), "loops": bench.pick(10, 20000, 60000)}
    for name, text in PYTHONS.items():
        script = bench.scratch / "cost.py"
        script.write_text(text.format(**sizes) + TIMED)
        yield from rows(bench, f"{python}, {name}", [python.path, script],
                        {"timed": ["--python=hooks", "--demote=0"], "demoted": ["--python=hooks"]})


def rows(bench, what, command, options):
    ways = {"native": lambda: (run(command, cpu=bench.core), None)}
    for name, words in options.items():
        ways[name] = lambda words=words: bench.measured(command, words, cpu=bench.core)
    runs = interleave(ways, bench.times(1, 5, 9))
    native = middle([result.values()["seconds"] for result, _ in runs["native"]]).value
    for name in options:
        more = [result.values()["seconds"] - native for result, _ in runs[name]]
        said = [quality["cost_ns"] / 1e9 for _, quality in runs[name]]
        yield row(f"{what}: {name}", native, middle(more), middle(said), runs[name][0][1])


def row(what, native, more, said, quality):
    """The ratio is how far they are apart: 1.5 is half too much, or a third too little."""
    apart = [off(a, b) for a, b in ((said.value, more.value), (said.low, more.high), (said.high, more.low))]
    return Row(f"{what}, {100 * more.value / native:.0f} % more", f"{said.value:.4f} s said",
               f"{more.value:.4f} s more than {native:.3f} s", Middle(apart[0], min(apart), max(apart)), 1.5)


def off(ours, truth):
    return max(ours / truth, truth / ours) if ours > 0 and truth > 0 else float("inf")
