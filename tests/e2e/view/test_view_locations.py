"""The panes of locations and of communication: what they show is what hybrid-report says, and what the program did."""

import re
import shutil
import subprocess

import pytest

from conftest import HYBRID_RUN, path_of, report_json, wait_until
from terminal import Terminal
from test_view_screens import BEFORE, write_archive

MESSAGES, BYTES = 30, 1000

PROGRAM = f"""
#include <mpi.h>
#include "hybrid/hybrid.h"
static double spin(long n)
{{
	volatile double x = 0;
	for (long i = 0; i < n; i++)
		x += i;
	return x;
}}
int main(int argc, char **argv)
{{
	static char text[{BYTES}];
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	HYBRID_ENTER("work");
	spin(rank ? 120000000 : 40000000);
	HYBRID_LEAVE("work");
	for (int i = 0; i < {MESSAGES}; i++)
		if (rank)
			MPI_Send(text, {BYTES}, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(text, {BYTES}, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return MPI_Finalize();
}}
"""


NAMED_THREADS = """
#define _GNU_SOURCE
#include <pthread.h>
#include "hybrid/hybrid.h"
__attribute__((noinline)) static void spin(void)
{
	for (volatile long x = 0; x < 200000000; x++);
}
static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	HYBRID_ENTER("work");
	spin();
	HYBRID_LEAVE("work");
	return NULL;
}
int main(void)
{
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, work, "a_long_name_one");
	pthread_create(&threads[1], NULL, work, "a_long_name_two");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
"""


@pytest.fixture
def experiment(mpi, ranks):
    e = ranks(2, mpi.compile(PROGRAM))
    assert e.returncode == 0, e.stderr
    return e.path


@pytest.fixture(params=[(80, 24), (200, 60)], ids=["80x24", "200x60"])
def terminal(tmp_path, request):
    (tmp_path / "terminal").mkdir()
    with Terminal(tmp_path / "terminal", *request.param) as made:
        yield made


def duration(ns):
    """As the panes write it."""
    for unit, name, digits in ((1e9, "s", 3), (1e6, "ms", 1), (1e3, "us", 1)):
        if ns >= unit:
            return f"{ns / unit:.{digits}f} {name}"
    return f"{ns} ns"


def rows_of(screen):
    """name -> value, of the rows below the heading."""
    row = r"^[● ] (\S+ \d+(?: thread \d+(?: \S+)?)?) {2,}(\S+(?: [num]?s)?)"
    return {match[1]: match[2] for match in re.finditer(row, screen, re.M)}


def test_locations_are_those_of_the_report(experiment, terminal):
    nodes = report_json("--by-thread", experiment)["nodes"]
    top = {node["name"]: node for node in nodes if node["parent"] == 0}
    wanted = {name: duration(node["inclusive_ns"]) for name, node in top.items()}
    terminal.view("--view", "locations", experiment)
    screen = terminal.wait(lambda screen: rows_of(screen) == wanted, wanted)
    times = [node["inclusive_ns"] for node in top.values()]
    assert f"over {len(times)} threads" in screen and f"total {duration(sum(times))}" in screen
    assert f"max {duration(max(times))}" in screen and f"min {duration(min(times))}" in screen
    assert f"imbalance {100 * (max(times) / (sum(times) / len(times)) - 1):.1f} %" in screen


def test_long_names_are_whole(measure, compile_c, terminal, tmp_path):
    program = tmp_path / "program_of_a_long_name"
    shutil.copy(compile_c(NAMED_THREADS), program)
    test_locations_are_those_of_the_report(measure(program).path, terminal)
    assert len([name for name in rows_of(terminal.screen()) if "a_long_name_" in name]) == 2


def test_the_node_under_the_cursor(experiment, terminal):
    """A region that one rank is in three times as long as the other."""
    terminal.view(experiment, until="work")
    terminal.keys("/")
    terminal.type("^work")
    terminal.keys("Enter", "4")
    terminal.wait_for("inclusive of work")
    nodes = report_json("--by-thread", experiment)["nodes"]
    work = {nodes[node["parent"]]["name"]: node["inclusive_ns"] for node in nodes if node["name"] == "work"}
    wanted = {name: duration(ns) for name, ns in work.items()}
    assert set(wanted) == {"rank 0", "rank 1"}
    terminal.wait(lambda screen: wanted.items() <= rows_of(screen).items(), wanted)
    terminal.keys("o")
    order = sorted(work, key=work.get, reverse=True)
    terminal.wait(lambda screen: "largest first" in screen and list(rows_of(screen))[:2] == order, order)
    terminal.keys("p")
    terminal.wait(lambda screen: "over 2 processes" in screen and set(rows_of(screen)) == set(wanted), "processes")


def values_of(nodes, name):
    """By location: what each value of the pane is to say of the node of that name ([total]: of all)."""
    found = {}
    for number, top in enumerate(nodes):
        if top["parent"] != 0:
            continue
        node = top if name == "[total]" else next((n for n in nodes if n["name"] == name and path_of(nodes, n["id"])[1] is top), None)
        times = [node["inclusive_ns"], node["exclusive_ns"] + node["blocked_ns"]] if node else [0, 0]
        metrics = [metric["inclusive"] for metric in node["metrics"].values()] if node else [0]
        found[top["name"]] = [duration(ns) for ns in times] + [
            str(count) for count in [*((node["samples"], node["calls"]) if node else (0, 0)), *metrics]]
    return found


def search(terminal, expression):
    """Puts the cursor of the tree there, and goes to the locations."""
    terminal.keys("/")
    terminal.type(expression)
    terminal.keys("Enter", "4")


