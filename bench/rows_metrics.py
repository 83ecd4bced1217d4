"""What metrics cost: reading them at probes and in samples, and their bytes in the trace."""

import re

from measure import SOURCE, Failed, Middle, Missing, Row, hyb_bytes, interleave, middle, run
from rows_samples import compare, empty, ours

COUNTERS = ["perf::PAGE-FAULTS", "perf::TASK-CLOCK"]
KINDS = {
    "user::nothing": "a counter of the program",
    "rusage::minor_faults": "rusage",
    "memory::resident": "memory in use",
    "io::read_chars": "I/O",
    ",".join(COUNTERS): "2 counters of PAPI",
}


def floors(bench):
    """Reads counters as a program would that does it by itself; NS by name."""
    program = bench.scratch / "counters_floor"
    try:
        run(["cc", "-O2", "-D_GNU_SOURCE", SOURCE / "bench/counters_floor.c", "-o", program, "-lpapi"])
        run([program, *COUNTERS])
    except Failed as error:
        raise Missing(f"PAPI has no {' and '.join(COUNTERS)} here: {error}") from None
    return lambda: run([program, *COUNTERS], cpu=bench.core).values()


def readings(bench):
    """Half of what a region's enter and leave take longer than without metrics is one reading of them."""
    program = [bench.program("regions"), bench.pick(5, 60, 100)]

    def measured(*options):
        return lambda: bench.measured(program, ["--rate", "0", "--demote", "0", *options], cpu=bench.core)[0].values()

    runs = interleave({"floor": floors(bench), "none": measured(),
                       **{names: measured("-m", names) for names in KINDS}}, bench.times(1, 3, 11))
    floor = [r["PAPI_read"] for r in runs["floor"]]
    for names, what in KINDS.items():
        added = [(a["same"] - b["same"]) / 2 for a, b in zip(runs[names], runs["none"])]
        yield Row(f"a reading: {what}", f"{middle(added).value:.0f} ns", f"PAPI_read of 2 {middle(floor).value:.0f} ns",
                  middle([a / b for a, b in zip(added, floor)]))
    for name, what in (("read", "read(2) of one counter of the kernel"), ("rdpmc", "rdpmc of one counter")):
        if name in runs["floor"][0]:
            value = middle([r[name] for r in runs["floor"]])
            yield Row(what, f"{value.value:.0f} ns", f"PAPI_read of 2 {middle(floor).value:.0f} ns",
                      middle([r[name] / f for r, f in zip(runs["floor"], floor)]))
        else:
            yield f"{what}: not available here"


def handler(bench):
    """A sample at depth 20 with two counters beside one without."""
    command = [bench.program("depth"), 20, 0, bench.pick(4, 40, 40), 1]
    source = bench.perf_source()
    ways = {"native": lambda: run(command, cpu=bench.core).values()}
    for rate in (1000, 10000):
        ways["empty", rate] = lambda r=rate: empty(bench, command, source, r)
        for name, options in (("without", []), ("2 counters", ["-m", ",".join(COUNTERS)])):
            ways[name, rate] = lambda r=rate, o=options: ours(bench, command, source, r, o)
    runs = interleave(ways, bench.times(1, 5, 15))
    for rate in (1000, 10000):
        for name in ("without", "2 counters"):
            yield compare(f"a sample at depth 20, {source} at {rate} Hz, {name}", None, runs["native"],
                          runs["empty", rate], runs[name, rate])


def sample_bytes(bench):
    """Of the whole file, and of the records alone, which dump tells."""
    duration = bench.pick("200ms", "10000ms", "60000ms")
    command = [bench.program("steady"), 1, duration]
    for name, options, target in (("no metrics", [], None), ("2 software counters", ["-m", ",".join(COUNTERS)], 16)):
        with bench.experiment() as path:
            _, quality = bench.measured(command, ["--rate", "997", *options], keep=path)
            size, samples = hyb_bytes(path), max(quality["samples"], 1)
            records = trace_bytes(bench, path)
        yield Row(f"997 Hz for {duration}, {name}: records alone", f"{records} bytes, {samples} samples", "",
                  Middle(*[records / samples] * 3), target, unit="bytes a sample")
        yield Row(f"997 Hz for {duration}, {name}: whole file", f"{size} bytes, {samples} samples", "",
                  Middle(*[size / samples] * 3), unit="bytes a sample")


def trace_bytes(bench, path):
    """Bytes in use of the chunks of the trace."""
    text = run([bench.build / "src/dump/hybrid-dump", "--json", path]).out
    return sum(int(used) for used in re.findall(r'"kind":"trace","size":\d+,"used":(\d+)', text))


def metrics(bench):
    yield from readings(bench)
    yield from handler(bench)
    yield from sample_bytes(bench)
