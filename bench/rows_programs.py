"""Whole programs: starting them, their memory, their time."""

import tempfile
from pathlib import Path

import load
from measure import Failed, Missing, Row, interleave, middle, run


def start(bench):
    runs = interleave({"true": lambda: run(["true"]), "ours": lambda: bench_run(bench, ["true"])},
                      bench.times(3, 30, 100))
    for what, get in (("wall", lambda r: r.wall), ("CPU", lambda r: r.cpu)):
        ours, native = middle([get(r) for r in runs["ours"]]), middle([get(r) for r in runs["true"]])
        more = middle([(get(a) - get(b)) * 1e3 for a, b in zip(runs["ours"], runs["true"])])
        yield Row(f"hybrid-run true, {what} time", f"{ours.value * 1e3:.2f} ms", f"true {native.value * 1e3:.2f} ms", more,
                  10 if what == "wall" else None, unit="ms more")


def bench_run(bench, command, options=(), cpu=None):
    """Under hybrid-run; its result is thrown away."""
    with bench.experiment() as path:
        return run([bench.hybrid_run, "-q", "-o", path, *options, *command], cpu=cpu)


def memory(bench):
    """Resident memory while all threads are there, in KiB, after 200 ms of work each."""
    many, duration = 32, bench.pick("20ms", "200ms", "200ms")
    ways = {}
    for threads in (1, many):
        command = [bench.program("steady"), threads, duration, 10]
        ways["native", threads] = lambda command=command: run(command).values()
        for name, options in (("default", []), ("--trace, 997 Hz", ["--trace", "--rate", "997"])):
            ways[name, threads] = lambda command=command, o=options: bench.measured(command, o)[0].values()
    runs = interleave(ways, bench.times(1, 3, 5))
    native, native_many = (middle([r["rss"] for r in runs["native", n]]).value for n in (1, many))
    for name in ("default", "--trace, 997 Hz"):
        one, all_of_them = ([r["rss"] for r in runs[name, n]] for n in (1, many))
        yield Row(f"one thread, {name}", f"{middle(one).value:.0f} KiB", f"native {native:.0f} KiB",
                  middle([rss - native for rss in one]), 4096 + 128, unit="KiB more")
        yield Row(f"each of 31 threads more, {name}", f"{middle(all_of_them).value:.0f} KiB",
                  f"native {native_many:.0f} KiB",
                  middle([((b - native_many) - (a - native)) / (many - 1) for a, b in zip(one, all_of_them)]), 128,
                  unit="KiB a thread")
    helper = middle([r["parent_rss"] for r in runs["default", 1]])
    yield f"hybrid-run itself, which waits meanwhile: {helper.value:.0f} KiB resident"


PROFILER = "/usr/lib/x86_64-linux-gnu/libprofiler.so.0"  # gperftools


def commands(bench):
    """Name to command and whether it stays on one core."""
    source = load.c_source(bench.scratch / "load.c", bench.pick(5, 150, 200))
    script = load.sql(bench.scratch / "load.sql", bench.pick(1000, 150000, 400000))
    text = load.text(bench.scratch / "load.txt", bench.pick(20000, 1500000, 4000000))
    return {
        "gcc -O2": (["gcc", "-O2", "-S", "-o", "/dev/null", source], bench.core),
        "sqlite3": (["sqlite3", ":memory:", f".read {script}"], bench.core),
        "xz -T1": (["xz", "-T1", "-k", "-c", "-5", text], bench.core),
        "2 threads": ([bench.program("steady"), 2, bench.pick(1000, 60000, 400000)], None),
    }


def peers(bench, command, core, rate=997):
    """perf record and gperftools at that rate, where they are installed."""
    def perf():
        with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
            return run(["perf", "record", "-q", "-F", rate, "-g", "-o", f"{folder}/perf.data", *command], cpu=core)

    def gperftools():
        with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
            return run(command, cpu=core, env={"LD_PRELOAD": PROFILER, "CPUPROFILE": f"{folder}/prof",
                                               "CPUPROFILE_FREQUENCY": str(rate)})

    found = {"gperftools": gperftools} if Path(PROFILER).exists() else {}
    try:
        perf()
        found["perf record -g"] = perf
    except Failed:  # not installed, or not permitted
        pass
    return found


def programs(bench):
    for name, (command, core) in commands(bench).items():
        try:
            yield from program(bench, name, command, core)
        except Missing as error:
            yield f"{name}: {error}"


def program(bench, name, command, core, target=1.005):
    run(command, cpu=core)  # its files are in memory from here on
    source = bench.perf_source()
    ways = {
        "native": lambda: run(command, cpu=core),
        "default": lambda: bench_run(bench, command, cpu=core),
        "997 Hz": lambda: bench_run(bench, command, ["--rate", "997", "--source", source], cpu=core),
        "empty handler": lambda: bench.empty(command, source, 997, cpu=core)[0],
        **{f"{name} at 997 Hz": way for name, way in peers(bench, command, core).items()},
    }
    yield from program_rows(name, interleave(ways, bench.times(1, 5, 15)), target)
    for options in ([], ["--rate", "997", "--source", source]):
        _, quality = bench.measured(command, options, cpu=core)
        yield (f"{name}, {quality['rate_wanted']:.0f} Hz: {quality['samples']} samples, "
               f"{quality['handler_ns'] / max(quality['samples'], 1):.0f} ns in the handler each, "
               f"{100 * quality['handler_ns'] / max(quality['cpu_ns'], 1):.3f} % of the program's CPU time")


def program_rows(name, runs, most):
    def beside(what, floor, target=None, time="cpu"):
        ours, base = [getattr(r, time) for r in runs[what]], [getattr(r, time) for r in runs[floor]]
        return Row(f"{name}: {what}, {time} time", f"{middle(ours).value:.3f} s",
                   f"{floor} {middle(base).value:.3f} s", middle([a / b for a, b in zip(ours, base)]), target)

    yield beside("default", "native", most)
    yield beside("default", "native", time="wall")
    yield beside("997 Hz", "empty handler", most)
    yield beside("997 Hz", "empty handler", time="wall")
    for what in runs:
        if what not in ("native", "default"):
            yield beside(what, "native")
