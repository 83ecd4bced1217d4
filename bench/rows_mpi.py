"""MPI programs of two ranks."""

import os
import shutil

from measure import SOURCE, Failed, Middle, Missing, Row, hyb_bytes, interleave, middle, run

# Name to options of its mpiexec. Each rank stays on its processor, so that runs differ in nothing but us.
MPIS = {"mpich": ["-bind-to", "hwthread"], "openmpi": ["--oversubscribe", "--bind-to", "hwthread"]}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Mpi:
    """An installed MPI: its compiler and its launcher."""

    def __init__(self, bench, name):
        self.bench, self.name = bench, name
        self.compiler = f"mpicc.{name}"
        self.launcher = ["timeout", "300", f"mpiexec.{name}", *MPIS[name]]

    def compile(self, source, *flags):
        target = self.bench.scratch / f"{source.partition('.')[0]}.{self.name}"
        run([self.compiler, "-O2", "-fomit-frame-pointer", *flags, SOURCE / "bench" / source, "-o", target, "-lm"])
        return target

    def run(self, command, ranks=2):
        return run([*self.launcher, "-n", ranks, *command], env=AS_ROOT)

    def native(self, *command, preload=None, ranks=2):
        preload = ["env", f"LD_PRELOAD={preload}"] if preload else []
        return self.run([*preload, *command], ranks)

    def measured(self, *command, options=(), ranks=2):
        """Returns Result and the experiment's quality block."""
        with self.bench.experiment() as path:
            measure = [self.bench.hybrid_run, "-q", "-o", path, *options]
            return self.run([*measure, *command], ranks), self.bench.quality(path)


def installed(bench):
    if len(os.sched_getaffinity(0)) < 2:
        raise Missing("two ranks need two processors")
    found = [Mpi(bench, name) for name in MPIS if shutil.which(f"mpicc.{name}") and shutil.which(f"mpiexec.{name}")]
    if not found:
        raise Missing("neither mpicc.mpich nor mpicc.openmpi is installed")
    return found


def pingpong(bench):
    """Half a round trip of 8 bytes. The fastest of all batches counts, of runs that are short and take turns."""
    for mpi in installed(bench):
        command = [mpi.compile("pingpong.c"), bench.pick(3, 100, 200), bench.pick(10, 1000, 1000)]
        floor = mpi.compile("mpi_floor.c", "-shared", "-fPIC")
        ways = {
            "native": lambda: mpi.native(*command).values(),
            "one call more, two clock reads": lambda: mpi.native(*command, preload=floor).values(),
            "--mpi=off": lambda: mpi.measured(*command, options=["--mpi=off"])[0].values(),
            "profile": lambda: mpi.measured(*command)[0].values(),
            "--trace": lambda: mpi.measured(*command, options=["--trace"])[0].values(),
        }
        runs = interleave(ways, bench.times(2, 12, 40))
        targets = {"profile": 1.05, "--trace": 1.10}
        for way in list(ways)[1:]:
            yield fastest(f"{mpi.name}: {way}", runs[way], runs["native"], targets.get(way))
    yield "the ratio is of the fastest batches of all runs; the range, that of thirds of the runs"


def fastest(what, ours, native, target):
    ours, native = [r["fastest"] for r in ours], [r["fastest"] for r in native]
    parts = [min(ours[i::3]) / min(native[i::3]) for i in range(min(3, len(ours)))]
    return Row(what, f"{min(ours):.1f} ns", f"native {min(native):.1f} ns",
               Middle(min(ours) / min(native), min(parts), max(parts)), target)


