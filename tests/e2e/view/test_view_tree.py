"""hybrid-view's trees and tables: every number on a screen against hybrid-report --json, and screens as a whole."""

import shutil

import pytest

from conftest import HYBRID_RUN, SOURCE, report_json, run
from terminal import Terminal

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")

# What main does: (depth, region, start, end) in ms; so all figures are known.
BEFORE = [
    (1, "solve", 100, 700), (2, "multiply", 150, 350), (2, "multiply", 400, 500), (3, "swap", 410, 420),
    (1, "output", 800, 900), (2, "format", 810, 850), (2, "swap", 860, 861),
]
AFTER = [
    (1, "solve", 100, 400), (2, "multiply", 150, 350), (3, "swap", 160, 200),
    (1, "output", 500, 900), (2, "format", 810, 850), (1, "clean", 950, 990),
]
PLACES = {"main": ("main.c", 10), "solve": ("solve.c", 20), "multiply": ("solve.c", 40), "swap": ("swap.c", 7),
          "output": ("output.c", 5), "format": ("output.c", 33), "clean": ("main.c", 80)}


def write_archive(path, work):
    otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")
    with otf2.writer.open(str(path), timer_resolution=10**3) as trace:
        d = trace.definitions
        node = d.system_tree_node("nodeA", "node", parent=d.system_tree_node("machine"))
        group = d.location_group("process", system_tree_parent=node)
        location = d.location("main", group=group)
        places = {name: ("deep.c", depth) for depth, name, _, _ in work} | PLACES
        regions = {name: d.region(name, source_file=f"/src/{file}", begin_line_number=line)
                   for name, (file, line) in places.items()}
        metrics = d.metric_class([d.metric_member("steps", metric_mode=otf2.enums.MetricMode.ACCUMULATED_START,
                                                  value_type=otf2.enums.Type.UINT64)],
                                 occurrence=otf2.enums.MetricOccurrence.SYNCHRONOUS_STRICT)
        writer = trace.event_writer_from_location(location)
        open_ends = []

        def leave_until(time):
            while open_ends and open_ends[-1][0] <= time:
                end, name = open_ends.pop()
                writer.metric(end, metrics, [end * 3])
                writer.leave(end, regions[name])

        for _, name, start, end in [(0, "main", 0, 1000), *work]:
            leave_until(start)
            writer.metric(start, metrics, [start * 3])
            writer.enter(start, regions[name])
            open_ends.append((end, name))
        leave_until(1000)
    return path / "traces.otf2"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    return write_archive(folder / "before", BEFORE), write_archive(folder / "after", AFTER)


