"""The difference of two experiments: metrics beside time, in hybrid-report and in hybrid-view, and the same program built
in two folders."""

import csv
import io
import json
import shutil

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, SOURCE, report_json, run
from terminal import HYBRID_VIEW, Terminal
from test_metrics_report import OWN_FAULTS

MINOR, TEA = "rusage::minor_faults", "user::tea"
DERIVED = f"kib = {MINOR} * 4"
RATIO = f"each = {MINOR} / {TEA}"

# Arguments: pages of "old" (before only), "same", "more" and "young" (after only); 0: not called.
PROGRAM = r"""
#include <hybrid/hybrid.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct hybrid_counter tea = HYBRID_COUNTER_INIT("tea", "cups");
static long drunk;

static void touch(long pages)
{
	volatile char *memory =
		mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)memory, pages * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
	hybrid_count(&tea, drunk += 10);
}

#define PART(name, pages)                                                                                        \
	if (atol(pages)) {                                                                                       \
		HYBRID_ENTER(name);                                                                              \
		touch(atol(pages));                                                                              \
		HYBRID_LEAVE(name);                                                                              \
	}

int main(int argc, char **argv)
{
	HYBRID_ENTER("all");
	PART("old", argv[1]);
	PART("same", argv[2]);
	PART("more", argv[3]);
	PART("young", argv[4]);
	HYBRID_LEAVE("all");
	return 0;
}
"""
PAGES = {"old": (300, 0), "same": (1000, 1000), "more": (500, 2000), "young": (0, 700)}


@pytest.fixture(scope="module")
def two(tmp_path_factory, compile_c):
    folder = tmp_path_factory.mktemp("two")
    for side, name in enumerate(("before", "after")):
        result = run(HYBRID_RUN, "-q", "-o", folder / name, "-r", "0", "-m", f"{MINOR},{TEA}", compile_c(PROGRAM),
                     *(PAGES[part][side] for part in PAGES))
        assert result.returncode == 0, result.stderr
    return folder / "before", folder / "after"


def value(node, side, name, part="inclusive"):
    return node[side]["metrics"][name][part] if node[side] else None


# ------------------------------------------------------------------------ report


def test_json(two):
    report = report_json("--metric", f"{MINOR},{DERIVED},{RATIO}", "--diff", *two)
    nodes = {node["name"]: node for node in report["nodes"]}
    assert [metric["name"] for metric in report["metrics"]] == [MINOR, TEA, "kib", "each"]
    for name, pages in PAGES.items():
        for side, count in zip(("before", "after"), pages):
            node = nodes[name]
            if not count:
                assert node[side] is None
                continue
            assert count <= value(node, side, MINOR) <= count + OWN_FAULTS
            assert value(node, side, TEA) == 10
            assert value(node, side, "kib") == 4 * value(node, side, MINOR)
            assert value(node, side, "each") == value(node, side, MINOR) / 10
    # most changed first, in what was asked for first
    assert [node["name"] for node in report["nodes"] if node["depth"] == 2] == ["more", "young", "old", "same"]


def test_both_sides_say_what_they_say_alone(two):
    together = {node["name"]: node for node in report_json("--metric", RATIO, "--diff", *two)["nodes"]}
    for side, path in zip(("before", "after"), two):
        for node in report_json("--metric", RATIO, path)["nodes"]:
            assert together[node["name"]][side]["metrics"] == node["metrics"]


def test_csv(two):
    nodes = report_json("--metric", DERIVED, "--diff", *two)["nodes"]
    rows = list(csv.DictReader(io.StringIO(run(HYBRID_REPORT, "--csv", "-m", DERIVED, "--diff", *two).stdout)))
    assert [row["name"] for row in rows] == [node["name"] for node in nodes]
    for row, node in zip(rows, nodes):
        for side in ("before", "after"):
            if node[side]:
                for metric in (MINOR, "kib"):
                    for part in ("inclusive", "exclusive"):
                        assert float(row[f"{side} {metric} {part}"]) == value(node, side, metric, part)


