"""How ranks begin, go wrong and end: the program's life is as before, and what was measured until then is whole."""

import os
import re
import shutil
import signal
from collections import Counter

import pytest

from conftest import HYBRID_CONVERT, HYBRID_REPORT, HYBRID_RUN, report_json
from conftest import run as run_command

BARRIERS = 10


def native(mpi, tmp_path, count, *command):
    """Without us."""
    truth = tmp_path / "native"
    result = run_command(*mpi.mpiexec_words(count), *command, env=mpi.environment(TRUTH=truth), cwd=tmp_path)
    texts = [(tmp_path / f"native.{rank}").read_text().splitlines()[1:] for rank in range(count)]
    return result, texts


def barriers(run, rank):
    calls = Counter(call.function for call in run.calls(rank))
    return calls["MPI_Barrier"]


@pytest.mark.parametrize("scenario", ["finalize", "early", "killed", "crash", "abort"])
def test_what_was_measured_is_whole(mpi, ranks, tmp_path, scenario):
    program = mpi.compile("life.c")
    plain, _ = native(mpi, tmp_path, 2, program, scenario)
    run = ranks(2, program, scenario, options=["--trace"])
    # MPICH's mpiexec says 1 if it sees that an early rank's connection is closed before it sees that the rank has ended,
    # and 9 if it has killed by then what stands in front of the other rank.
    raced = mpi.name == "mpich" and scenario == "early" and run.returncode in (1, 9)
    assert run.returncode == plain.returncode or raced, run.stderr
    for rank in range(2):
        assert barriers(run, rank) == BARRIERS, f"rank {rank}"
    if scenario == "crash":
        host = os.uname().nodename
        assert f"rank 1 of 2 on {host} ended by signal SIGSEGV" in run.stderr or f"rank 1 on {host}" in run.stderr
        assert run.report()["quality"]["experiments"][0]["failed_ranks"] == [
            {"rank": 1, "host": host, "status": "signal SIGSEGV"}]
        lines = run_command(HYBRID_REPORT, run.path).stdout.splitlines()
        assert re.fullmatch(rf"failed +rank 1 on {host} ended by signal SIGSEGV", lines[1])
    if mpi.name == "mpich" and scenario != "early":  # what its mpiexec says of them
        pids = r"PID \d+|pid:? \d+|EXIT CODE: \d+"  # of the first that it finds
        assert re.sub(pids, "", run.stdout) == re.sub(pids, "", plain.stdout)


SUM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("sum %d\\n", sum);
	return MPI_Finalize();
}
"""


LEAVES = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank || argc > 1)
		_exit(5);
	MPI_Barrier(MPI_COMM_WORLD);
	pause();
	return 0;
}
"""


@pytest.mark.parametrize("who", [[], ["all"]], ids=["one", "all"])
def test_status_of_who_leaves(mpi, ranks, who):
    """The launcher's status is that of the rank which ends without MPI_Finalize, not what it kills the others with."""
    for _ in range(4):
        run = ranks(2, mpi.compile(LEAVES), *who)
        assert run.returncode == 5, run.stderr


@pytest.mark.parametrize("how", ["no preload", "--mpi=off"])
def test_a_rank_that_is_not_measured_is_left_alone(mpi, ranks, how):
    """It would take a word of ours for one of the program's."""
    program = mpi.compile(SUM)
    if how == "no preload":
        run = ranks(1, program, ":", "-n", "1", "env", "-u", "LD_PRELOAD", program, outside=True)
    else:
        run = ranks(1, program, ":", "-n", "1", HYBRID_RUN, "-o", "experiment1", how, program)
    assert run.returncode == 0 and run.stdout == "sum 2\n" * 2, run.stderr
    assert not [path for path in run.path.iterdir() if path.name.startswith(".")]


def test_killed_in_its_sleep(mpi, ranks):
    """What is put off behind a receive is done before the thread waits."""
    run = ranks(2, mpi.compile("life.c"), "asleep", options=["--trace"])
    assert run.returncode != 0
    received = [call for call in run.calls(1) if call.function == "MPI_Recv"]
    assert [[r["received"] for r in call.records] for call in received] == [[1]]