PROGRAM = """
#include <hybrid/hybrid.h>
#include <stdio.h>
static volatile double sink;
__attribute__((noinline)) static void inner(int n)
{
	for (int i = 0; i < n; i++)
		sink += 1.0 / (i + 1);
}
__attribute__((noinline)) static void middle(int n)
{
	inner(n);
	sink += 1;
}
int main(void)
{
	for (int i = 0; i < 3; i++) {
		HYBRID_ENTER("work");
		middle(60000000);
		HYBRID_LEAVE("work");
	}
	middle(20000000);
	return 0;
}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    (folder / "tree.c").write_text(PROGRAM)
    result = run("gcc", "-O1", "-g", "-I", SOURCE / "include", folder / "tree.c", "-o", folder / "tree")
    assert result.returncode == 0, result.stderr
    result = run(HYBRID_RUN, "-q", "-o", folder / "experiment", folder / "tree")
    assert result.returncode == 0, result.stderr
    return folder / "experiment"


# ---------------------------------------------------------------- reading a screen


def unit_of(largest):
    """ns of a printed 1.0, and its word."""
    return (1e9, "seconds") if largest >= 10**9 else (1e6, "milliseconds") if largest >= 10**6 else (1e3, "microseconds")


def table(screen):
    """(headings, [{heading: text, "label": text}]) of the tree or table on a screen: numbers end below their heads."""
    lines = screen.splitlines()
    head = next(i for i, line in enumerate(lines) if line.rstrip().endswith("seconds)"))
    ends, at = [], 0
    label = lines[head].rindex("  ") + 2
    for word in lines[head][:label].split():
        at = lines[head].index(word, at) + len(word)
        ends.append((word.lstrip("▼▲"), at))
    rows = []
    for line in lines[head + 1:]:
        if not line.strip():
            break
        start, row = 0, {}
        for word, end in ends:
            row[word] = line[start:end].strip()
            start = end
        row["label"] = line[label:].lstrip("│├└─▾▸ ")
        rows.append(row)
    return [word for word, _ in ends], rows


def fixed(value, unit, blank=False):
    return "" if blank and not value else f"{value / unit:.3f}"


def expect(node, whole, unit):
    """What columns show of a node of JSON."""
    share = (node["inclusive_ns"] - node["idle_ns"]) * 100 / whole
    alone = (node["exclusive_ns"] + node["blocked_ns"] - node["idle_alone_ns"]) * 100 / whole
    return {
        "incl": fixed(node["inclusive_ns"], unit),
        "incl%": f"{share:.1f}",
        "excl%": f"{alone:.1f}" if alone >= 0.05 else "",
        "excl": fixed(node["exclusive_ns"], unit, True),
        "cpu": fixed(node["exclusive_ns"], unit, True),
        "wait": fixed(node["blocked_ns"] - node["ready_ns"], unit, True),
        "ready": fixed(node["ready_ns"], unit, True),
        "calls": str(node["calls"] or ""),
        "samples": str(node["samples"] or ""),
    }


def below(nodes, node):
    """Calls of the nearest probes below."""
    return sum(n["calls"] if n["kind"] == "probe" else below(nodes, n) for n in nodes if n.get("parent") == node["id"])


def whole_of(nodes):
    """What is 100 %: all but what waited outside of probes."""
    return nodes[0]["inclusive_ns"] - nodes[0]["idle_ns"]


def assert_tree(screen, nodes):
    columns, rows = table(screen)
    unit, word = unit_of(nodes[0]["inclusive_ns"])
    whole = whole_of(nodes)
    assert f"({word})" in screen
    assert len(rows) == len(nodes), screen
    assert {"incl", "incl%"} <= set(columns)
    for row, node in zip(rows, nodes):
        expected = expect(node, whole, unit)
        expected["below"] = str(below(nodes, node) or "")
        for column in columns:
            assert row[column] == expected[column], (column, row, node)
        assert node["name"] in row["label"]
        if node["kind"] == "intermediate":
            assert row["label"].startswith("["), row


# ------------------------------------------------------------------------- numbers


def test_every_number_of_the_tree_is_that_of_the_report(measured, tmp_path):
    nodes = report_json(measured)["nodes"]
    assert {"probe", "intermediate", "leaf"} <= {n["kind"] for n in nodes}
    with Terminal(tmp_path, 200, 60) as terminal:
        terminal.view("--threshold", "0", measured, until="[total]")
        terminal.keys("+")
        screen = terminal.wait(lambda screen: screen.count("\n") and len(table(screen)[1]) == len(nodes), "all nodes")
        assert_tree(screen, nodes)


def test_every_number_of_the_reverse_tree_is_that_of_the_report(measured, tmp_path):
    nodes = report_json(measured, "--reverse")["nodes"]
    with Terminal(tmp_path, 200, 60) as terminal:
        terminal.view("--threshold", "0", "--view", "reverse", measured, until="[total]")
        terminal.keys("+")
        screen = terminal.wait(lambda screen: len(table(screen)[1]) == len(nodes), "all nodes")
        assert_tree(screen, nodes)


def test_call_sites_are_switched_in_place(measured, tmp_path):
    nodes = report_json(measured, "--callsites")["nodes"]
    with Terminal(tmp_path, 200, 60) as terminal:
        terminal.view("--threshold", "0", measured, until="[total]")
        terminal.keys("R")
        terminal.wait_for("main:tree.c:19")
        terminal.keys("+")
        screen = terminal.wait(lambda screen: len(table(screen)[1]) == len(nodes), "all nodes")
        assert_tree(screen, nodes)


@pytest.mark.parametrize("by,presses", [("function", 0), ("line", 1), ("file", 2), ("module", 3)])
def test_every_number_of_a_table_is_that_of_the_report(measured, tmp_path, by, presses):
    rows = report_json(measured, f"--flat={by}")["rows"]
    total = sum(row["exclusive_ns"] + row["blocked_ns"] for row in rows)
    whole = whole_of(report_json(measured)["nodes"])
    with Terminal(tmp_path, 200, 60) as terminal:
        terminal.view("--threshold", "0", "--view", "flat", measured, until="function (")
        for word in ("line (", "file (", "module (")[:presses]:
            terminal.keys("f")
            terminal.wait_for(word)
        if by == "line":  # lines that call are told apart, as the report does then
            terminal.keys("R")
        columns, shown = table(terminal.wait(lambda screen: len(table(screen)[1]) == len(rows), "all rows"))
        assert [row["cpu"] for row in shown] == [
            fixed(n, unit_of(total)[0], True) for n in sorted((row["exclusive_ns"] for row in rows), reverse=True)]

        def cells(row):
            texts = expect(row, whole, unit_of(total)[0])
            return tuple(texts[column] for column in columns)

        # The root's row has waited outside all probes, which is no part of the whole.
        expected = sorted(cells(row) for row in rows if row["kind"] != "root")
        found = sorted(tuple(row[column] for column in columns) for row in shown if "[total]" not in row["label"])
        assert found == expected


# ------------------------------------------------------------------------- screens

TREE_80 = """\
 1tree 2reverse 3flat 4locations 5timeline 6communication 7diff 8quality
    ▼incl  incl%  excl%     excl   calls  call tree (seconds)
    1.000  100.0                          ▾ [total]
    1.000  100.0   30.0    0.300       1  └ ▾ main (main.c:10)
    0.600   60.0   30.0    0.300       1    ├ ▾ solve (solve.c:20)
    0.300   30.0   29.0    0.290       2    │ └ ▸ multiply (solve.c:40)
    0.100   10.0    5.9    0.059       1    └ ▸ output (output.c:5)