def figures(text):
    """The lines of a difference of MINOR: name: (mark, before, after, change, percent, excl)."""
    lines = text.splitlines()
    head = next(i for i, line in enumerate(lines) if line.endswith("  call tree"))
    assert lines[head - 1].split()[:2] == [MINOR, "time"]
    assert lines[head].split() == ["before", "after", "change", "%", "excl", "change", "call", "tree"]
    rows = {}
    for line in lines[head + 1:]:
        before, after, change = line[:9], line[9:18], line[18:28]
        label = line[line.index("  ", 50):].lstrip(" ├└│")
        mark = label.split()[0] if label.split()[0] in ("new", "gone") else ""
        rows[label.removeprefix(mark).split()[0]] = mark, *(cell.strip() for cell in (before, after, change, line[28:35]))
    return rows


def test_text(two):
    nodes = report_json("--metric", MINOR, "--diff", *two)["nodes"]
    rows = figures(run(HYBRID_REPORT, "--metric", MINOR, "--threshold", "0", "--diff", *two).stdout)
    whole = value(nodes[0], "before", MINOR)
    assert len(rows) == len(nodes)
    for node in nodes:
        before, after = (value(node, side, MINOR) for side in ("before", "after"))
        change = (after or 0) - (before or 0)
        assert rows[node["name"]] == ("new" if before is None else "gone" if after is None else "",
                                      str(before or ""), str(after or ""), f"{change:+d}", f"{change * 100 / whole:+.1f}")


def test_threshold_is_a_share_of_the_metric(two):
    rows = figures(run(HYBRID_REPORT, "--metric", MINOR, "--threshold", "30", "--diff", *two).stdout)
    assert set(rows) == {"[total]", "all", "more", "young", "(2"}  # 300 of 1800 are less


def test_ratio_goes_by_time(two):
    by_time = [node["name"] for node in report_json("--diff", *two)["nodes"]]
    assert [node["name"] for node in report_json("--metric", RATIO, "--diff", *two)["nodes"]] == by_time
    text = run(HYBRID_REPORT, "--metric", RATIO, "--diff", *two).stdout
    assert " time %" in text


def test_metric_of_one_side_only(two, tmp_path, compile_c):
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "plain", "-r", "0", "-m", MINOR, compile_c(PROGRAM), 1, 1, 1, 1)
    assert result.returncode == 0, result.stderr
    assert [metric["name"] for metric in report_json("--diff", tmp_path / "plain", two[1])["metrics"]] == [MINOR]
    said = f"--metric, of what both sides have: there is no metric {TEA}"
    result = run(HYBRID_REPORT, "--metric", TEA, "--diff", tmp_path / "plain", two[1])
    assert result.returncode == 2 and said in result.stderr
    assert run(HYBRID_REPORT, "--metric", "help", "--diff", tmp_path / "plain", two[1]).stdout.split()[0] == MINOR


# ------------------------------------------------------------------------ viewer

needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")


def shown(screen, groups, headings):
    """{name: (mark, cells ...)} of a difference on a screen that has these columns."""
    lines = screen.splitlines()
    head = next(i for i, line in enumerate(lines) if line.rstrip().endswith("seconds)"))
    assert lines[head - 1].split() == groups
    words = lines[head].replace("▼", " ").replace("▲", " ").split()
    assert words[:words.index("call")] == headings, lines[head]
    ends, at = [], 0
    for word in headings:
        at = lines[head].index(word, at) + len(word)
        ends.append(at)
    rows = {}
    for line in lines[head + 1:]:
        if not line.strip():
            break
        cells = [line[start:end].strip() for start, end in zip([0, *ends], ends)]
        label = line[ends[-1]:].lstrip(" │├└▾▸")
        mark = label.split()[0] if label.split()[0] in ("new", "gone") else ""
        rows[label.removeprefix(mark).split()[0]] = mark, *cells
    return rows


def sides(node, name, text=str):
    """What both print of a node: before, after, change."""
    before, after = (value(node, side, name) for side in ("before", "after"))
    change = (after or 0) - (before or 0)
    return (text(before) if before else "", text(after) if after else "",
            ("+" if change >= 0 else "") + text(change))


