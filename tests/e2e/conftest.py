"""What the end-to-end tests share: the commands of the build, programs to measure, experiments."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HYBRID_BUILD", SOURCE / "build")).resolve()
HYBRID_RUN = BUILD / "src/run/hybrid-run"
HYBRID_REPORT = BUILD / "src/report/hybrid-report"
HYBRID_DUMP = BUILD / "src/dump/hybrid-dump"
HYBRID_CONVERT = BUILD / "converters/hybrid-convert"
PROGRAMS = SOURCE / "tests/programs"
TIMEOUT = 60

# Tests of one folder use what those of another one have.
sys.path += [str(path) for path in sorted(Path(__file__).resolve().parent.iterdir()) if path.is_dir()]

# A shell that starts a job in the background has it ignore these, as nohup does, and so all programs of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def run(*command, **options):
    """Runs a command to its end; stdout and stderr are texts (bytes with text=False)."""
    options = {"text": True, "timeout": TIMEOUT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    if "input" not in options and "stdin" not in options:
        options["stdin"] = subprocess.DEVNULL
    return subprocess.run([str(word) for word in command], **options)


def report_json(*arguments):
    """What `hybrid-report --json` says, and as "tree" its nodes nested by "children"; arguments: experiments and
    options."""
    result = run(HYBRID_REPORT, "--json", *arguments)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    for number, node in enumerate(report.get("nodes", ())):
        assert node["id"] == number
        node["children"] = []
        if number:
            assert node["parent"] < number
            report["nodes"][node["parent"]]["children"].append(node)
        else:
            report["tree"] = node
    return report


def path_of(nodes, number):
    """The nodes from the root down to this one."""
    path = [nodes[number]]
    while path[-1]["parent"] is not None:
        path.append(nodes[path[-1]["parent"]])
    return path[::-1]


def dump(*arguments):
    result = run(HYBRID_DUMP, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def read_values(directory):
    """The file `experiment` as a dict."""
    values = {}
    for line in (Path(directory) / "experiment").read_text().splitlines():
        key, _, value = line.partition(" ")
        values[key] = value.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    return values


def wait_until(condition, seconds=20):
    """Polls; fails when it has not become true in time. Returns what the condition returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    pytest.fail("did not happen in %d seconds" % seconds)


def process_state(pid):
    """The letter of /proc/PID/stat: R, S, T ..., or "" if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def set_signal_mask(*numbers):
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


class Experiment:
    """One run of hybrid-run: the directory and what the run printed."""

    def __init__(self, path, result):
        self.path = path
        self.result = result
        self.returncode = result.returncode
        self.stdout = result.stdout
        self.stderr = result.stderr

    @property
    def values(self):
        return read_values(self.path)

    @property
    def files(self):
        return sorted(self.path.glob("*.hyb"))

    def report(self, *options):
        return report_json(*options, self.path)

    def dump(self, *options):
        return dump(*options, self.path)


@pytest.fixture
def measure(tmp_path):
    """measure(program, arguments ..., options=[...]): runs it under hybrid-run in a new experiment."""
    count = 0

    def function(*command, options=(), **more):
        nonlocal count
        count += 1
        path = tmp_path / f"experiment{count}"
        more.setdefault("cwd", tmp_path)
        return Experiment(path, run(HYBRID_RUN, "-o", path, *options, *command, **more))

    return function


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory):
    """compile_c(source, flags ...): the path of the executable; source is a file in tests/programs, or C text."""
    folder = tmp_path_factory.mktemp("programs")
    made = {}

    def function(source, *flags, compiler="gcc"):
        key = (source, flags, compiler)
        if key in made:
            return made[key]
        program = folder / f"program{len(made)}"
        if "\n" in source:
            path = program.with_suffix(".c")
            path.write_text(source)
        else:
            path = PROGRAMS / source
            program = folder / f"{path.stem}{len(made)}"
        result = run(compiler, "-O2", "-g", f"-I{SOURCE}/include", path, "-o", program, "-pthread", *flags)
        assert result.returncode == 0, result.stderr
        made[key] = program
        return program

    return function


@pytest.fixture(scope="session", params=["mpich", "openmpi"])
def mpi(request, tmp_path_factory):
    """Each installed MPI in turn; see mpi.py."""
    from mpi import Mpi
    return Mpi(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def ranks(mpi, tmp_path):
    """ranks(4, program, arguments ..., options=["--trace"]): measures so many ranks in a new experiment."""
    from mpi import launcher
    return launcher(mpi, tmp_path)


@pytest.fixture
def small_disk(tmp_path):
    """small_disk(options): a tmpfs mounted with these options; gone after the test."""
    mounted = []
    libc = ctypes.CDLL(None, use_errno=True)

    def function(options, flags=0):
        path = tmp_path / f"disk{len(mounted)}"
        path.mkdir()
        if libc.mount(b"tmpfs", bytes(path), b"tmpfs", flags, options.encode()):
            pytest.skip("may not mount a small file system here")
        mounted.append(path)
        return path

    yield function
    for path in mounted:
        libc.umount2(bytes(path), 2)


@pytest.fixture
def needs():
    """needs("gdb"): skips the test where the command is missing."""

    def function(command):
        if not shutil.which(command):
            pytest.skip(f"{command} is not installed")

    return function
