"""What hybrid-report --findings says of programs whose losses are known."""

import pytest

from conftest import HYBRID_REPORT, report_json, run as run_command
from terminal import Terminal

PAUSE, STEPS, LOST = 0.05, 8, 3

PROGRAM = f"""
#include <mpi.h>
#include <time.h>
static void step(int late)
{{
	struct timespec pause = {{0, {int(PAUSE * 1e9)}}};
	if (late)
		nanosleep(&pause, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}}
int main(int argc, char **argv)
{{
	int rank, size, x = 0;
	MPI_Request request;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < {STEPS}; i++)
		step(rank == size - 1);
	for (int i = 0; i < {LOST} && !rank; i++) {{
		MPI_Isend(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
		MPI_Request_free(&request);
	}}
	if (rank == 1) {{
		MPI_Send(&x, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
	}} else if (!rank) {{
		MPI_Recv(&x, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}}
	MPI_Finalize();
	return 0;
}}
"""


@pytest.fixture
def late(mpi, ranks):
    result = ranks(3, mpi.compile(PROGRAM), options=["--trace"])
    assert result.returncode == 0, result.stderr
    return result


def place(finding):
    return [(node["name"], node["line"]) for node in finding["where"][:3]]


LINE = {text: number for number, text in enumerate(PROGRAM.split("\n"), 1)}


def line_of(text):
    return next(number for line, number in LINE.items() if text in line)


def test_late_rank(late):
    """Two ranks wait for the third in each step; the sleep cannot be shorter, and nobody waits longer than it lasts."""
    report = report_json("--findings", late.path)
    found, = [f for f in report["findings"] if f["kind"] == "mpi-imbalance" and place(f)[0][0] == "MPI_Barrier"]
    assert place(found) == [("MPI_Barrier", 0), ("step", line_of("MPI_Barrier")), ("main", line_of("step(rank"))]
    assert found["severity_ns"] > 2 * (STEPS - 1) * PAUSE * 1e9
    assert {who["rank"] for who in found["who"]} == {0, 1}
    assert sum(who["share"] for who in found["who"]) == pytest.approx(1, abs=1e-5)
    assert [cause["rank"] for cause in found["because"]] == [2]
    assert (found["confidence"], found["count"]) == (1, 2)
    # The same from what each rank spent in that call.
    tree = report_json("--over-ranks", "--callsites", late.path)["nodes"]
    node, = [n for n in tree if n["name"] == "MPI_Barrier"]
    assert found["severity_ns"] == pytest.approx(3 * (node["mean_ns"] - node["min_ns"]), abs=3)
    assert node["min_rank"] == 2


def test_lost_messages(late):
    report = report_json("--findings", late.path)
    found, = [f for f in report["findings"] if f["kind"] == "unmatched-message"]
    assert (found["count"], found["severity_ns"]) == (LOST, 0)
    assert place(found)[:2] == [("MPI_Isend", 0), ("main", line_of("MPI_Isend"))]
    assert [instance["rank"] for instance in found["instances"]] == [0] * LOST
    assert {kind["kind"] for kind in report["finding_kinds"]} == {f["kind"] for f in report["findings"]}
    assert all(kind["meaning"] and kind["computed"] and kind["advice"] for kind in report["finding_kinds"])


def test_text(late):
    text = run_command(HYBRID_REPORT, "--findings", late.path).stdout
    assert "1. imbalance in MPI: " in text and "because  rank 2" in text
    assert f"{LOST} sends without a receive: the other end never called for it" in " ".join(text.split())
    only = run_command(HYBRID_REPORT, "--findings", "--threshold", "100", late.path).stdout
    assert "imbalance in MPI" not in only and "more below 100 %)" in only and "1. message without" in only


def test_pane(late, tmp_path):
    """The viewer has them, too: the list, and below it what is known of the cursor's line."""
    with Terminal(tmp_path) as terminal:
        screen = " ".join(terminal.view("--view", "findings", late.path, until="advice").split())
        assert "imbalance in MPI: 2 of 3 ranks spend together" in screen and "because rank 2" in screen
        assert "message without another end" in screen
        terminal.keys("/")
        terminal.type("without another")
        terminal.keys("Enter")
        terminal.wait_for(" when ")
        terminal.keys("1")
        terminal.wait_for("call tree")
        terminal.keys("F")
        terminal.wait_for("message without another end")


def test_options_that_do_not_go_together(tmp_path):
    for option in (["--csv"], ["--by-rank"], ["--by-thread"], ["--diff", "x"], ["--metric", "time"]):
        result = run_command(HYBRID_REPORT, "--findings", *option, tmp_path)
        assert result.returncode == 2 and "--findings" in result.stderr, option
