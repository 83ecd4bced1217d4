"""An MPI that is installed after Hybrid was built: --check says so, and the command that it names mends it."""

import json
import os
import shutil

import pytest

from conftest import HYBRID_REPORT, SOURCE, run
from mpi import Mpi


def path_without_mpi(folder):
    """A PATH with all commands of the system but those of MPI."""
    for name in os.listdir("/usr/bin"):
        if not name.startswith(("mpi", "ortecc", "opal")):
            (folder / name).symlink_to(f"/usr/bin/{name}")
    return {**os.environ, "PATH": str(folder)}


def checked(command):
    """The lines of --check on MPI."""
    lines = run(command, "--check").stdout.splitlines()
    return lines[lines.index("MPI") + 1:next(i for i, line in enumerate(lines) if line.startswith("Python"))]


def said_of(name, lines):
    """What stands there on one kind, and the command below it."""
    number, = [i for i, line in enumerate(lines) if line[7:].startswith(name)]
    below = lines[number + 1:number + 2]
    return lines[number], below[0].partition("mend: ")[2] if below else ""


def test_one_command_builds_what_was_left_out(tmp_path, needs):
    needs("meson")
    here = {name: said for name, said in (("mpich", "MPICH"), ("openmpi", "Open MPI"))
            if shutil.which(f"mpicc.{name}") and shutil.which(f"mpiexec.{name}")}
    if not here:
        pytest.skip("there is no MPI")
    (tmp_path / "bin").mkdir()
    without, build = path_without_mpi(tmp_path / "bin"), tmp_path / "build"
    for words in (["meson", "setup", build, SOURCE, "-Dtools=false", "-Dtests=false"], ["ninja", "-C", build]):
        result = run(*words, env=without, timeout=300)
        assert result.returncode == 0, result.stdout + result.stderr
    hybrid_run = build / "src/run/hybrid-run"
    lines, commands = checked(hybrid_run), set()
    for said in here.values():
        line, command = said_of(said, lines)
        assert line.startswith("  no ") and line.endswith("but its mpi.h was not there when Hybrid was built")
        commands.add(command)

    command, = commands
    result = run("sh", "-c", command, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    for name, said in here.items():
        assert said_of(said, checked(hybrid_run))[0].startswith("  yes ")
        one = Mpi(name, tmp_path)
        program = one.compile("#include <mpi.h>\nint main(int c, char **v)\n{\n\tMPI_Init(&c, &v);\n\treturn MPI_Finalize();\n}\n")
        result = run(*one.mpiexec_words(2), hybrid_run, "-o", tmp_path / name, program, env=one.environment())
        assert result.returncode == 0, result.stderr
        report = json.loads(run(HYBRID_REPORT, "--json", "--mpi", tmp_path / name).stdout)
        assert {row["name"]: row["calls"] for row in report["functions"]} == {"MPI_Init": 2, "MPI_Finalize": 2}