def mark_of(node):
    return "new" if node["before"] is None else "gone" if node["after"] is None else ""


def kib(number):
    return "0.000" if not number else f"{number:.3f}" if abs(number) < 9999.9995 else f"{number:.0f}"


def ms(node, unit):
    times = [node[side]["inclusive_ns"] if node[side] else 0 for side in ("before", "after")]
    return f"{(times[1] - times[0]) / unit:+.3f}"


@needs_tmux
def test_view_at_80x24(two, tmp_path):
    nodes = report_json("--metric", MINOR, "--diff", *two)["nodes"]
    most = max(nodes[0][side]["inclusive_ns"] for side in ("before", "after"))
    unit = 1e9 if most >= 1e9 else 1e6 if most >= 1e6 else 1e3
    with Terminal(tmp_path, 80, 24) as terminal:
        terminal.view("--threshold", "0", "--view", "diff", "-m", MINOR, "--diff", *two, until="young")
        terminal.keys("+")
        rows = shown(terminal.wait_for("same"), ["time", MINOR], ["change", "before", "after", "change"])
        assert list(rows) == [node["name"] for node in nodes]
        for node in nodes:
            assert rows[node["name"]] == (mark_of(node), ms(node, unit), *sides(node, MINOR))
        # the other way round, and by time
        terminal.keys("I")
        terminal.wait(lambda screen: screen.index("same") < screen.index("more"), "the least first")


@needs_tmux
@pytest.mark.parametrize("presses", [0, 1, 2])
def test_threshold_goes_by_the_metric_whatever_part_orders(two, tmp_path, presses):
    """Change, after, before: what is left out is what changed little."""
    nodes = report_json("--metric", MINOR, "--threshold", "10", "--diff", *two)["nodes"]
    with Terminal(tmp_path, 80, 24) as terminal:
        terminal.view("--threshold", "10", "--view", "diff", "-m", MINOR, "--diff", *two, until="young")
        terminal.keys("+", *["<"] * presses)
        screen = terminal.wait_for("young")
        rows = shown(screen, ["time", MINOR], ["change", "before", "after", "change"])
        assert {name for name in rows if name[0] != "("} == {node["name"] for node in nodes}
        assert ("change", "after", "before")[presses] in screen.splitlines()[2].split("▼")[1].split()[0]


@needs_tmux
def test_view_of_a_derived_metric_and_a_ratio(two, tmp_path):
    asked = f"{DERIVED},{RATIO}"
    nodes = report_json("--metric", asked, "--diff", *two)["nodes"]
    with Terminal(tmp_path, 200, 24) as terminal:
        terminal.view("--threshold", "0", "--view", "diff", "-m", asked, "--diff", *two, until="young")
        terminal.keys("c", "C-u")
        terminal.type("kib:before,kib:after,kib:change,each:before,each:after,each:change,kib:exclchange")
        terminal.keys("Enter", "+")
        three = ["before", "after", "change"]
        rows = shown(terminal.wait_for("same"), ["kib", "each", "kib"], [*three, *three, "exclchange"])
        assert list(rows) == [node["name"] for node in nodes]
        for node in nodes:
            mark, *cells = rows[node["name"]]
            assert mark == mark_of(node)
            assert tuple(cells[:3]) == sides(node, "kib", kib)
            if node["before"] and node["after"]:
                zero = not any(sides(node, "each", kib)[:2])  # of time before the measurement nothing is known
                assert zero or tuple(cells[3:6]) == sides(node, "each", kib)
            else:  # nothing divided by nothing is no number
                assert "-" in cells[3:5] and cells[5] == "-"
            alone = [value(node, side, "kib", "exclusive") or 0 for side in ("before", "after")]
            assert cells[6] == ("+" if alone[1] >= alone[0] else "") + kib(alone[1] - alone[0])


