"""What a sample costs at different depths of the stack."""

from measure import Middle, Row, interleave, middle, run

# name: arguments of depth, most that it may cost beside an empty handler
STACKS = {
    "depth 20": (["20", "0"], 1, 1.5),
    "depth 500, a probe 8 frames above": (["500", "1"], 1, 1.5),
    "depth 500, no probe": (["500", "0"], 1, 2.5),
    "depth 20, 64 paths in turn": (["20", "0"], 64, None),
    "depth 500, no probe, 64 paths in turn": (["500", "0"], 64, None),
}


def samples(bench):
    """(ours - native) / (empty - native) of the CPU time of fixed work, each by its own number of samples."""
    names = ["timer"]
    if bench.perf_source() == "perf":
        names.insert(0, "perf")
    else:
        yield "perf_event_open is not permitted here: timers only"
    sources = [(name, rate) for name in names for rate in (1000, 10000)]
    for name, (arguments, paths, target) in STACKS.items():
        command = [bench.program("depth"), *arguments, bench.pick(4, 40, 40), paths]
        ways = {"native": lambda command=command: run(command, cpu=bench.core).values()}
        for source, rate in sources:
            ways["empty", source, rate] = lambda command=command, s=source, r=rate: empty(bench, command, s, r)
            ways["ours", source, rate] = lambda command=command, s=source, r=rate: ours(bench, command, s, r)
        results = interleave(ways, bench.times(1, 5, 15))
        for source, rate in sources:
            yield compare(f"{name}, {source} at {rate} Hz", target, results["native"], results["empty", source, rate],
                          results["ours", source, rate])


def empty(bench, command, source, rate):
    result, count = bench.empty(command, source, rate, cpu=bench.core)
    values = result.values()
    return {"chunk": values["chunk"], "rate": count / values["total"] * 1e9}


def ours(bench, command, source, rate, options=()):
    """Default: profile, and a trace of the samples. The budget is for the user's sake, and would hide the cost."""
    result, quality = bench.measured(command, ["--source", source, "--rate", rate, *options, "--budget", "100"],
                                     cpu=bench.core)
    values, taken = result.values(), quality["samples"] + sum(quality["dropped"].values())
    return {"chunk": values["chunk"], "rate": taken / values["total"] * 1e9,
            "handler": quality["handler_ns"] / max(quality["samples"], 1)}


def compare(what, target, native, floor, measured):
    base = middle([values["chunk"] for values in native]).value
    floors = middle([per_sample(values, base) for values in floor])
    ours = middle([per_sample(values, base) for values in measured])
    handler = middle([values["handler"] for values in measured])
    # The extremes of both, not those of pairs: the runs of a round have nothing in common but the time of day.
    ratio = Middle(*(a / b if b > 0 else float("inf") for a, b in
                     ((ours.value, floors.value), (ours.low, floors.high), (ours.high, floors.low))))
    return Row(what, f"{ours.value / 1e3:.2f} us a sample (handler {handler.value:.0f} ns)",
               f"empty handler {floors.value / 1e3:.2f} us", ratio, target)


def per_sample(values, native_chunk):
    """The CPU time that a sample adds, in ns."""
    return (values["chunk"] - native_chunk) / (values["chunk"] * values["rate"] / 1e9)
