"""The event model for programs of others: header and library as they are installed, and the example that uses them."""

import os
import re
import shutil

import pytest

from conftest import BUILD, SOURCE, run as run_command

PAUSE = 0.2

PROGRAM = f"""
#include <mpi.h>
#include <time.h>
int main(int argc, char **argv)
{{
	struct timespec pause = {{0, {int(PAUSE * 1e9)}}};
	int rank, x = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {{
		nanosleep(&pause, NULL);
		MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
	}} else if (!rank) {{
		MPI_Recv(&x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}}
	MPI_Finalize();
	return 0;
}}
"""


@pytest.fixture
def traced(mpi, ranks):
    result = ranks(3, mpi.compile(PROGRAM), options=["--trace"])
    assert result.returncode == 0, result.stderr
    return result


def test_installed_model(traced, tmp_path):
    """A program is built against what is installed, and reads the trace."""
    if not shutil.which("pkg-config") or not shutil.which("meson"):
        pytest.skip("pkg-config or meson is not installed")
    result = run_command("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", tmp_path)
    assert result.returncode == 0, result.stderr
    pc, = tmp_path.rglob("hybrid-reader.pc")
    library, = tmp_path.rglob("libhybrid-reader.so")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(tmp_path)}
    flags = run_command("pkg-config", "--cflags", "--libs", "hybrid-reader", env=environment)
    assert flags.returncode == 0, flags.stderr
    result = run_command("cc", "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Werror", SOURCE / "examples/model/late.c",
                         "-o", tmp_path / "late", *flags.stdout.split())
    assert result.returncode == 0, result.stderr
    environment["LD_LIBRARY_PATH"] = str(library.parent)
    result = run_command(tmp_path / "late", traced.path, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    first, *waits = result.stdout.splitlines()
    assert first == "1 messages"
    waited = [float(re.fullmatch(r"rank \d waited (\S+) s for late senders", line)[1]) for line in waits]
    assert waited[0] > PAUSE / 2 and waited[1:] == [0, 0]  # a sleep lasts at least as long; half: the barrier's end
