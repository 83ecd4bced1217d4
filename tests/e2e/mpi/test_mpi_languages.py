"""Fortran, Python, programs that open MPI themselves, and those that have it inside."""

import re
from collections import Counter
from pathlib import Path

import pytest

from conftest import BUILD, report_json, run as run_command
from interpreters import interpreters
from mpi import FOLDER


@pytest.mark.parametrize("interface", ["mpifh", "usempi", "f08"])
def test_fortran(mpi, ranks, interface):
    run = ranks(3, mpi.compile(f"ring_{interface}.f90"), options=["--trace"])
    run.same_as_truth(3)
    assert run.stdout.count("done") == 3
    paths = {call.path for call in run.calls(0) if call.function == "MPI_Recv"}
    assert len(paths) == 1
    names = names_of(run, "MPI_Recv")
    assert "main" in names and any("solve" in name for name in names[: names.index("MPI_Recv")]), names


def names_of(run, function):
    """The names from the root down to a function of MPI."""
    from conftest import path_of
    nodes = run.report()["nodes"]
    return [n["name"] for n in path_of(nodes, next(n["id"] for n in nodes if n["name"] == function))]


PYTHON = "/usr/bin/python3"


@pytest.fixture
def mpi4py(mpi):
    """It is built for one MPI; tests of the other have nothing to do."""
    text = "import mpi4py.MPI as m; print(m.Get_library_version())"
    result = run_command(PYTHON, "-c", text, env=mpi.environment())
    if result.returncode:
        pytest.skip("mpi4py is not installed")
    if ("Open MPI" in result.stdout) != (mpi.name == "openmpi"):
        pytest.skip(f"mpi4py is not built for {mpi.name}")
    return mpi


@pytest.mark.parametrize("mode", ["frames", "hooks"])
def test_mpi4py(mpi4py, ranks, mode):
    run = ranks(3, PYTHON, FOLDER / "ring.py", options=["--trace", f"--python={mode}"])
    run.same_as_truth(3)
    assert run.stdout.count("done") == 3
    names = names_of(run, "MPI_Recv")
    assert any("exchange" in name for name in names), names


def test_mpi4py_objects(mpi4py, ranks):
    run = ranks(3, PYTHON, FOLDER / "ring.py", "objects")
    assert (run.returncode, run.stdout.count("done")) == (0, 3), run.stderr


def lines_that_call(run, frames):
    """Function, line, of so many frames, the innermost first, and the function of MPI: calls."""
    nodes = {node["id"]: node for node in run.report("--callsites")["nodes"]}
    counts = Counter()
    for node in nodes.values():
        if node["mpi"]:
            python, at = [], node
            while at["parent"] in nodes and len(python) < 2 * frames:
                at = nodes[at["parent"]]
                name = "<module>" if at["name"].startswith("<module") else at["name"].rpartition(".")[2]
                python += [name, at["line"]] if at["python"] else []
            counts[*python, node["name"]] += node["calls"]
    return counts


@pytest.mark.parametrize("python", interpreters(), ids=str)
@pytest.mark.parametrize("mode", ["frames", "hooks"])
def test_python_lines(mpi, ranks, python, tmp_path, mode):
    """The path of a call is remembered, and never another line's: recursion, generators, code that comes and goes."""
    library = LIBRARIES / {"mpich": "libmpich.so.12", "openmpi": "libmpi.so.40"}[mpi.name]
    if not library.exists():
        pytest.skip("its library is elsewhere")
    run = ranks(1, python.path, FOLDER / "lines.py", tmp_path / "truth", library, options=[f"--python={mode}"])
    assert run.returncode == 0, run.stderr
    frames = 8 if mode == "frames" else 1  # a call that is hooked hangs below functions, not their lines
    truth = Counter()
    for line in (tmp_path / "truth").read_text().splitlines():
        *lines, name, count = line.split()
        lines[1::2] = map(int, lines[1::2])
        truth[*lines[: 2 * frames], name] += int(count)
    found = lines_that_call(run, frames)
    assert sum(truth.values()) > 5000
    assert found == truth, (found - truth, truth - found)


@pytest.mark.parametrize("outside", [False, True], ids=["below mpiexec", "around mpiexec"])
def test_opened_by_the_program(mpi, ranks, compile_c, outside):
    """dlopen with RTLD_LOCAL: the MPI is not in the program's scope."""
    library = mpi.compile("opened.c", "-shared", "-fPIC")
    run = ranks(2, compile_c("mpi/opens.c", "-ldl"), library, outside=outside)
    assert (run.returncode, run.stdout.count("done")) == (0, 2), run.stderr
    calls = Counter()
    for node in run.report()["nodes"]:
        calls[node["name"]] += node["calls"]
    assert calls["MPI_Barrier"] == 20 and calls["MPI_Init"] == calls["MPI_Finalize"] == 2


LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")


@pytest.fixture
def static_program(mpi, tmp_path):
    """static_program(flags ...): requests.c with MPICH's archive in it."""
    archive = LIBRARIES / "libmpich.a"
    if mpi.name != "mpich" or not archive.exists():
        pytest.skip(f"no archive of {mpi.name} here")
    folders = [word for word in run_command("mpicc.mpich", "-show").stdout.split() if word.startswith("-I")]
    needs = re.findall(r"=> (/\S+)", run_command("ldd", LIBRARIES / "libmpich.so.12").stdout)

    def function(*flags):
        program = tmp_path / "static"
        result = run_command("gcc", "-O2", "-g", "-Wno-stringop-overflow", *folders, FOLDER / "requests.c", "-o", program,
                             *flags, archive, *needs, "-pthread", "-lm")
        assert result.returncode == 0, result.stderr
        assert "libmpich" not in run_command("ldd", program).stdout
        return program

    return function


def test_mpi_inside_the_program(ranks, static_program):
    """Its calls cannot be seen, which is said once for each rank; all else is as before."""
    run = ranks(2, static_program(), "waitall", options=["--trace"])
    assert run.returncode == 0, run.stderr
    assert not run.calls()
    assert "-lhybrid-mpi-mpich" in run.stderr or "-lhybrid-mpi-mpich" in run_command(
        BUILD / "src/report/hybrid-report", run.path).stdout


def test_mpi_inside_the_program_with_our_archive(ranks, static_program):
    found = list((BUILD / "src/mpi").glob("linked/libhybrid-mpi-mpich.a"))
    assert found, "the archive is not built"
    run = ranks(2, static_program(found[0]), "waitall", options=["--trace"])
    run.same_as_truth(2)


def test_no_mpi_where_the_launcher_promised_one(mpi, ranks, compile_c):
    """Programs without MPI below mpiexec: measured as they are, nothing of MPI in the report."""
    run = ranks(2, compile_c("int main(void)\n{ return 0; }\n"))
    assert run.returncode == 0, run.stderr
    assert len(run.files) == 2
    assert not any(n["name"].startswith("MPI_") for n in report_json(run.path)["nodes"])
