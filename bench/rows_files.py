"""What the files cost: their size, and reading them."""

import contextlib
import re
import time

import load
from measure import Failed, Middle, Row, hyb_bytes, interleave, middle, run


def trace_bytes(bench):
    """The whole file over its samples; a lone figure, since it does not vary from run to run."""
    duration = bench.pick("200ms", "10000ms", "60000ms")
    for name, regions, options, target in (
            ("no regions", 0, [], 10), ("10 regions a second", 10, [], 10), ("1000 regions a second", 1000, [], 10),
            ("1000 regions a second, --trace", 1000, ["--trace"], None)):
        command = [bench.program("steady"), 1, duration, regions]
        yield size_row(bench, f"997 Hz for {duration}, {name}", command, options, target)
    source = load.c_source(bench.scratch / "load.c", bench.pick(5, 150, 200))
    yield size_row(bench, "997 Hz, gcc -O2 on a large file", ["gcc", "-O2", "-S", "-o", "/dev/null", source], [], None)


def size_row(bench, what, command, options, target):
    with bench.experiment() as path:
        _, quality = bench.measured(command, ["--rate", "997", *options], keep=path)
        size, samples = hyb_bytes(path), quality["samples"]
    each = size / max(samples, 1)
    return Row(what, f"{size / 1024:.0f} KiB, {samples} samples", f"records alone {quality['trace_bytes'] / max(samples, 1):.1f} bytes",
               Middle(each, each, each), target, unit="bytes a sample")


def reading(bench):
    """read_events makes records in memory as --trace would, then iterates and adds them up, with the best of three."""
    millions = bench.pick(1, 5, 20)
    runs = interleave({"read_events": lambda: run([bench.program("read_events"), millions], cpu=bench.core).out},
                      bench.times(1, 3, 7))["read_events"]
    names = {"once": "each record once", "complete": "each sample with its time to the end of its region"}
    for mode, what in names.items():
        speeds = middle([float(re.search(rf"^{mode} .* ([\d.]+) million", out, re.M).group(1)) for out in runs])
        yield Row(f"read and merge {millions} million records, {what}", f"{1000 / speeds.value:.0f} ns a record", "",
                  speeds, 10, least=True, unit="million a second")


def report(bench):
    """hybrid-report on an experiment of many records, and on one of many symbols; perf report on the same program."""
    yield from report_records(bench)
    source = load.c_source(bench.scratch / "load.c", bench.pick(5, 150, 200))
    compiler = ["gcc", "-O2", "-S", "-o", "/dev/null", source]
    data = bench.scratch / "perf.data"
    with bench.experiment() as path:
        _, quality = bench.measured(compiler, ["--rate", "997"], keep=path)
        with contextlib.suppress(Failed):  # not installed, or not permitted
            run(["perf", "record", "-q", "-F", "997", "-g", "-o", data, *compiler])
        cache = path / "symbols.cache"

        def cold():
            cache.unlink(missing_ok=True)
            return timed([bench.hybrid_report, path])

        def warm():
            return timed([bench.hybrid_report, path])

        def peer():
            return timed(["perf", "report", "--stdio", "-i", data])

        ways = {"both": lambda: (cold(), warm())}  # warm directly after cold, which made the cache
        if data.exists():
            ways["perf report"] = peer
        runs = interleave(ways, bench.times(1, 3, 7))
    data.unlink(missing_ok=True)
    runs["the first look"], runs["the second look"] = zip(*runs["both"])
    beside = "perf report" if "perf report" in runs else "the first look"
    floor = middle(runs[beside])
    for look in ("the first look", "the second look"):
        yield Row(f"hybrid-report, gcc at 997 Hz ({quality['samples']} samples), {look}",
                  f"{middle(runs[look]).value * 1e3:.0f} ms", f"{beside} {floor.value * 1e3:.0f} ms",
                  middle([a / b for a, b in zip(runs[look], runs[beside])]))


def report_records(bench):
    rounds = bench.pick(5, 100, 400)
    with bench.experiment() as path:
        _, quality = bench.measured([bench.program("regions"), rounds], ["--trace", "--demote", "0"], keep=path)
        times = middle([timed([bench.hybrid_report, path]) for _ in range(bench.times(1, 3, 7))])
        size = hyb_bytes(path)
    records = quality["trace_events"] / 1e6
    # The report is made from the profile counters in the file: the length of the trace should not matter.
    yield Row(f"hybrid-report, {records:.1f} million records, {size / 1048576:.0f} MiB", f"{times.value * 1e3:.0f} ms", "",
              times, unit="s")


def timed(command):
    start = time.perf_counter()
    run(command)
    return time.perf_counter() - start
