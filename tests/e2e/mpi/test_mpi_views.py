"""What the report shows of a launch, against what the programs tell: messages, sizes, call paths, ranks, threads, lost files."""

import re
from collections import Counter, defaultdict

import pytest

from conftest import HYBRID_REPORT, path_of, report_json, run as run_command


def flows(report):
    """(from, to) to messages sent, bytes sent, messages received, bytes received."""
    return {(f["from"], f["to"]): (f["sent"]["messages"], f["sent"]["bytes"], f["received"]["messages"],
                                   f["received"]["bytes"]) for f in report["flows"] if f["kind"] == "point_to_point"}


def true_flows(run, count):
    found = defaultdict(lambda: [0, 0, 0, 0])
    for rank in range(count):
        for line in run.truth(rank):
            what, *rest = line.split()
            if what == "send":
                pair, k = (rank, int(rest[0])), 0
            elif what == "recv":
                pair, k = (int(rest[0]), rank), 2
            else:
                continue
            found[pair][k] += 1
            found[pair][k + 1] += int(rest[1])
    return {pair: tuple(sums) for pair, sums in found.items()}


@pytest.mark.parametrize("options", [[], ["--trace"], ["--files=node"]], ids=" ".join)
def test_matrix_and_sizes(mpi, ranks, options):
    """The same with and without a trace, and in a file that the ranks share."""
    run = ranks(4, mpi.compile("traffic.c"), options=options)
    assert run.returncode == 0, run.stderr
    assert len(run.files) == (1 if "--files=node" in options else 4)
    report = run.report("--messages")
    truth = true_flows(run, 4)
    assert len(truth) == 6 and flows(report) == truth
    sizes = Counter()
    for row in report["sizes"]:
        if row["operation"] == "send":
            sizes[row["least_bytes"], row["most_bytes"]] += row["messages"]
    true_sizes = Counter()
    for rank in range(4):
        for line in run.truth(rank):
            if line.startswith("send"):
                bits = int(line.split()[2]).bit_length()
                true_sizes[2 ** (bits - 1), 2**bits - 1] += 1
    assert sizes == true_sizes


def test_call_paths(mpi, ranks):
    """A call of MPI stands below the functions that called it, with its calls; those of the program are all there."""
    run = ranks(3, mpi.compile("traffic.c"))
    nodes = run.report()["nodes"]
    found = Counter()
    for node in nodes:
        if node["name"].startswith("MPI_") and node["calls"]:
            found["/".join(n["name"] for n in path_of(nodes, node["id"])[1:])] += node["calls"]

    def calls(pattern):
        return sum(count for path, count in found.items() if re.fullmatch(pattern, path))

    sends = sum(line.startswith("send") for rank in range(3) for line in run.truth(rank))
    assert calls(r"main/solve/MPI_Barrier") == 3
    # Small functions are inlined, and seen nevertheless, or they were called by a jump.
    assert calls(r"main/(solve/)?pairs/(send_to/)?MPI_Send") == sends == 9, found
    assert calls(r"main/(solve/)?pairs/(receive_from/)?MPI_Recv") == sends, found
    assert calls(r"main/MPI_Init") == calls(r"main/MPI_Finalize") == 3


def test_time_of_calls(mpi, ranks):
    """The time of each rank in a barrier is what it measured around it, and what it waited for."""
    run = ranks(3, mpi.compile("traffic.c"), 60)
    report = run.report("--mpi")
    (barrier,) = [f for f in report["functions"] if f["name"] == "MPI_Barrier"]
    truth = [float(line.split()[1]) for rank in range(3) for line in run.truth(rank) if line.startswith("barrier")]
    assert len(truth) == 3 == barrier["calls"]
    assert barrier["time_ns"] <= sum(truth) + 3 * 2000
    assert barrier["time_ns"] >= sum(truth) - 3 * 2e6  # and nobody took the processor in between
    assert truth[0] > 110e6 and truth[1] > 50e6


TIMER = r"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A library between program and MPI that times each call, and says what it found. */
static struct { long calls, sum, least, most; } path[2];
static int on;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

int MPI_Recv(void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
	long begin = now(), took;
	int result = PMPI_Recv(to, count, type, from, tag, comm, status);
	took = now() - begin;
	path[on].calls++;
	path[on].sum += took;
	path[on].least = path[on].least && path[on].least < took ? path[on].least : took;
	path[on].most = path[on].most > took ? path[on].most : took;
	return result;
}

static int number, got;

__attribute__((noinline)) static void slow(int rank, int ms)
{
	MPI_Message message;

	if (rank) {
		MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Recv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		PMPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		PMPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
		usleep(ms * 1000);
		MPI_Send(&number, 1, MPI_INT, number, 2, MPI_COMM_WORLD);
	}
	__asm__("");
}

