"""Metrics over ranks of MPI: each rank counts as much as is known."""

import csv
import io
import re

from conftest import HYBRID_REPORT, run

RANKS = 3
METRIC = "user::steps"
PROGRAM = r"""
#include <hybrid/hybrid.h>
#include <mpi.h>

static struct hybrid_counter steps = HYBRID_COUNTER_INIT("steps", "");

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	hybrid_count(&steps, 1000);
	HYBRID_ENTER("all");
	hybrid_count(&steps, 1000 + 60 * (rank + 1));
	HYBRID_LEAVE("all");
	if (rank == 2) {
		HYBRID_ENTER("one");
		hybrid_count(&steps, 1000 + 60 * (rank + 1) + 30);
		HYBRID_LEAVE("one");
	}
	return MPI_Finalize();
}
"""
KEYS = ["ranks", "mean", "min", "min_rank", "max", "max_rank", "imbalance"]
ALL, ONE = [3, 120, 60, 0, 180, 2, 0.5], [1, 10, 0, None, 30, 2, 2.0]


def report(*arguments):
    return run(HYBRID_REPORT, *arguments)


def test_over_ranks(mpi, ranks):
    e = ranks(RANKS, mpi.compile(PROGRAM), options=["-q", "-r", "0", "-m", f"{METRIC},memory::resident"])
    assert e.returncode == 0, e.stderr
    told = e.report("--over-ranks", "--metric", METRIC)
    nodes = {node["name"]: node for node in told["nodes"]}
    assert told["over_ranks"] == METRIC
    assert [nodes["all"][key] for key in KEYS] == ALL and [nodes["one"][key] for key in KEYS] == ONE
    assert abs(nodes["all"]["deviation"] - 2400**0.5) < 0.001
    assert nodes["all"]["metrics"][METRIC]["inclusive"] == 360
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(
        report("--over-ranks", "--csv", "-m", METRIC, e.path).stdout))}
    assert [float(rows["all"][key]) for key in KEYS] == ALL
    assert [float(rows["one"][key] or -1) for key in KEYS] == [-1 if value is None else value for value in ONE]
    # as text, largest first; what stands behind the first metric changes nothing
    text = report("--over-ranks", "-m", f'"{METRIC}",time', e.path).stdout
    assert f"3 ranks ({METRIC})" in text
    assert re.search(r"\n +360 +120 +60@0 +180@2 +50\.0 .*all.*\n +30 +10 +0 +30@2 +200\.0 .*one", text), text
    together = run(*mpi.mpiexec_words(2), HYBRID_REPORT, "--over-ranks", "-m", METRIC, e.path, env=mpi.environment())
    assert together.stdout == text
    # with time first it is that of time
    timed = e.report("--over-ranks", "--metric", "time")["nodes"]
    assert all("mean_ns" in node and "mean" not in node for node in timed)
    by_rank = report("--by-rank", "--depth", "1", "-m", METRIC, e.path).stdout
    assert [re.search(rf"\n +(\d+) .*rank {rank}\b", by_rank)[1] for rank in range(RANKS)] == ["1060", "1120", "1210"]
    for metric, word in ("memory::resident", "up and down"), (f"x = {METRIC} / time", "derived"):
        wrong = report("--over-ranks", "--metric", metric, e.path)
        assert wrong.returncode == 2 and word in wrong.stderr and wrong.stderr.count("\n") == 1