"""


def top(screen, lines):
    return "\n".join(screen.splitlines()[:lines]) + "\n"


def test_screen_of_80_columns(archives, tmp_path):
    with Terminal(tmp_path, 80, 24) as terminal:
        terminal.view(archives[0], until="output")
        assert top(terminal.screen(), 7) == TREE_80
        assert not any(line.strip() for line in terminal.lines()[7:22])


def test_screen_of_200_columns(archives, tmp_path):
    with Terminal(tmp_path, 200, 60) as terminal:
        terminal.view("--threshold", "0", "-m", "steps", archives[0], until="output")
        terminal.keys("+")
        terminal.wait_for("swap")
        columns, rows = table(terminal.screen())
        assert columns == ["incl", "incl%", "excl%", "excl", "calls", "below", "steps", "excl"]
        # three steps a ms
        assert [(row["label"], row["incl"], row["below"], row["steps"]) for row in rows] == [
            ("[total]", "1.000", "1", "3000"),
            ("main (main.c:10)", "1.000", "2", "3000"),
            ("solve (solve.c:20)", "0.600", "2", "1800"),
            ("multiply (solve.c:40)", "0.300", "1", "900"),
            ("swap (swap.c:7)", "0.010", "", "30"),
            ("output (output.c:5)", "0.100", "2", "300"),
            ("format (output.c:33)", "0.040", "", "120"),
            ("swap (swap.c:7)", "0.001", "", "3"),
        ]


def test_difference(archives, tmp_path):
    before, after = archives
    nodes = report_json("--diff", before, after)["nodes"]
    with Terminal(tmp_path, 100, 40) as terminal:
        terminal.view("--threshold", "0", "--view", "diff", "--diff", before, after, until="change")
        terminal.wait_for("[total]")
        terminal.keys("+")
        screen = terminal.wait(lambda screen: len(table(screen)[1]) == len(nodes), "all nodes")
        columns, rows = table(screen)
        assert columns == ["before", "after", "change", "change%", "exclchange"]
        for row, node in zip(rows, nodes):
            sides = [node[side]["inclusive_ns"] if node[side] else 0 for side in ("before", "after")]
            assert row["before"] == fixed(sides[0], 1e9, True)
            assert row["after"] == fixed(sides[1], 1e9, True)
            assert row["change"] == f"{(sides[1] - sides[0]) / 1e9:+.3f}"
            mark = "new " if not node["before"] else "gone " if not node["after"] else ""
            assert row["label"].startswith(mark + node["name"])
        assert any(row["label"].startswith("new clean") for row in rows)


# ---------------------------------------------------------------------------- keys


def labels(terminal):
    return [row["label"].split()[0] for row in table(terminal.screen())[1]]


def press(terminal, *keys, until):
    terminal.keys(*keys)
    terminal.wait(lambda screen: [row["label"].split()[0] for row in table(screen)[1]] == until, until)


def test_open_close_zoom_sort_and_threshold(archives, tmp_path):
    with Terminal(tmp_path, 100, 30) as terminal:
        terminal.view(archives[0], until="output")
        assert labels(terminal) == ["[total]", "main", "solve", "multiply", "output"]
        press(terminal, "Down", "Down", "Left", until=["[total]", "main", "solve", "output"])
        press(terminal, "Right", until=["[total]", "main", "solve", "multiply", "output"])
        press(terminal, "z", until=["solve", "multiply"])
        assert "below solve" in terminal.screen()
        press(terminal, "Z", until=["[total]", "main", "solve", "multiply", "output"])
        press(terminal, "I", until=["[total]", "main", "output", "solve", "multiply"])
        press(terminal, "I", until=["[total]", "main", "solve", "multiply", "output"])
        terminal.keys("t", "C-u")
        terminal.type("20")
        press(terminal, "Enter", until=["[total]", "main", "solve", "multiply", "(1"])
        assert "(1 more below 20 %)" in terminal.screen()


def test_a_deep_tree_moves_aside(tmp_path):
    """At 80 columns every name can be read where the cursor is, and the tree stands as it did when that goes back."""
    deep = write_archive(tmp_path / "deep", [(n, f"call_of_level_{n}", 10 * n, 900 - 10 * n) for n in range(1, 26)])
    with Terminal(tmp_path, 80, 40) as terminal:
        first = terminal.view(deep, until="call tree")
        assert " ├ " not in first and "<" not in first.splitlines()[1]
        assert "call_of_level_20" not in first
        for level in (10, 20, 25):
            terminal.keys("Home", *["Down"] * (level + 1))
            screen = terminal.wait_for(f"▾ call_of_level_{level} " if level < 25 else f"  call_of_level_{level} ")
            assert f"(deep.c:{level})" in screen
            assert "call_of_level_1 (deep.c:1)" in screen
            moved = int(screen.splitlines()[1].split("<")[1].split()[0]) if level > 10 else 0
        assert 10 < moved < 26
        # a click on what opens a line still hits
        line = terminal.lines()[2 + 25]
        assert "call_of_level_24" in line
        terminal.mouse(2 + 25, line.index("▾"))
        terminal.wait_gone("call_of_level_25")
        terminal.keys("Right", "Home")
        terminal.wait(lambda screen: screen == first, "the screen at first")


def test_search_opens_the_way(archives, tmp_path):
    with Terminal(tmp_path, 100, 30) as terminal:
        terminal.view("--threshold", "0", archives[0], until="output")
        terminal.keys("/")
        terminal.wait_for("Search:")
        terminal.type("^sw")
        terminal.wait(lambda screen: "swap" in screen and "format" not in screen, "the first of them alone")
        terminal.keys("Enter", "n")
        terminal.wait_for("format")
        assert labels(terminal) == ["[total]", "main", "solve", "multiply", "swap", "output", "format", "swap"]


def test_hide_gives_time_to_the_caller(archives, tmp_path):
    with Terminal(tmp_path, 100, 30) as terminal:
        terminal.view("--threshold", "0", archives[0], until="output")
        terminal.keys("Down", "Down", "Down", "x")
        assert "f function multiply, i file solve.c: i" in terminal.wait_for("f function multiply")
        terminal.keys("C-u")
        terminal.type("f")
        terminal.keys("Enter")
        screen = terminal.wait_for("hidden: function multiply")
        rows = {row["label"].split()[0]: row for row in table(screen)[1]}
        assert "multiply" not in rows
        assert rows["solve"]["incl"] == "0.600" and rows["solve"]["excl"] == "0.590"
        assert rows["swap"]["incl"] == "0.010"  # moved up
        terminal.keys("3")
        rows = {row["label"].split()[0]: row for row in table(terminal.wait_for("function ("))[1]}
        assert "multiply" not in rows and rows["solve"]["excl"] == "0.590"
        terminal.keys("1", "X")
        terminal.wait_for("multiply")
        terminal.wait_gone("hidden:")


def test_columns_marks_and_back(archives, tmp_path):
    with Terminal(tmp_path, 100, 30) as terminal:
        terminal.view("--threshold", "0", archives[0], until="output")
        terminal.keys("c", "C-u")
        terminal.type("calls, excl")
        terminal.wait_for("there are: incl,incl%,")  # above what is asked
        terminal.keys("Enter")
        terminal.wait_gone("excl%")
        assert table(terminal.screen())[0] == ["calls", "excl"]
        terminal.keys("c", "C-u")
        terminal.type("nonsense")
        terminal.keys("Enter")
        terminal.wait_for("no column nonsense; there are: incl,incl%,")
        terminal.keys("Down", "Down", "m")
        terminal.wait_for("Mark this line")
        terminal.keys("Enter")
        terminal.wait_for("●a solve")
        terminal.keys("Home", "M")
        terminal.wait_for("Go to mark: a solve")
        terminal.keys("Enter", "z")
        terminal.wait_for("below solve")
        terminal.keys("Z", "b")
        terminal.wait_gone("below solve")


def test_a_program_without_debug_information(tmp_path):
    """What cannot be shown is said in full at 80 columns; code without a file has its module; no column is empty."""
    (tmp_path / "plain.c").write_text(PROGRAM)
    result = run("gcc", "-O1", "-I", SOURCE / "include", tmp_path / "plain.c", "-o", tmp_path / "plain")
    assert result.returncode == 0, result.stderr
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "e", tmp_path / "plain")
    assert result.returncode == 0, result.stderr
    with Terminal(tmp_path, 80, 24) as terminal:
        terminal.view("--view", "flat", tmp_path / "e", until="inner (plain)")
        terminal.keys("s")
        screen = " ".join(terminal.wait_for("the source of inner").split())
        assert "the source of inner is not known: compile it with -g, or install its debug information" in screen
        terminal.keys("s", "a")
        screen = terminal.wait_for("instruction")
        assert " source" not in screen
        terminal.keys("a", "f", "f")
        terminal.wait_for("[code without a file] (plain)")


def test_long_words_are_said_in_full(archives, tmp_path):
    with Terminal(tmp_path, 40, 24) as terminal:
        terminal.view(archives[0], until="solve")
        terminal.keys("c", "C-u")
        terminal.type("nonsense")
        terminal.keys("Enter")
        said = " ".join(terminal.wait_for("no column nonsense").split())
        assert "no column nonsense; there are: incl, incl%," in said and "steps:excl" in said