def kernels(bench):
    """Seconds of the slower rank, of runs that take turns; medians."""
    for mpi in installed(bench):
        program = mpi.compile("kernels.c")
        for name, repeat in {"CG": 60, "MG": 500, "LU": 200, "IS": 120}.items():
            command = [program, name, bench.pick(2, repeat // 2, repeat)]
            runs = interleave({
                "native": lambda c=command: mpi.native(*c).values(),
                "default": lambda c=command: mpi.measured(*c)[0].values(),
                "--trace": lambda c=command: mpi.measured(*c, options=["--trace"])[0].values(),
            }, bench.times(1, 5, 15))
            if len({r["result"] for results in runs.values() for r in results}) != 1:
                raise Failed(f"{name}: the results differ")
            seconds = {way: [r["seconds"] for r in results] for way, results in runs.items()}
            for way in ("default", "--trace"):
                yield Row(f"{mpi.name}, {name}: {way}", f"{middle(seconds[way]).value:.3f} s",
                          f"native {middle(seconds['native']).value:.3f} s",
                          middle([a / b for a, b in zip(seconds[way], seconds["native"])]), 1.01)


def messages(bench):
    """What a call adds in one process, and what a message adds to the trace."""
    for mpi in installed(bench):
        program, batches = mpi.compile("mpi_calls.c"), bench.pick(2, 200, 1000)
        ways = {
            "native": lambda: mpi.native(program, batches, ranks=1).values(),
            "profile": lambda: mpi.measured(program, batches, ranks=1, options=["--rate", "0"])[0].values(),
            "--trace": lambda: mpi.measured(program, batches, ranks=1, options=["--rate", "0", "--trace"])[0].values(),
        }
        runs = interleave(ways, bench.times(1, 5, 11))
        for kind, calls in {"MPI_Iprobe": 1, "MPI_Bcast": 1, "message": 3}.items():
            native = min(r[kind] for r in runs["native"])
            what = "MPI_Irecv, MPI_Send, MPI_Wait: each" if calls == 3 else kind
            for way in ("profile", "--trace"):
                added = [(r[kind] - native) / calls for r in runs[way]]
                yield Row(f"{mpi.name}, {way}: {what}", f"{min(r[kind] for r in runs[way]) / calls:.1f} ns",
                          f"native {native / calls:.1f} ns", Middle(min(added), min(added), max(added)), unit="ns more")
        yield trace_bytes(bench, mpi)


PYTHON = """
import sys, time
from mpi4py import MPI

def batch(call):
    start = time.perf_counter()
    for _ in range(1000): call()
    return time.perf_counter() - start

def below(depth, call):
    return below(depth - 1, call) if depth else batch(call)

for name, depth in ("Get_rank", 0), ("Iprobe", 0), ("Iprobe", 20):
    call = getattr(MPI.COMM_SELF, name)
    best = min(below(depth, call) for _ in range(int(sys.argv[1])))
    print("%s_%d %.1f" % (name, depth, best * 1e6))
"""


def python(bench):
    """What a call of mpi4py's adds in one process, with the frames of its loop and with 20 more."""
    command = ["/usr/bin/python3", bench.scratch / "calls_mpi.py", bench.pick(2, 200, 1000)]
    command[1].write_text(PYTHON)
    found = run(["/usr/bin/python3", "-c", "import mpi4py.MPI as m; print(m.Get_library_version())"], env=AS_ROOT,
                ok=(0, 1))
    if not found.out:
        raise Missing("mpi4py is not installed for /usr/bin/python3")
    mpi = Mpi(bench, "openmpi" if "Open MPI" in found.out else "mpich")
    runs = interleave({
        "native": lambda: mpi.native(*command, ranks=1).values(),
        "ours": lambda: mpi.measured(*command, ranks=1, options=["--rate", "0"])[0].values(),
    }, bench.times(1, 5, 11))
    for kind, what in {"Get_rank_0": "Get_rank", "Iprobe_0": "Iprobe", "Iprobe_20": "Iprobe, 20 calls down"}.items():
        ours, native = (min(r[kind] for r in runs[way]) for way in ("ours", "native"))
        added = [r[kind] - native for r in runs["ours"]]
        yield Row(f"mpi4py, {mpi.name}: {what}", f"{ours:.1f} ns", f"native {native:.1f} ns",
                  Middle(min(added), min(added), max(added)), None if kind == "Iprobe_20" else 200, unit="ns more")


def trace_bytes(bench, mpi):
    """ENTER, SEND or RECV, LEAVE and all around them, by two runs that differ in nothing but their messages."""
    program, few, many = mpi.compile("pingpong.c"), bench.pick(10, 20, 40), bench.pick(110, 420, 840)

    def size(batches):
        with bench.experiment() as path:
            mpi.run([bench.hybrid_run, "-q", "-o", path, "--rate", "0", "--trace", program, batches, 1000])
            return hyb_bytes(path)

    each = (size(many) - size(few)) / ((many - few) * 1000 * 4)
    return Row(f"{mpi.name}, --trace: a call that sends or receives", f"{each:.1f} bytes", "", Middle(each, each, each),
               24, unit="bytes")