def assert_values(terminal, path, name, kinds):
    """Presses `c` through all values of a node."""
    wanted = values_of(report_json("--by-thread", "-m", kinds[-1], path)["nodes"], name)
    for number, kind in enumerate(kinds):
        values = {location: values[number] for location, values in wanted.items()}
        terminal.wait(lambda screen: f"{kind} of {name} over" in screen and rows_of(screen) == values, f"{kind}: {values}")
        terminal.keys("c")
    terminal.wait_for(f"inclusive of {name} over")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("locations") / "archive"
    write_archive(path, BEFORE)
    return path / "traces.otf2"


@pytest.mark.parametrize("name", ["[total]", "solve", "exchange", "MPI_Send"])
def test_every_value_is_that_of_the_report(archive, terminal, name):
    """Calls, exclusive time and a metric of ranks and threads, of which some were never there."""
    terminal.view("--threshold", "0", "-m", "steps", archive, until="[total]")
    search(terminal, "^" + re.escape(name))
    assert_values(terminal, archive, name, ["inclusive", "exclusive", "samples", "calls", "steps"])


def test_samples_of_threads_are_those_of_the_report(measure, compile_c, terminal):
    path = measure(compile_c(NAMED_THREADS), options=["-m", "page-faults"]).path
    assert len([n for n in report_json("--by-thread", path)["nodes"] if n["name"] == "spin" and n["samples"]]) == 2
    terminal.view("--threshold", "0", "-m", "page-faults", path, until="[total]")
    search(terminal, "^spin")
    assert_values(terminal, path, "spin", ["inclusive", "exclusive", "samples", "calls", "page-faults"])


def test_picking_shows_only_that(experiment, terminal):
    terminal.view("--view", "locations", experiment, until="rank 1")
    terminal.keys("p")
    terminal.wait_for("over 2 processes")
    terminal.keys("Enter")
    terminal.wait_for("not selected")
    terminal.keys("1")
    (root,) = [node for node in report_json("--ranks", "0", experiment)["nodes"] if node["name"] == "[total]"]
    wanted = {f"{root['inclusive_ns'] / unit:.3f}" for unit in (1e9, 1e6)}
    terminal.wait(lambda screen: any("[total]" in line and line.split()[0] in wanted for line in screen.splitlines()), wanted)
    terminal.keys("4", "*")
    terminal.wait(lambda screen: "rank 1" in screen and "not selected" not in screen, "all of them")


def test_matrix_sizes_and_pairs(experiment, terminal):
    screen = terminal.view("--view", "communication", experiment, until="from 0 to 0:")
    lines = screen.splitlines()
    matrix = {words[0]: words[1:] for words in map(str.split, lines[3:5])}
    assert matrix == {"0": [".", "."], "1": [str(MESSAGES), "."]}
    terminal.keys("Down")
    terminal.wait_for(f"from 1 to 0: {MESSAGES} messages, {MESSAGES * BYTES:,} bytes")
    terminal.keys("Right")
    terminal.wait_for("from 1 to 1: 0 messages")
    terminal.keys("c")
    terminal.wait(lambda screen: "bytes from rank" in screen and str(MESSAGES * BYTES) in screen, "bytes")
    terminal.keys("v")
    terminal.wait(lambda screen: re.search(rf"^ +512 B +{MESSAGES * BYTES}\b", screen, re.M), "sizes of messages")
    terminal.keys("v")
    terminal.wait(lambda screen: re.search(rf"^ +1 +0 +{MESSAGES} +{MESSAGES * BYTES} +{BYTES} ", screen, re.M), "largest pairs")


def test_without_mpi(measure, compile_c, terminal):
    e = measure(compile_c("int main(void)\n{ volatile long x = 0; while (x < 100000000) x++; }\n"))
    terminal.view("--view", "communication", e.path, until="no calls of MPI were measured")


def chosen(screen):
    """The threads that are shown, when others are not."""
    rows = re.findall(r"^[● ] (\S+ \d+(?: thread \d+)?) {2,}(.*)", screen, re.M)
    return [name for name, rest in rows if "not selected" not in rest] if "not selected" in screen else []


def test_picks_stay_where_threads_come(compile_c, terminal, tmp_path):
    """The rows are those of the run as it was read last; what was picked is the same thread then."""
    path = tmp_path / "live"
    with subprocess.Popen([HYBRID_RUN, "-q", "-o", path, compile_c("starts_threads.c")]) as hybrid:
        try:
            wait_until(lambda: list(path.glob("*.hyb")))
            terminal.view("--live", "--view", "locations", path, until=" thread")
            terminal.keys("Space")
            screen = terminal.wait(lambda screen: re.search(r"^●", screen, re.M), "the mark")
            (picked,) = re.findall(r"^● (\S+ \d+(?: thread \d+)?) ", screen, re.M)
            count = int(re.search(r"over (\d+) threads", screen)[1])
            terminal.wait(
                lambda screen: int((re.search(r"over (\d+) threads", screen) or [0, 0])[1]) > count + 2
                and re.findall(r"^● (\S+ \d+(?: thread \d+)?) ", screen, re.M) == [picked], "more threads")
            terminal.keys("Enter")
            terminal.wait(lambda screen: chosen(screen) == [picked], picked)
        finally:
            hybrid.terminate()
            hybrid.wait(20)


def test_a_file_is_all_that_is_in_it(experiment, terminal):
    terminal.view("--view", "flat", experiment, until="spin")
    terminal.keys("f", "f")
    terminal.wait_for("file (")
    terminal.keys("/")
    terminal.type("program.*[.]c|[.]c$")
    terminal.keys("Enter", "4")
    terminal.wait_for("inclusive of ")
    terminal.wait(lambda screen: any(not value.startswith("0 ns") for value in rows_of(screen).values()), "time in the file")
