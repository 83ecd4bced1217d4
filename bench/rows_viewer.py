"""hybrid-view on what is large: from an experiment to the first tree."""

import shutil

from measure import Middle, Row, run

TARGET = 2000  # ms until the first tree of a million nodes is there


def viewer(bench):
    """A million nodes of a thousand processes, as the viewer opens them; the least of several runs, since others
    use the machine."""
    ranks, nodes = bench.pick((5, 50), (1000, 1000), (1000, 1000))
    path = bench.scratch / "view"
    run([bench.program("synthetic"), path, ranks, nodes])
    takes = [figures(bench, path) for _ in range(bench.times(2, 3, 6))]
    report = min(run([bench.hybrid_report, path]).wall for _ in takes)
    shutil.rmtree(path)
    what = f"{takes[0]['nodes']:,} nodes of {takes[0]['locations']:,} threads"
    # the first one looks names up, the others have them
    for text, runs in (("opened first", takes[:1]), ("opened again", takes[1:])):
        wall, cpu = least(runs, "open_ms"), least(runs, "open_cpu_ms")
        yield Row(f"{what}, {text}", f"{wall} ms, {cpu} ms CPU", f"at most {TARGET} ms", exactly(wall / TARGET), 1)
    yield Row(f"{what}, as hybrid-report", f"{wall} ms", f"hybrid-report {report * 1000:.0f} ms",
              exactly(wall / report / 1000))
    other, peak = least(takes, "mode_ms"), max(take["peak_kib"] for take in takes)
    yield Row(f"{what}, in the other mode", f"{other} ms", f"opening {wall} ms", exactly(other / wall))
    yield Row(f"{what}, memory", f"{peak / 1024:.0f} MiB", "a node", exactly(peak * 1024 / takes[0]["nodes"]), unit="bytes")


def least(takes, name):
    return min(take[name] for take in takes)


def exactly(value):
    return Middle(value, value, value)


def figures(bench, path):
    words = run([bench.program("view_scale"), path]).out.split()
    return dict(zip(words[::2], map(int, words[1::2])))
