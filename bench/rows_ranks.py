"""Reports of many ranks: time and memory against their number, and the work shared by ranks of the report itself."""

import shutil

from measure import Middle, Row, interleave, middle, run

NODES = 500


def ranks(bench):
    """hybrid-report on experiments of NODES nodes a rank; the least of several runs, since others use the machine."""
    sizes = bench.pick([5, 10], [1000, 2000, 5000], [1000, 2000, 5000, 10000])
    times = bench.times(1, 2, 3)
    first = None
    for count in sizes:
        path = made(bench, count)
        runs = [run([bench.hybrid_report, path]) for _ in range(times)]
        shutil.rmtree(path)
        cpu, peak = min(result.cpu for result in runs) / count, min(result.peak for result in runs) / count
        first = first or (cpu, peak)
        what = f"{count} ranks of {NODES} nodes"
        yield growth(f"{what}, CPU time", f"{cpu * count:.2f} s, {cpu * 1e6:.0f} us a rank", first[0], cpu, sizes[0])
        yield growth(f"{what}, memory", f"{peak * count / 1e6:.0f} MB, {peak / 1e3:.0f} kB a rank", first[1], peak, sizes[0])
    yield from shared(bench, sizes[-1])


def made(bench, *numbers):
    path = bench.scratch / "ranks"
    run([bench.program("synthetic"), path, numbers[0], NODES, *numbers[1:]])
    return path


def growth(what, ours, first, each, size):
    ratio = each / first
    return Row(what, ours, f"each of {size} ranks", Middle(ratio, ratio, ratio), 1.25)


def shared(bench, count):
    """The same work by two ranks of the report, and from 16 files, each of many processes."""
    path, files = made(bench, count), bench.scratch / "files"
    run([bench.program("synthetic"), files, count, NODES, min(count, 16)])
    ways = {"one process": lambda: run([bench.hybrid_report, path]),
            "16 files": lambda: run([bench.hybrid_report, files])}
    for mpi, options in {"mpich": [], "openmpi": ["--allow-run-as-root", "--oversubscribe"]}.items():
        if shutil.which(f"mpiexec.{mpi}") and bench.hybrid_report.with_name(f"libhybrid-ranks-{mpi}.so").exists():
            command = ["timeout", "300", f"mpiexec.{mpi}", *options, "-n", 2, bench.hybrid_report, path]
            ways[f"2 ranks, {mpi}"] = lambda command=command: run(command)
    runs = interleave({name: lambda way=way: way().wall for name, way in ways.items()}, bench.times(1, 3, 5))
    alone = runs.pop("one process")
    for name, walls in runs.items():
        yield Row(f"{count} ranks, {name}", f"{min(walls):.2f} s", f"one process, a file each {min(alone):.2f} s",
                  middle([a / b for a, b in zip(walls, alone)]))
    shutil.rmtree(path)
    shutil.rmtree(files)
