"""The programs of known loads. Each computes in functions fa, fb, fc, fd, and writes their CPU time to the file $TRUTH."""

import ctypes.util
import glob
import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


class Missing(Exception):
    """What a program needs is not installed here; the text says what."""


@dataclass
class Program:
    """words: the command, with {s} for the seconds of CPU time that it takes as its argument; the first word is a
    source file here that is compiled, pythonX.Y, or a program of the machine. more: what each of those seconds is
    multiplied with. launcher: words before hybrid-run."""

    name: str
    words: str
    modules: dict = field(default_factory=dict)  # function -> library whose code all counts as that function
    whole: dict = field(default_factory=dict)  # function -> the one that stands for it in the report
    more: float = 1.0
    launcher: str = ""

    def command(self, seconds):
        words = self.words.format(s=f"{seconds * self.more:.3f}").split()
        return [*find(words[0]), *(str(FOLDER / word) if word.endswith(".py") else word for word in words[1:])]

    def launch(self):
        words = self.launcher.split()
        return [*find(words[0]), *words[1:]] if words else []


_made = {}
_lock = threading.Lock()  # programs can be measured by several threads
_folder = None


def compile_c(name, *flags, source=None, compiler="gcc"):
    """The path of the executable (or library) `name` that a file here makes."""
    global _folder
    with _lock:
        if name not in _made:
            if not shutil.which(compiler):
                raise Missing(f"no {compiler}")
            _folder = _folder or tempfile.TemporaryDirectory(prefix="truth-")
            path = Path(_folder.name) / name
            words = [compiler, "-O2", "-g", "-Wall", "-Wextra", "-pthread", str(FOLDER / f"{source or name}.c"), "-o", str(path),
                     *map(str, flags)]
            result = subprocess.run(words, stderr=subprocess.PIPE, text=True)
            if result.returncode:
                raise Missing(f"{source or name}.c does not compile: {result.stderr.strip().splitlines()[-1]}")
            _made[name] = path
    return _made[name]


def early():
    library = compile_c("libearly.so", "-shared", "-fPIC", "-DLIBRARY", source="early")
    return compile_c("early", library, f"-Wl,-rpath,{library.parent}")


def blas():
    if not ctypes.util.find_library("openblas") and not glob.glob("/usr/lib/*/libopenblas.so.0"):
        raise Missing("no OpenBLAS")
    return compile_c("blas")


COMPILED = {
    "loads": lambda: compile_c("loads"),
    "openmp": lambda: compile_c("openmp", "-fopenmp"),
    "early": early,
    "blas": blas,
    "mpi.mpich": lambda: compile_c("mpi.mpich", source="mpi", compiler="mpicc.mpich"),
    "mpi.openmpi": lambda: compile_c("mpi.openmpi", source="mpi", compiler="mpicc.openmpi"),
}


def find(word):
    """A command: words that begin it."""
    if word in COMPILED:
        return [str(COMPILED[word]())]
    found = [shutil.which(word), *glob.glob(os.path.expanduser(f"~/.pyenv/versions/{word.replace('python', '')}.*/bin/python"))]
    path = next((path for path in found if path and "/shims/" not in path), None)
    if not path:
        raise Missing(f"no {word}")
    return [path]


# The known example: fb in bursts of 1 ms with sleeps of 3 ms, whose cycle is the tick of a kernel with 250 Hz.
PROGRAMS = [
    Program("cpu 5:3:2", "loads turns {s} 5000 3000 2000"),
    Program("cpu 20 ms", "loads turns {s} 10000 10000 0"),
    Program("cpu at tick", "loads turns {s} 1000 3000 0"),
    Program("cpu random", "loads random {s}"),
    Program("known example", "loads bursts {s} 10 1000 3000 10000 0"),
    Program("cycle below tick", "loads bursts {s} 10 1000 2700 10000 0"),
    Program("cycle above tick", "loads bursts {s} 10 1000 3400 10000 0"),
    Program("burst 0.1, 1 ms", "loads bursts {s} 100 100 900 10000 0"),
    Program("burst 0.1, 4 ms", "loads bursts {s} 20 100 3900 2000 0", more=0.4),  # sleeps 20 times as long as it runs
    Program("burst 0.5, 4 ms", "loads bursts {s} 10 500 3500 5000 0"),
    Program("burst 2, 4 ms", "loads bursts {s} 5 2000 2000 10000 0"),
    Program("burst 3, 8 ms", "loads bursts {s} 4 3000 5000 4000 4000"),
    Program("burst 5, 8 ms", "loads bursts {s} 3 5000 3000 15000 0"),
    Program("burst 20, 24 ms", "loads bursts {s} 1 20000 4000 10000 2000"),
    Program("two threads", "loads threads {s} 10000 0 1000 3000", more=0.75),
    Program("four threads", "loads threads {s} 10000 0 1000 1000 500 3500 5000 3000", more=0.5),
    Program("eight threads", "loads threads {s} 9000 0 1000 3000 2000 2000 300 700 4000 4000 100 900 700 3300 20000 9000",
            more=0.3),
    Program("one consumer", "loads producers {s} 1 500 1000"),
    Program("three consumers", "loads producers {s} 3 300 900"),
    Program("short threads", "loads short_threads {s} 200 300", whole={"fb": "short_thread"}),
    Program("itimer", "loads itimer {s} 4000 1000 10 10000"),
    Program("timerfd", "loads timerfd {s} 4000 1000 10 10000"),
    Program("files", "loads files {s} 1000 500", more=0.5, whole={"fc": "write_file", "fd": "read_file"}),
    Program("long system calls", "loads kernel {s} 3000 48", whole={"fc": "map_memory"}),
    Program("pipes", "loads pipes {s} 200 400"),
    Program("10,000 switches", "loads pipes {s} 40 60"),
    Program("sockets", "loads sockets {s} 100 300"),
    Program("short children", "loads children {s} 3000 3000"),
    Program("fork tree", "loads tree {s} 3"),
    Program("exec chain", "loads chain {s} 7", more=0.9),
    Program("threads of 50 us", "loads short_threads {s} 50 200", more=0.5, whole={"fb": "short_thread"}),
    Program("OpenMP, 2", "openmp {s} 2"),
    Program("OpenMP, 8", "openmp {s} 8"),
    Program("early thread", "early {s}", whole={"fc": "[before-measurement]"}),
    Program("OpenBLAS, 1", "blas {s} 1", {"fd": "libopenblas"}),
    Program("OpenBLAS, 2", "blas {s} 2", {"fd": "libopenblas"}),
    *(Program(f"Python 3.{minor}", f"python3.{minor} load.py bursts {{s}}") for minor in range(8, 14)),
    Program("Python threads", "python3 load.py threads {s}", more=0.6),
    Program("Python children", "python3 load.py children {s}"),
    Program("MPICH", "mpi.mpich {s}", launcher="mpiexec.mpich -n 2"),
    Program("Open MPI", "mpi.openmpi {s}", launcher="mpiexec.openmpi --oversubscribe --allow-run-as-root -n 2"),
]
