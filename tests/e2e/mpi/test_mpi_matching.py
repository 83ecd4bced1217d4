"""Messages of real programs, matched after the run: which send a receive got is what the message itself says."""

import pytest

from conftest import BUILD, HYBRID_REPORT, report_json, run as run_command

SHOW = BUILD / "tests/unit/show_matches"


@pytest.fixture(params=[2, 5])
def run(request, mpi, ranks):
    result = ranks(request.param, mpi.compile("numbered.c"), "40", options=["--trace"])
    assert result.returncode == 0, result.stderr
    result.count = request.param
    return result


def received(run):
    return [[tuple(map(int, line.split())) for line in run.truth(rank)] for rank in range(run.count)]


def matches(run):
    """Sender, place among what it sent, receiver, place there, unsure: of each message."""
    result = run_command(SHOW, run.path)
    assert (result.returncode, result.stderr) == (0, "")
    for line in result.stdout.splitlines():
        sender, sent, receiver, place, unsure = line.split()
        yield sender, int(sent), receiver, int(place), unsure == "1"


def matching(run):
    report = report_json("--unmatched", run.path)
    return report, report["quality"]["matching"][0]


def test_right_partners(run):
    """Wild cards, persistent requests and matched probes, complete in any order, on overlapping communicators."""
    truth = received(run)
    found = {(int(receiver.split(".")[0]), place): (int(sender.split(".")[0]), sent)
             for sender, sent, receiver, place, _ in matches(run)}
    assert found == {(rank, i): message for rank in range(run.count) for i, message in enumerate(truth[rank])}
    report, counts = matching(run)
    assert counts["matched"] == len(found) > 200
    assert (counts["unsure"], counts["resized"], counts["partial"], counts["differing"]) == (0, 0, 0, 0)
    assert not any(counts["sends"].values()) and not any(counts["receives"].values())
    assert report["unmatched"] == []
    text = run_command(HYBRID_REPORT, "--unmatched", run.path).stdout
    assert "every send has its receive" in text and "0 sends without a receive" in " ".join(text.split())


def test_lost_file(run):
    """Of a rank whose file is gone, all partners are alone, and the others are as before."""
    truth, lost, pid = received(run), run.count - 1, run.pid(run.count - 1)
    before = matching(run)[1]
    for path in run.files:
        if f"-{pid}." in path.name:
            path.unlink()
    report, counts = matching(run)
    to_it = sum(sender != lost for sender, _ in truth[lost])
    from_it = sum(sender == lost for rank in range(lost) for sender, _ in truth[rank])
    own = sum(sender == lost for sender, _ in truth[lost])
    assert counts["sends"] == {**dict.fromkeys(counts["sends"], 0), "absent": to_it}
    assert counts["receives"] == {**dict.fromkeys(counts["receives"], 0), "absent": from_it}
    assert counts["matched"] == before["matched"] - to_it - from_it - own
    assert {row["peer"] for row in report["unmatched"]} == {lost}
    assert {row["reason"] for row in report["unmatched"]} == {"absent"}


def test_no_trace(mpi, ranks):
    """Without a trace nothing can be matched, and that is said."""
    run = ranks(2, mpi.compile("numbered.c"), "2")
    assert run.returncode == 0, run.stderr
    assert report_json("--unmatched", run.path)["quality"]["matching"] == [None]
    text = run_command(HYBRID_REPORT, "--quality", run.path).stdout
    assert "not matched: there is no trace with regions (hybrid-run --trace)" in " ".join(text.split())


@pytest.mark.parametrize("turns", [0, 1], ids=["at the same time", "in turns"])
@pytest.mark.parametrize("sizes", [1, 7])
def test_threads_with_equal_envelopes(mpi, ranks, sizes, turns):
    """What is told as certain is certain, sizes disprove what is not, and calls in turns are not unsure."""
    run = ranks(2, mpi.compile("alike.c"), "100", str(sizes), str(turns), options=["--trace"])
    assert run.returncode == 0, run.stderr
    files = [[run.truth_path.with_name(f"{run.truth_path.name}.{rank}.{thread}").read_text().splitlines()
              for thread in range(4)] for rank in range(2)]
    senders = [f"0.{lines[0]}" for lines in files[0]]
    truth = {(f"1.{lines[0]}", place): tuple(map(int, line.split()))
             for lines in files[1] for place, line in enumerate(lines[1:])}
    wrong, unsure, count = 0, 0, 0
    for sender, sent, receiver, place, doubtful in matches(run):
        thread, number = truth[receiver, place]
        count += 1
        unsure += doubtful
        wrong += not doubtful and (senders[thread], number) != (sender, sent)
        assert sizes == 1 or (senders.index(sender) + sent) % sizes == (thread + number) % sizes
    counts = matching(run)[1]
    assert (wrong, count, counts["matched"], counts["unsure"]) == (0, 400, 400, unsure)
    assert (counts["resized"], counts["reversed"]) == (0, 0)
    if turns:
        assert unsure == 0


ALONE = r"""
#include <mpi.h>
#include <string.h>
int main(int argc, char **argv)
{
	int rank, data[4] = {0};
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (!rank)
		MPI_Send(data, 4, MPI_INT, 1, 1, MPI_COMM_WORLD);
	else if (!strcmp(argv[1], "freed") || !strcmp(argv[1], "pending"))
		MPI_Irecv(data, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
	else if (!strcmp(argv[1], "truncated"))
		MPI_Recv(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank && !strcmp(argv[1], "freed"))
		MPI_Request_free(&request);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
"""


@pytest.mark.parametrize("how, reason", [("freed", "unseen"), ("pending", "unseen"), ("truncated", "unseen"),
                                         ("never", "none")])
def test_why_a_send_is_alone(mpi, ranks, how, reason):
    """The other end is said to have never called for it only where it did not."""
    run = ranks(2, mpi.compile(ALONE), how, options=["--trace"])
    assert run.returncode == 0, run.stderr
    sends = [row["reason"] for row in matching(run)[0]["unmatched"] if row["kind"] == "send"]
    assert sends == [reason]
