"""Converting a trace to OTF2, beside libotf2 that writes as many events and does nothing else."""

import shutil

from measure import SOURCE, Missing, Row, interleave, middle, run

THREADS = 4


def floor_program(bench):
    flags = run(["otf2-config", "--cflags", "--ldflags", "--libs"]).out.split()
    program = bench.scratch / "otf2_floor"
    run(["cc", "-O2", SOURCE / "bench/otf2_floor.c", "-o", program, *flags])
    return program


def otf2(bench):
    """A mix as --trace writes it: enter, two samples, leave, which are six events of OTF2: 200 million are 1 GB."""
    convert = bench.build / "converters/hybrid-convert"
    if not convert.exists():
        raise Missing(f"{convert} is not built: no libotf2 here")
    floor = floor_program(bench)
    millions = bench.pick(1, 20, 200)
    source, target = bench.scratch / "trace.hyb", bench.scratch / "otf2"
    run([bench.program("read_events"), millions, THREADS, source])

    def away(way):
        shutil.rmtree(target, ignore_errors=True)
        result = way()
        shutil.rmtree(target)
        return result

    ways = {
        "ours": lambda: away(lambda: run([convert, source, "--to", "otf2", "-o", target])),
        "floor": lambda: away(lambda: run([floor, target, millions * 1500000, THREADS])),
    }
    runs = interleave(ways, bench.times(1, 3, 5))
    size = source.stat().st_size / 1e9
    source.unlink()
    ours, least = (middle([r.cpu for r in runs[name]]) for name in ways)
    yield Row(f"hybrid-convert, {millions} million records of {size:.2f} GB, {THREADS} threads",
              f"{ours.value:.1f} s of CPU", f"libotf2 alone {least.value:.1f} s",
              middle([millions / r.cpu for r in runs["ours"]]), 2, least=True, unit="million records a second and core")
    yield Row("the same beside the floor", f"{ours.value:.1f} s", f"libotf2 alone {least.value:.1f} s",
              middle([a.cpu / b.cpu for a, b in zip(runs["ours"], runs["floor"])]))
    wall = middle([r.wall for r in runs["ours"]])
    yield Row("the same, wall time", f"{wall.value:.1f} s", "", middle([millions / r.wall for r in runs["ours"]]),
              unit="million records a second")
    peak = middle([r.peak / 1e6 for r in runs["ours"]])
    yield Row("the same, memory", f"{peak.value:.0f} MB", f"libotf2 alone {runs['floor'][0].peak / 1e6:.0f} MB", peak, 500,
              unit="MB")