@needs_tmux
def test_view_of_a_metric_of_one_side_only(two, tmp_path, compile_c):
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "plain", "-r", "0", "-m", MINOR, compile_c(PROGRAM), 1, 1, 1, 1)
    assert result.returncode == 0, result.stderr
    with Terminal(tmp_path, 120, 24) as terminal:
        terminal.command(HYBRID_VIEW, "--metric", TEA, "--diff", tmp_path / "plain", two[1])
        assert f"hybrid-view: --metric, of what both sides have: there is no metric {TEA}" in terminal.wait_ended(1)


@needs_tmux
def test_view_hides(two, tmp_path):
    """What is hidden gives its metrics to its caller, on both sides."""
    nodes = {node["name"]: node for node in report_json("--metric", MINOR, "--diff", *two)["nodes"]}
    with Terminal(tmp_path, 200, 24) as terminal:
        terminal.view("--threshold", "0", "--view", "diff", "-m", MINOR, "--diff", *two, until="young")
        terminal.keys("c", "C-u")
        terminal.type(f"{MINOR}:before,{MINOR}:after,{MINOR}:change,{MINOR}:exclchange")
        terminal.keys("Enter", "/")
        terminal.type("more")
        terminal.keys("Enter", "x", "C-u")
        terminal.type("f")
        terminal.keys("Enter")
        rows = shown(terminal.wait_for("hidden: function more"), [MINOR], ["before", "after", "change", "exclchange"])
        assert "more" not in rows
        assert rows["all"][1:4] == sides(nodes["all"], MINOR)
        alone = [sum(value(nodes[name], side, MINOR, part) for name, part in (("all", "exclusive"), ("more", "inclusive")))
                 for side in ("before", "after")]
        assert rows["all"][4] == f"{alone[1] - alone[0]:+d}"


# -------------------------------------------------------------------- two builds

MAIN = "void one(int), two(int);\nint main(void)\n{\n\tone(30000000);\n\ttwo(60000000);\n\treturn 0;\n}\n"
PART = """
#include <hybrid/hybrid.h>
static volatile double sink;
__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += 1.0 / (i + 1);
}
void NAME(int n)
{
	HYBRID_ENTER("part");
	work(n);
	HYBRID_LEAVE("part");
	work(n);
}
"""


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """One program of two files of the same name, built in two folders; measured there."""
    made = []
    for name in ("here", "elsewhere/deep"):
        folder = tmp_path_factory.mktemp("builds") / name
        for part in ("one", "two"):
            (folder / part).mkdir(parents=True)
            (folder / part / "part.c").write_text(PART.replace("NAME", part))
        (folder / "main.c").write_text(MAIN)
        files = [folder / "main.c", folder / "one/part.c", folder / "two/part.c"]
        result = run("gcc", "-g", "-O1", "-I", SOURCE / "include", *files, "-o", folder / "program")
        assert result.returncode == 0, result.stderr
        result = run(HYBRID_RUN, "-q", "-o", folder / "e", folder / "program")
        assert result.returncode == 0, result.stderr
        made.append(folder)
    return made


def assert_matched(node):
    """A line that few samples saw may be missed by all of them once."""
    few = sum(node[side]["samples"] for side in ("before", "after") if node[side]) < 10
    assert (node["before"] and node["after"]) or (node["kind"] == "leaf" and few), node


def test_same_program_built_elsewhere(builds):
    """Regions, functions and sampled lines are found again, each in its own file."""
    before, after = (folder / "e" for folder in builds)
    nodes = report_json("--diff", before, after)["nodes"]
    files = {str(builds[1] / name) for name in ("main.c", "one/part.c", "two/part.c")}
    own = [node for node in nodes if node["file"] in files]
    assert not any(str(builds[0]) in node["file"] for node in nodes)
    assert {(node["kind"], node["file"]) for node in own if node["name"] in ("part", "work")} == {
        (kind, str(builds[1] / name / "part.c")) for kind in ("probe", "leaf") for name in ("one", "two")}
    for node in own:
        assert_matched(node)
        if node["kind"] == "probe":
            assert node["before"]["calls"] == node["after"]["calls"] == 1  # the two are not one
    for node in report_json("--callsites", "--diff", before, after)["nodes"]:
        if node["file"] in files:
            assert_matched(node)


