"""Hosts whose clocks differ, made of namespaces: each rank has a monotonic clock and a host name of its own."""

import pytest

from conftest import HYBRID_RUN, run as run_command
from mpi import FOLDER

SECOND = 10**9


@pytest.fixture
def hosts(ranks, tmp_path):
    """hosts(count, program ...): rank N is on nodeN, whose clock is 1000 N seconds ahead."""
    if run_command(FOLDER / "host", "true", env={"PMI_RANK": "1", "PATH": "/usr/bin:/bin"}).returncode:
        pytest.skip("may not make namespaces of time here")

    def function(count, *command, options=()):
        path = tmp_path / "hosts"
        inside = [FOLDER / "host", HYBRID_RUN, "-o", path, *options, *command]
        run = ranks(count, *inside, bare=True)
        run.path = path
        return run

    return function


def test_offsets_are_found(mpi, hosts):
    """The offset that was measured is the true one, within the error that is claimed."""
    run = hosts(3, mpi.compile("life.c"), "times", options=["--trace"])
    assert run.returncode == 0, run.stderr
    clocks = [r for r in run.records("--defs") if r["record"] == "def" and r["type"] == "clock"]
    assert len(clocks) == 4  # of ranks 1 and 2, at start and end
    for clock in clocks:
        rank = round(-clock["shift"] / (1000 * SECOND))
        assert rank in (1, 2) and clock["reference"] == 0
        assert abs(clock["shift"] + rank * 1000 * SECOND) <= clock["error"] + 1
        assert clock["error"] < 50_000_000
    mpi_quality = run.report()["quality"]["mpi"]
    assert mpi_quality["clocks_corrected"] == 2
    assert mpi_quality["clock_error_ns"] <= max(clock["error"] for clock in clocks)


def test_corrected_times(mpi, hosts):
    """Nobody leaves a barrier before the last has entered it, by the times that the reader hands out."""
    run = hosts(3, mpi.compile("life.c"), "times", options=["--trace"])
    error = run.report()["quality"]["mpi"]["clock_error_ns"]
    barriers = [[c for c in run.calls(rank) if c.function == "MPI_Barrier"] for rank in range(3)]
    assert [len(calls) for calls in barriers] == [5, 5, 5]
    for calls in zip(*barriers):
        assert max(call.enter for call in calls) <= min(call.leave for call in calls) + 2 * error + 2000
    # And by those that the processes read they would have: they are hours apart.
    truth = [[tuple(map(int, line.split())) for line in run.truth(rank)] for rank in range(3)]
    assert truth[1][0][0] - truth[0][0][1] > 900 * SECOND


def test_one_host_exchanges_nothing(mpi, ranks):
    run = ranks(2, mpi.compile("life.c"), "times", options=["--trace"])
    assert not [r for r in run.records("--defs") if r.get("type") == "clock"]
    assert run.report()["quality"]["mpi"]["clocks_corrected"] == 0