__attribute__((noinline)) static void quick(void)
{
	for (int i = 0; i < 1000; i++) {
		MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		MPI_Send(&number, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF);
		MPI_Recv(&number, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
	__asm__("");
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int turn = 1; turn <= 2; turn++)
		for (int ms = 40; ms <= 80; ms += 20) {
			number = rank;
			if (!rank || rank == turn)
				slow(rank, ms * turn);
		}
	on = 1;
	number = rank;
	quick();
	MPI_Finalize();
	for (on = 0; on < 2; on++)
		if (path[on].calls)
			printf("%d %ld %ld %ld %ld\n", on, path[on].calls, path[on].sum, path[on].least, path[on].most);
	return 0;
}
"""


def test_single_calls(mpi, ranks):
    """Least, mean and most of single calls by path, over all ranks, are what a library around them measured."""
    run = ranks(3, mpi.compile(TIMER))
    assert run.returncode == 0, run.stderr
    nodes = run.report("--mpi")["nodes"]
    for way, name in enumerate(("slow", "quick")):
        lines = [[int(word) for word in line.split()[1:]] for line in run.stdout.splitlines() if line[0] == str(way)]
        assert len(lines) == (2, 3)[way]
        calls, total = sum(line[0] for line in lines), sum(line[1] for line in lines)
        least, most = min(line[2] for line in lines), max(line[3] for line in lines)
        (found,) = [n for n in nodes if n["mpi"] and n["name"] == "MPI_Recv" and n["calls"] == calls
                    and name in [above["name"] for above in path_of(nodes, n["id"])]]
        assert found["call_mean_ns"] == found["inclusive_ns"] // calls <= total // calls
        assert 0 < found["call_min_ns"] <= found["call_mean_ns"] <= found["call_max_ns"] <= most
        assert found["call_min_ns"] <= least
        if name == "slow":  # what the library measured is longer where somebody took the processor in between
            assert found["call_min_ns"] > least - 20e6 and found["call_max_ns"] > most - 40e6
    above = next(n for n in nodes if n["depth"] == 0)
    assert above["call_min_ns"] == min(n["call_min_ns"] for n in nodes if n["mpi"])
    assert above["call_max_ns"] == max(n["call_max_ns"] for n in nodes if n["mpi"])


WAITS = """
#include <mpi.h>
#include <unistd.h>
static int data[2][100000];
int main(int argc, char **argv)
{
	int rank;
	MPI_Request requests[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank) {
		usleep(rank == 1 ? 50000 : 1000);
		MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Send(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
		MPI_Issend(data, 100000, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	} else {
		MPI_Irecv(data[0], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		for (int i = 0; i < 2; i++)
			MPI_Irecv(data[i], 1, MPI_INT, 2 - i, i ? 2 : 1, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Recv(data[0], 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		usleep(20000);
		for (int i = 0; i < 2; i++)
			MPI_Irecv(data[i], 100000, MPI_INT, 2 - i, 3, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
	return MPI_Finalize();
}
"""


def test_time_of_waiting(mpi, ranks):
    """The time of calls that complete requests is that of the messages that they completed, and all of it."""
    run = ranks(3, mpi.compile(WAITS))
    assert run.returncode == 0, run.stderr
    times = {f["name"]: f["time_ns"] for f in run.report("--mpi")["functions"]}
    found = {(f["from"], f["to"]): f for f in run.report("--messages")["flows"]}
    assert {pair: (f["sent"]["messages"], f["received"]["messages"]) for pair, f in found.items()} == {
        (1, 0): (3, 3), (2, 0): (3, 3)}
    spent = sum(f[side]["time_ns"] for f in found.values() for side in ("sent", "received"))
    waits = sum(times[name] for name in ("MPI_Send", "MPI_Recv", "MPI_Wait", "MPI_Waitall"))
    assert waits - 20 <= spent <= waits + times["MPI_Issend"] + 20


def test_samples_inside_mpi(mpi, ranks):
    """By default they are the time of the call; when asked for, they stand below the call that they serve."""
    run = ranks(2, mpi.compile("busy.c"), options=["--wall", "--rate", "100"])
    assert run.returncode == 0, run.stderr
    plain, inside = run.report()["nodes"], run.report("--mpi-internals")["nodes"]
    for nodes, wanted in ((plain, False), (inside, True)):
        for function in ("first_wait", "second_wait"):
            paths = [[n["name"] for n in path_of(nodes, node["id"])] for node in nodes if node["samples"]]
            below = [path for path in paths if f"{function}" in path and "MPI_Recv" in path[:-1]]
            assert bool(below) == wanted, (function, wanted)
            assert all(path.index("MPI_Recv") > path.index(function) for path in below)
    waited = {f: sum(n["inclusive_ns"] for n in plain if n["name"] == "MPI_Recv" and
                     path_of(plain, n["id"])[-2]["name"] == f) for f in ("first_wait", "second_wait")}
    assert waited["second_wait"] > 1.5 * waited["first_wait"] > 0


def test_over_ranks(mpi, ranks):
    """Each rank is 20 ms later: the first waits longest, the last shortest."""
    run = ranks(4, mpi.compile("traffic.c"), 60)
    report = run.report("--over-ranks")
    (barrier,) = [n for n in report["nodes"] if n["name"] == "MPI_Barrier"]
    assert (barrier["ranks"], barrier["max_rank"], barrier["min_rank"]) == (4, 0, 3)
    truth = [float(line.split()[1]) for rank in range(4) for line in run.truth(rank) if line.startswith("barrier")]
    assert barrier["max_ns"] <= truth[0] + 2000 and barrier["min_ns"] <= truth[3] + 2000
    assert barrier["mean_ns"] * 4 == pytest.approx(barrier["inclusive_ns"], abs=4)


def test_64_ranks(mpi, ranks):
    """One experiment; on 2 processors, so nobody computes."""
    run = ranks(64, mpi.compile("traffic.c"), 1, options=["--trace"])
    assert run.returncode == 0, run.stderr
    assert "64 ranks on 1 host" in run.stderr
    assert len(run.files) == 1  # --files=auto
    report = run.report("--messages")
    assert report["quality"]["mpi"]["ranks"] == 64 and report["quality"]["damage"] == 0
    truth = true_flows(run, 64)
    assert len(truth) == 64 * 63 // 2 and flows(report) == truth


ALONE = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	long number = 0;
	double end;
	MPI_Init(&argc, &argv);
	for (end = MPI_Wtime() + 3; MPI_Wtime() < end; number++)
		for (int i = 0; i < 100; i++) {
			MPI_Send(&number, 1, MPI_LONG, 0, 0, MPI_COMM_SELF);
			MPI_Recv(&number, 1, MPI_LONG, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		}
	printf("%ld\n", 100 * number);
	MPI_Finalize();
	return 0;
}
"""


def test_a_sample_loses_no_message(mpi, ranks):
    """Wherever it comes: what is put off between a receive and the next send is recorded once."""
    if mpi.name == "mpich":
        pytest.skip("a send to oneself waits for its receive there")
    run = ranks(1, mpi.compile(ALONE), options=["--rate", "10000", "--source", "timer"])
    assert run.returncode == 0, run.stderr
    count, report = int(run.stdout), run.report("--messages")
    assert flows(report) == {(0, 0): (count, 8 * count, count, 8 * count)}
    assert report["quality"]["mpi"]["abandoned"] == 0
    assert [f["calls"] for f in run.report("--mpi")["functions"] if f["name"] in ("MPI_Send", "MPI_Recv")] == [count] * 2


# ------------------------------------------------------------------ files that are not there


@pytest.fixture
def damaged(mpi, ranks):
    """damaged(how): an experiment of 4 ranks whose rank 2 has another file than it wrote."""

    def function(how):
        run = ranks(4, mpi.compile("traffic.c"), options=["--trace", "--files=process"])
        assert run.returncode == 0, run.stderr
        (file,) = [path for path in run.files if f"-{run.pid(2)}." in path.name]
        how(file)
        return run, file

    return function


def cut(file):
    with open(file, "r+b") as stream:
        stream.truncate(file.stat().st_size // 2 + 100)


@pytest.mark.parametrize("how", [lambda f: f.unlink(), lambda f: f.write_bytes(b""), cut], ids=["missing", "empty", "cut"])
def test_a_rank_whose_file_is_not_whole(damaged, how):
    """One line says so, and the others are shown."""
    run, file = damaged(how)
    result = run_command(HYBRID_REPORT, "--quality", run.path)
    assert result.returncode == 0, result.stderr
    if how is cut:
        assert file.name in result.stdout + result.stderr
    else:
        assert len(re.findall(r"^.*\brank\b.*\b2\b|^.*missing.*$", result.stdout, re.M)) >= 1, result.stdout
    shown = flows(report_json("--messages", run.path))
    truth = true_flows(run, 4)
    for pair, sums in truth.items():
        if 2 not in pair:
            assert shown[pair] == sums


OFTEN = """
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	for (long i = 0; i < 10000000; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Finalize();
	return 0;
}
"""


def test_many_dropped_samples_are_said(mpi, ranks):
    """Most of the CPU time is in the probes: so are the samples, and the header says what to do."""
    run = ranks(1, mpi.compile(OFTEN))
    assert run.returncode == 0, run.stderr
    quality = run.report()["quality"]
    assert quality["dropped"]["in_probe"] > quality["samples"] / 4
    text = " ".join(run_command(HYBRID_REPORT, run.path).stdout.split())
    assert "that much CPU time is the measurement's own: a --filter" in text
