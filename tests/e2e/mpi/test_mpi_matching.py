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


PAUSES = r"""
#include <hybrid/hybrid.h>
#include "truth.h"
static int pausing, paused[2];
static long count;

static void send_or_receive(int messages)
{
	for (int i = 0; i < messages; i++) {
		MPI_Request request;
		long number = -1;
		if (rank) {
			MPI_Recv(&number, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (number >= 0 && !paused[1])
				truth("0 %ld", number);
			continue;
		}
		if (!paused[0])
			number = count++;
		if (i % 2)
			MPI_Send(&number, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD);
		else
			MPI_Isend(&number, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, &request);
		if (!(i % 2))
			MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void sum(int times)
{
	for (int i = 0; i < times; i++)
		MPI_Allreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Request early;
	long number = -1;
	int ours = !strcmp(argv[2], "api");
	MPI_Init(&argc, &argv);
	truth_begin();
	pausing = !strcmp(argv[1], "both") || !strcmp(argv[1], rank ? "receiver" : "sender");
	send_or_receive(10);
	if (rank) /* gets the first message of the pause */
		MPI_Irecv(&number, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD, &early);
	if (pausing)
		ours ? hybrid_pause() : (void)MPI_Pcontrol(0);
	paused[rank] = pausing;
	send_or_receive(rank ? 6 : 7);
	sum(3);
	if (pausing)
		ours ? hybrid_resume() : (void)MPI_Pcontrol(1);
	paused[rank] = 0;
	if (rank) {
		MPI_Wait(&early, MPI_STATUS_IGNORE);
		if (number >= 0)
			truth("0 %ld", number);
	}
	send_or_receive(10);
	sum(2);
	MPI_Finalize();
	return 0;
}
"""


@pytest.mark.parametrize("how", ["mpi", "api"])
@pytest.mark.parametrize("who, sends, receives", [("both", 0, 1), ("sender", 0, 7), ("receiver", 6, 0)])
def test_pauses(mpi, ranks, who, sends, receives, how):
    """Messages in measured time are certain behind a pause too; what the pause had is not told, its other end is cut."""
    run = ranks(2, mpi.compile(PAUSES), who, how, options=["--trace"])
    assert run.returncode == 0, run.stderr
    truth = [tuple(map(int, line.split())) for line in run.truth(1)]
    found = {place: (int(sender.split(".")[0]), sent) for sender, sent, _, place, _ in matches(run)}
    got = [truth[i] for i in range(20 + (who == "receiver"))]
    assert sorted(found.values()) == sorted(got)
    assert [found[place] for place in sorted(found)] == got
    report, counts = matching(run)
    assert (counts["matched"], counts["unsure"], counts["resized"], counts["differing"]) == (len(got), 0, 0, 0)
    assert counts["sends"] == {**dict.fromkeys(counts["sends"], 0), "cut": sends}
    assert counts["receives"] == {**dict.fromkeys(counts["receives"], 0), "cut": receives}
    calls = [call.function for rank in range(2) for call in run.calls(rank)]
    assert calls.count("MPI_Allreduce") == (4 if who == "both" else 7)
    assert counts["partial"] == (0 if who == "both" else 3)
    assert {row["reason"] for row in report["unmatched"]} <= {"cut"}
