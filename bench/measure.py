"""Running programs in turn, and what their times say."""

import contextlib
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]


class Failed(Exception):
    """A row cannot be measured here; the text says why."""


class Missing(Failed):
    """A program that the row needs is not installed."""


@dataclass
class Result:
    wall: float  # seconds, as all times here
    cpu: float  # user and system, with all children
    out: str
    peak: int = 0  # bytes of memory, of the largest process

    def values(self):
        """Lines of a word and a number."""
        return {name: float(value) for name, value in (line.split() for line in self.out.splitlines())}


def run(command, env=None, cpu=None, ok=(0,)):
    """Runs a command to its end, on one core if `cpu` is given."""
    command = [str(word) for word in command]
    path = shutil.which(command[0])
    if not path:
        raise Missing(f"{command[0]} is not installed")
    allowed = os.sched_getaffinity(0)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        null = os.open(os.devnull, os.O_RDONLY)
        actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
                   (os.POSIX_SPAWN_DUP2, err.fileno(), 2)]
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        start = time.perf_counter()
        pid = os.posix_spawn(path, command, {**os.environ, **(env or {})}, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        wall = time.perf_counter() - start
        os.sched_setaffinity(0, allowed)
        os.close(null)
        out.seek(0)
        err.seek(0)
        code = os.waitstatus_to_exitcode(status)
        if code not in ok:
            raise Failed(f"{' '.join(command)}: ended with {code}: {err.read().decode(errors='replace')[-300:].strip()}")
        return Result(wall, usage.ru_utime + usage.ru_stime, out.read().decode(errors="replace"),
                      usage.ru_maxrss * 1024)


def interleave(ways, times):
    """Calls each of the ways (name to function) `times` times, all once in each round, in changing order.

    Returns name to list of what they returned.
    """
    results = {name: [] for name in ways}
    order = list(ways)
    shuffle = random.Random(1).shuffle
    for _ in range(times):
        shuffle(order)
        for name in order:
            results[name].append(ways[name]())
    return results


@dataclass
class Middle:
    """A median, and the range that holds the true one with 95 % confidence (by order statistics)."""

    value: float
    low: float
    high: float


def middle(values):
    values = sorted(values)
    count = len(values)
    # The share of cases in which the true median lies outside of [values[k], values[-1 - k]].
    outside, term, k = 0.0, 0.5**count, 0
    while k < (count - 1) // 2:
        outside += 2 * term
        if outside > 0.05:
            break
        term *= (count - k) / (k + 1)
        k += 1
    k = max(k - 1, 0)
    return Middle(statistics.median(values), values[k], values[-1 - k])


@dataclass
class Row:
    """A line of the table. `target`: the most that `ratio` may be (the least, if `least`), None for none."""

    what: str
    ours: str
    against: str
    ratio: Middle
    target: float = None
    least: bool = False
    unit: str = "x"

    def verdict(self):
        if self.target is None:
            return ""
        if self.least:
            good, unsure = self.ratio.value >= self.target, self.ratio.low < self.target <= self.ratio.high
        else:
            good, unsure = self.ratio.value <= self.target, self.ratio.low <= self.target < self.ratio.high
        return ("PASS" if good else "MISS") + (" (noise)" if unsure else "")

    def cells(self):
        target = "" if self.target is None else f"{'>=' if self.least else '<='} {self.target:g}"
        return [self.what, self.ours, self.against, f"{self.ratio.value:.4g} {self.unit}",
                f"{self.ratio.low:.4g} .. {self.ratio.high:.4g}", target, self.verdict()]


class Bench:
    """The commands of a build, a place for scratch files, and how thorough to be."""

    def __init__(self, build, size, runs=None):
        self.build = Path(build).resolve()
        self.size = size  # smoke, quick or full
        self.runs_wanted = runs
        self.core = max(os.sched_getaffinity(0))  # interrupts of devices tend to the first
        self.hybrid_run = self.build / "src/run/hybrid-run"
        self.hybrid_report = self.build / "src/report/hybrid-report"
        for path in (self.hybrid_run, self.hybrid_report, self.program("regions")):
            if not path.exists():
                raise Failed(f"{path}: not there; build it first, or name the build directory with --build")
        self.scratch = Path(tempfile.mkdtemp(prefix="hybrid-bench-"))

    def program(self, name):
        return self.build / "bench" / name

    def pick(self, smoke, quick, full):
        return {"smoke": smoke, "quick": quick, "full": full}[self.size]

    def times(self, smoke, quick, full):
        """How often to repeat."""
        return self.runs_wanted or self.pick(smoke, quick, full)

    @contextlib.contextmanager
    def experiment(self):
        """A directory for an experiment, which goes away afterwards."""
        path = Path(tempfile.mkdtemp(dir=self.scratch)) / "exp"
        yield path
        shutil.rmtree(path.parent)

    def measured(self, command, options=(), cpu=None, env=None, keep=None):
        """Runs a command under hybrid-run. Returns Result and quality block; `keep`: where the experiment stays."""
        with self.experiment() as path:
            directory = keep or path
            result = run([self.hybrid_run, "-q", "-o", directory, *options, *command], cpu=cpu, env=env)
            return result, self.quality(directory)

    def quality(self, directory):
        text = run([self.hybrid_report, "--json", "--depth", "1", directory]).out
        return json.loads(text)["quality"]

    def empty(self, command, source, rate, cpu=None):
        """Runs a command with a handler that does nothing. Returns Result and number of interrupts."""
        count = self.scratch / "interrupts"
        count.unlink(missing_ok=True)
        result = run(command, cpu=cpu, env={
            "LD_PRELOAD": str(self.program("libempty_handler.so")), "EMPTY_HANDLER": f"{source}:{rate}",
            "EMPTY_HANDLER_COUNT": str(count)})
        return result, sum(int(line) for line in count.read_text().split())

    def perf_source(self):
        """The source that hybrid-run takes for rates above the tick's: perf where it is permitted."""
        try:
            self.empty(["true"], "perf", 100)
        except Failed:
            return "timer"
        return "perf"

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def hyb_bytes(directory):
    return sum(path.stat().st_size for path in Path(directory).glob("*.hyb"))