# ------------------------------------------------------------- several programs

WORK = """
#include <unistd.h>
static volatile double sink;
__attribute__((noinline)) void work(int n)
{
	for (int i = 0; i < n; i++)
		sink += 1.0 / (i + 1);
}
int main(void)
{
	work(SIZE);
	usleep(50000);
	return 0;
}
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """Two programs without debug information, which have a function of one name; one has another name afterwards."""
    made = []
    for names in (("first", "second"), ("first", "renamed")):
        folder = tmp_path_factory.mktemp("scripts")
        (folder / "work.c").write_text(WORK)
        for name, size in zip(names, (60000000, 30000000)):
            result = run("gcc", "-O1", f"-DSIZE={size}", folder / "work.c", "-o", folder / name)
            assert result.returncode == 0, result.stderr
        result = run(HYBRID_RUN, "-q", "-o", folder / "e", "sh", "-c", f"{folder}/{names[0]}; {folder}/{names[1]}; true")
        assert result.returncode == 0, result.stderr
        made.append(folder / "e")
    return made


def test_programs_are_told_apart(scripts):
    """Code without a file is that of its program; a program that is called otherwise is still compared."""
    nodes = report_json("--functions", "--diff", *scripts)["nodes"]
    work = [node for node in nodes if node["name"] == "work"]
    assert sorted(node["module"].rpartition("/")[2] for node in work) == ["", "first"]
    assert all(node["before"] and node["after"] for node in work)
    text = run(HYBRID_REPORT, "--functions", "--threshold", "0", "--diff", *scripts).stdout
    assert "main (first)" in text


@needs_tmux
def test_shares_are_of_what_did_not_wait(scripts, tmp_path):
    """As in the call tree: what waited outside all probes is no part of 100 %."""
    nodes = report_json("--functions", "--diff", *scripts)["nodes"]
    before, after = (nodes[0][side] for side in ("before", "after"))
    assert before["idle_ns"] > 50_000_000
    whole = before["inclusive_ns"] - before["idle_ns"]

    def percent(node):
        sides = [node[side] or {"inclusive_ns": 0, "idle_ns": 0} for side in ("before", "after")]
        waited = [side["idle_ns"] for side in sides]
        return f"{(sides[1]['inclusive_ns'] - waited[1] - sides[0]['inclusive_ns'] + waited[0]) * 100 / whole:+.1f}"

    lines = run(HYBRID_REPORT, "--functions", "--threshold", "0", "--diff", *scripts).stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if "call tree" in line)
    printed = [line[27:34].strip() for line in lines[head + 1:head + 1 + len(nodes)]]
    assert printed == [percent(node) for node in nodes]
    with Terminal(tmp_path, 120, 60) as terminal:
        terminal.view("--functions", "--threshold", "0", "--view", "diff", "--diff", *scripts, until="[total]")
        terminal.keys("+")
        screen = terminal.wait(lambda screen: len(screen.rstrip().splitlines()) > len(nodes) + 2, "all nodes")
        at = screen.splitlines()[1].index("change%") + len("change%")
        assert [line[at - 7:at].strip() for line in screen.splitlines()[2:2 + len(nodes)]] == printed


@pytest.mark.parametrize("view", [[], ["--reverse"], ["--flat"], ["--flat=module"]])
def test_scripts_get_what_the_text_shows(scripts, view):
    """A threshold is a share of what did not wait, whatever is printed."""
    def names(*options):
        return run(HYBRID_REPORT, *view, "--functions", "--threshold", "20", *options, scripts[0]).stdout

    lines = names().splitlines()
    head = next(i for i, line in enumerate(lines) if line.endswith("seconds)"))
    shown = [line for line in lines[head + 1:] if line.strip() and " more below " not in line and "name~:" not in line]
    things = json.loads(names("--json"))
    assert len(shown) == len(things.get("nodes") or things["rows"]) > 1
    assert len(shown) == len(names("--csv").splitlines()) - 1