def test_errors_pass_through(mpi, ranks, tmp_path):
    program = mpi.compile("life.c")
    plain, _ = native(mpi, tmp_path, 2, program, "errors")
    run = ranks(2, program, "errors", options=["--trace"])
    assert run.returncode == plain.returncode == 0, run.stderr
    assert sorted(run.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    for rank in range(2):
        truth = [(line.split()[0], int(line.split()[1])) for line in run.truth(rank)]
        failed = [(call.function, record["error"]) for call in run.calls(rank) for record in call.records
                  if record["kind"] == "failed"]
        assert len(failed) >= 7 and failed == [(function, code) for function, code in truth if code]


def test_jumps_out_of_an_error_handler(mpi, ranks, tmp_path):
    program = mpi.compile("life.c")
    plain, _ = native(mpi, tmp_path, 2, program, "jumps")
    run = ranks(2, program, "jumps", options=["--trace"])
    assert run.returncode == plain.returncode == 0, run.stderr
    paths = Counter()
    for node in run.report()["nodes"]:
        paths[node["name"]] += node["calls"]
    assert paths["MPI_Send"] == 10 and paths["MPI_Barrier"] == 2 * BARRIERS
    for rank in range(2):
        # The barriers behind the jumps are not inside the calls that never returned.
        assert not any("MPI_Send" in call.path for call in run.calls(rank) if call.function == "MPI_Barrier")


def test_calls_after_a_jump_out_of_a_region(mpi, ranks):
    """They are neither inside of the call that never returned, nor do they close what is open."""
    run = ranks(2, mpi.compile("life.c"), "astray", options=["--trace"])
    assert run.returncode == 0, run.stderr
    for rank in range(2):
        waits = [call.path for call in run.calls(rank) if call.function == "MPI_Waitall"]
        assert len(waits) == 30 and ["/after" in path for path in waits] == [False] * 20 + [True] * 10
        assert not any("MPI_Bcast" in path for path in waits)
    exchanged = [r["identity"] for call in run.calls() if call.function == "MPI_Sendrecv_replace" for r in call.records]
    assert len(exchanged) == 4 and len(set(exchanged)) == 1


def test_a_call_that_ends_in_a_pause(mpi, ranks):
    run = ranks(2, mpi.compile("life.c"), "paused", options=["--trace"])
    assert run.returncode == 0, run.stderr
    calls = Counter(call.function for call in run.calls(0))
    assert calls["MPI_Recv"] == 1 and calls["MPI_Waitall"] == 10
    assert not any("MPI_Recv" in call.path for call in run.calls(0) if call.function == "MPI_Waitall")
    assert [r["received"] for call in run.calls(0) for r in call.records if r.get("message") == "recv"] == [4]


def test_pcontrol_pauses_and_resumes(mpi, ranks):
    run = ranks(2, mpi.compile("life.c"), "control", options=["--trace"])
    assert run.returncode == 0, run.stderr
    for rank in range(2):
        calls = Counter(call.function for call in run.calls(rank))
        assert calls["MPI_Barrier"] == 2 * BARRIERS and calls["MPI_Allreduce"] == 0


def test_calls_that_mpi_makes_itself(mpi, ranks):
    run = ranks(2, mpi.compile("life.c"), "inside", options=["--trace"])
    assert run.returncode == 0, run.stderr
    for rank in range(2):
        calls = Counter(call.function for call in run.calls(rank))
        assert calls["MPI_Allreduce"] == BARRIERS and not calls["MPI_Type_size"] and not calls["MPI_Get_version"]


def test_threads(mpi, ranks):
    """Four at once in each rank; each is a location of its own, with its own messages."""
    run = ranks(2, mpi.compile("life.c"), "threads", options=["--trace"])
    if "no threads" in run.stdout:
        pytest.skip("this MPI has no MPI_THREAD_MULTIPLE")
    assert run.returncode == 0, run.stderr
    run.same_as_truth(2)
    for rank in range(2):
        threads = {}
        for call in run.calls(rank):
            for record in call.records:
                if record.get("message") in ("send", "recv"):
                    threads.setdefault(call.location, Counter())[record["tag"], record["message"], record["handle"]] += 1
        assert sorted(sorted(c.values()) for c in threads.values()) == [[100 + i] * 2 for i in range(4)]


def test_times_are_those_that_the_program_measured(mpi, ranks):
    """A call lies within the readings of the clock around it."""
    run = ranks(2, mpi.compile("life.c"), "times", options=["--trace"])
    assert run.returncode == 0, run.stderr
    for rank in range(2):
        measured = [(call.enter, call.leave) for call in run.calls(rank) if call.function == "MPI_Barrier"]
        truth = [tuple(map(int, line.split())) for line in run.truth(rank)]
        assert len(measured) == len(truth) == 5
        for (enter, leave), (before, after) in zip(measured, truth):
            assert before - 2000 <= enter <= leave <= after + 2000  # of two clocks, related by a line
        # Where nobody took the processor in between, that is all of the time around it.
        assert min(after - before - (leave - enter) for (enter, leave), (before, after) in zip(measured, truth)) < 100_000


def test_killed_from_outside(mpi, ranks):
    """SIGKILL to a rank, which no handler sees, ends the job; what both did until then is there."""
    run = ranks(2, mpi.compile("life.c"), "killed", options=["--trace"])
    assert run.returncode in (signal.SIGKILL, 128 + signal.SIGKILL)
    assert len(run.files) == 2 and "cannot be read" not in run.stderr
    report = run.report()
    assert sum(n["calls"] for n in report["nodes"] if n["name"] == "MPI_Barrier") == 2 * BARRIERS


@pytest.mark.parametrize("outside", [False, True], ids=["below mpiexec", "around mpiexec"])
def test_spawn(mpi, ranks, tmp_path, outside):
    """The parent's peers are ranks of the children's world, and the children's are its own."""
    program = mpi.compile("spawn.c")
    plain = run_command(*mpi.mpiexec_words(1), program, env=mpi.environment(), cwd=tmp_path)
    run = ranks(1, program, options=["--trace"], outside=outside)
    assert run.returncode == plain.returncode
    if plain.returncode:
        assert "MPI_Comm_spawn" in plain.stderr.replace("internal_", "MPI_") and "Comm_spawn" in run.stderr
        pytest.skip("this MPI cannot spawn here")
    assert run.stdout == plain.stdout == "done\n"
    messages = sorted((r["message"], r["sent"] + r["received"], r.get("foreign")) for call in run.calls()
                      for r in call.records if r.get("message") in ("send", "recv"))
    parent = [("recv", 4, 0), ("recv", 4, 1), ("send", 4, 0), ("send", 4, 1)]
    children = [("recv", 4, 0), ("recv", 4, 0), ("send", 4, 0), ("send", 4, 0)]
    assert messages == sorted(parent + children)


def may_spawn(mpi, tmp_path):
    result = run_command(*mpi.mpiexec_words(1), mpi.compile("spawn.c"), env=mpi.environment(), cwd=tmp_path)
    if result.returncode:
        pytest.skip("this MPI cannot spawn here")


# Of 2 ranks: messages between two groups, 5 each way, five times; and once round each communicator of both worlds.
WORLDS = {"world": (4 * 5 * 2 * 5 + 4 + 4 + 3, 9), "multiple": (4 * 5 * 2 * 5 + 4 + 4 + 3, 9),
          "self": (2 * (2 * 5 * 2 * 5 + 3 + 3 + 2), 18)}


@pytest.mark.parametrize("outside", [False, True], ids=["below mpiexec", "around mpiexec"])
@pytest.mark.parametrize("mode", WORLDS)
def test_worlds(mpi, ranks, tmp_path, mode, outside):
    """Parents and children know one communicator; messages and collectives on it, and on what is made of it, are whole."""
    may_spawn(mpi, tmp_path)
    run = ranks(2, mpi.compile("worlds.c"), mode, options=["--trace"], outside=outside)
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr
    counts = report_json(run.path)["quality"]["matching"][0]
    messages, collectives = WORLDS[mode]
    assert (counts["matched"], counts["collectives"]) == (messages, collectives)
    assert not any(counts[name] for name in ("unsure", "resized", "reversed", "partial", "differing"))
    assert not any(counts["sends"].values()) and not any(counts["receives"].values())
    assert "env" not in {process["program"] for process in run.records() if process["record"] == "process"}
    out = tmp_path / f"{mode}{outside}"
    assert run_command(HYBRID_CONVERT, run.path, "--to", "otf2", "-o", out).returncode == 0
    if shutil.which("otf2-print"):
        lines = Counter(line.split(" ")[0] for line in run_command("otf2-print", out / "traces.otf2").stdout.splitlines())
        assert lines["MPI_SEND"] == lines["MPI_RECV"] == messages
        assert lines["MPI_COLLECTIVE_END"] == lines["MPI_COLLECTIVE_BEGIN"] > 2 * collectives
        parents, members, groups = (1, 3, 2) if mode == "self" else (2, 4, 1)
        # Spawned; duplicated, merged, connected, met again, split, met again, split; and one without its first.
        assert lines["COMM_CREATE"] == groups * (parents + 7 * members + members - 1)


NOT_THERE = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	MPI_Comm children;
	int error, result;
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	result = MPI_Comm_spawn(argv[1], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, &error);
	printf("%d\\n", result != MPI_SUCCESS);
	MPI_Finalize();
	return 0;
}
"""


@pytest.mark.parametrize("name", ["./not_there", "not_there", "/tmp", "/etc/passwd"])
def test_spawn_of_what_cannot_run(mpi, ranks, tmp_path, name):
    """MPI's own words and exit status: nothing of ours stands in front of what is not found."""
    may_spawn(mpi, tmp_path)
    program = mpi.compile(NOT_THERE)
    plain = run_command(*mpi.mpiexec_words(1), program, name, env=mpi.environment(), cwd=tmp_path)
    run = ranks(1, program, name)
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout)


def test_a_singleton_calls_once(mpi, tmp_path):
    """Open MPI's forks a daemon inside of MPI_Init: that call is the parent's alone."""
    path = tmp_path / "alone"
    result = run_command(HYBRID_RUN, "-o", path, mpi.compile(SUM), env=mpi.environment(), cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "sum 1\n"), result.stderr
    calls = Counter()
    for node in report_json(path)["nodes"]:
        calls[node["name"]] += node["calls"]
    assert (calls["MPI_Init"], calls["MPI_Allreduce"], calls["MPI_Finalize"]) == (1, 1, 1)


IN_INIT = r"""
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const char *rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
	if (*rank == '1')
		alarm(1);
	else
		_exit(sleep(30));
	MPI_Init(&argc, &argv);
	return 0;
}
"""


def test_who_died_in_init_has_called_mpi(mpi, ranks):
    run = ranks(2, mpi.compile(IN_INIT), outside=True)
    assert run.returncode != 0
    assert "rank 0 of 2 but never called MPI" in run.stderr or "never called MPI" not in run.stderr
    assert "rank 1 of 2 but never" not in run.stderr and "never called MPI: 0, 1" not in run.stderr
