"""A program of many tiny functions by how much of it has probes, and by the rate of samples (paper 003, table I)."""

from measure import SOURCE, Row, interleave, middle, run
from rows_programs import bench_run, peers

EXAMPLE = SOURCE / "examples/tiny"
TINY = "interval,length,middle,left,right,square,wave,panel,integrate"
HOOKS = "-finstrument-functions"
# Name: flags of the compiler, options of hybrid-run, and by how much shorter the program is made.
WAYS = {
    "none": ([], [], 1),
    "main only": (["-DPROBE_MAIN"], [], 1),
    "limited by the compiler": ([HOOKS, f"{HOOKS}-exclude-function-list={TINY}"], [], 1),
    "limited by --filter": ([HOOKS], ["--filter", EXAMPLE / "limited.filter"], 5),
    "full": ([HOOKS], ["--demote", "0"], 20),
    "full, default --demote": ([HOOKS], [], 20),
}
RATES = (500, 1000, 2000)


def compiled(bench, name, flags):
    target = bench.scratch / ("tiny" + "".join(c for c in name if c.isalpha()))
    run(["c++", "-O2", "-g", "-pthread", *flags, f"-I{SOURCE}/include", EXAMPLE / "tiny.cc", "-o", target])
    return target


def tiny(bench):
    rounds = bench.pick(40, 8000, 20000)
    programs = {name: compiled(bench, name, flags) for name, (flags, _, _) in WAYS.items()}
    ways = {("native", None): lambda: each(run([programs["none"], rounds]), rounds)}
    for name, (_, options, shorter) in WAYS.items():
        for rate in (0, *RATES):
            command = [programs[name], rounds // shorter]
            options_now = [*options, "--rate", rate]
            ways[name, rate] = lambda c=command, o=options_now: each(bench_run(bench, c, o), c[1])
    for rate in RATES:
        for name, way in peers(bench, [programs["none"], rounds], None, rate).items():
            ways[name, rate] = lambda way=way: each(way(), rounds)
    results = interleave(ways, bench.times(1, 3, 9))
    native = results.pop(("native", None))
    for (name, rate), ours in results.items():
        yield Row(f"{name}, {f'{rate} Hz' if rate else 'no samples'}", f"{middle(ours).value * 1e6:.1f} us a round",
                  f"native {middle(native).value * 1e6:.1f} us", middle([a / b for a, b in zip(ours, native)]))
    for name, (_, options, shorter) in WAYS.items():
        yield counts(bench, name, [programs[name], rounds // shorter], [*options, "--rate", 1000])


def each(result, rounds):
    """CPU time of one round of the program."""
    return result.cpu / rounds


def counts(bench, name, command, options):
    _, quality = bench.measured(command, options)
    return (f"{name}, 1000 Hz: {quality['probe_calls']} calls of probes, {quality['samples']} samples, "
            f"{quality['dropped']['in_probe']} more inside the measurement itself, "
            f"{quality['file_bytes'] / 1024:.0f} KiB")
