"""hybrid-report with metrics: columns, definitions and merging, on runs of programs that touch known numbers of pages."""

import csv
import io
import json
import re
from collections import Counter

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, SOURCE, Experiment, report_json, run
from known import program
from mpi import need

FAULTS, MINOR, RESIDENT = "perf::PAGE-FAULTS", "rusage::minor_faults", "memory::resident"
OWN_FAULTS = 20  # of the measurement, while a region is open
PAGES = 3000
THREE = r"""
#include <hybrid/hybrid.h>
#include <sys/mman.h>

static void touch(long pages)
{
	static volatile char *memory;

	memory = mmap(0, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)memory, pages * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		memory[i * 4096] = 1;
}

int main(void)
{
	static struct hybrid_counter tea = HYBRID_COUNTER_INIT("my tea", "cups");

	HYBRID_ENTER("few");
	touch(500);
	hybrid_count(&tea, 3);
	HYBRID_LEAVE("few");
	HYBRID_ENTER("many");
	touch(1500);
	hybrid_count(&tea, 15); /* the total */
	HYBRID_LEAVE("many");
	HYBRID_ENTER("none");
	HYBRID_LEAVE("none");
	return 0;
}
"""


@pytest.fixture(scope="module", autouse=True)
def kernel_counts():
    if not re.search(rf"{FAULTS}\s", run(HYBRID_RUN, "--list-metrics", "PAGE-FAULTS").stdout):
        pytest.skip("counters of the kernel are not permitted here")


def measured(path, *words):
    result = run(HYBRID_RUN, "-q", "-o", path, "-r", "0", *words)
    assert result.returncode == 0, result.stderr
    return Experiment(path, result)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """One line touches a page where another one touches two, with samples by page faults."""
    return measured(tmp_path_factory.mktemp("lines") / "e", "-m", f"{MINOR},{RESIDENT}", "-e", f"{FAULTS}@10",
                    program("metrics"), "lines", PAGES)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Regions once, twice and inside."""
    return measured(tmp_path_factory.mktemp("pages") / "e", "-m", f"{FAULTS},{MINOR}", program("metrics"), "pages", PAGES)


@pytest.fixture(scope="module")
def three(tmp_path_factory, compile_c):
    return measured(tmp_path_factory.mktemp("three") / "e", "-m", f"{FAULTS},user::my tea,{RESIDENT}", compile_c(THREE))


def text(e, *options):
    result = run(HYBRID_REPORT, *options, e.path)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def wrong(e, *options):
    """What is said of wrong options; nothing is printed then."""
    result = run(HYBRID_REPORT, *options, e.path)
    assert result.returncode and result.stderr.startswith("hybrid-report: ")
    return result.stderr


def values(things, name, metric, part="inclusive"):
    """Sum over the nodes or rows of that name that are probes."""
    found = [thing["metrics"][metric][part] for thing in things if thing["name"] == name and thing["kind"] == "probe"]
    assert found
    return sum(found)


def derived(e, definition, name):
    """Of each region its inclusive value."""
    nodes = e.report("--metric", definition)["nodes"]
    return {node["name"]: node["metrics"][name]["inclusive"] for node in nodes}


def near(count, true, more=OWN_FAULTS):
    assert true <= count <= true + more, (count, true)


# ------------------------------------------------------------------ columns


def marked(word):
    """The line of metrics.c with that comment."""
    source = (SOURCE / "tests/programs/metrics.c").read_text().splitlines()
    return next(i for i, line in enumerate(source, 1) if f"/* {word} */" in line)


def test_shares_of_lines(lines):
    """Of 3 pages a turn one line touches 1, the next 2; both by samples of the faults themselves."""
    rows = lines.report("--flat=line", "--metric", FAULTS)["rows"]
    by_line = {row["line"]: row["metrics"][FAULTS] for row in rows if row["samples"]}
    one, two = by_line[marked("one")], by_line[marked("two")]
    assert one["exclusive"] == pytest.approx(PAGES, rel=0.05)
    assert two["exclusive"] == pytest.approx(2 * PAGES, rel=0.05)
    assert one["samples"] + two["samples"] == pytest.approx(3 * PAGES / 10, abs=6)
    shown = text(lines, "--flat=line", "--metric", FAULTS)
    shares = re.findall(r"^ *\d+ +([\d.]+) .*lines:metrics\.c:(\d+)$", shown, re.M)
    assert [int(line) for _, line in shares] == [marked("two"), marked("one")]  # most first
    assert [float(share) for share, _ in shares] == pytest.approx([66.7, 33.3], abs=3)


def test_inclusive_is_the_sum_of_the_parts(lines, pages, three):
    for e in (lines, pages, three):
        report = e.report("--metric", FAULTS)
        below = Counter()
        for node in report["nodes"]:
            for name, value in node["metrics"].items():
                below[node["parent"], name] += value["inclusive"]
        for node in report["nodes"]:
            for name, value in node["metrics"].items():
                assert value["inclusive"] == value["exclusive"] + below[node["id"], name], (node["name"], name)


def test_regions(pages):
    nodes = pages.report("--metric", FAULTS)["nodes"]
    for metric in (FAULTS, MINOR):
        near(values(nodes, "once", metric), PAGES)
        near(values(nodes, "inside", metric), PAGES)
        near(values(nodes, "twice", metric), 3 * PAGES)
        near(values(nodes, "twice", metric, "exclusive"), 2 * PAGES)
        near(values(nodes, "all", metric), 4 * PAGES, 3 * OWN_FAULTS)


def test_first_metric_tells_the_order(three):
    """The tea and the faults agree here; time need not."""
    shown = text(three, "--metric", "user::my tea,time")
    assert re.search(r" user::my tea ", shown)
    assert [name for name in re.findall(r" (few|many) \(", shown)] == ["many", "few"]
    assert re.search(r"^ +12 +80\.0 ", shown, re.M) and re.search(r"^ +3 +20\.0 ", shown, re.M)


def test_flat_and_reverse(pages, three):
    rows = pages.report("--flat", "--metric", FAULTS)["rows"]
    near(values(rows, "twice", FAULTS, "exclusive"), 2 * PAGES)
    near(values(rows, "inside", FAULTS), PAGES)
    nodes = pages.report("--reverse", "--metric", FAULTS)["nodes"]
    top = {node["name"]: node["metrics"][FAULTS]["inclusive"] for node in nodes if node["depth"] == 1}
    near(top["twice"], 2 * PAGES)  # what it has alone
    near(top["once"], PAGES)
    near(top["inside"], PAGES)
    (caller,) = (node for node in nodes if node["depth"] == 2 and nodes[node["parent"]]["name"] == "inside")
    assert caller["name"] == "twice" and caller["metrics"][FAULTS]["inclusive"] == top["inside"]
    for options in (["--flat"], ["--reverse"], ["--flat=thread"], ["--flat=module"], ["--by-thread"], ["--callsites"]):
        assert FAULTS in text(three, *options, "--metric", FAULTS)


def test_growth_of_a_level(three):
    nodes = three.report("--metric", RESIDENT)["nodes"]
    near(values(nodes, "many", RESIDENT), 1500 * 4096, 64 * 4096)
    shown = text(three, "--metric", RESIDENT)
    assert re.search(r"growth +incl% +alone", shown) and re.search(r"5\.\d+ MiB|6\.\d+ MB", shown)


def test_csv(pages):
    result = text(pages, "--csv", "--metric", f"r = {FAULTS} / {MINOR}, never = 1 / 0")
    rows = list(csv.DictReader(io.StringIO(result)))
    nodes = pages.report("--metric", FAULTS)["nodes"]
    assert len(rows) == len(nodes)
    for row, node in zip(rows, nodes):
        for metric in (FAULTS, MINOR):
            for part in ("inclusive", "exclusive"):
                assert int(row[f"{metric} {part}"]) == node["metrics"][metric][part]
        assert row["never inclusive"] == ""
    assert float(rows[0]["r inclusive"]) == pytest.approx(1, abs=0.01)


def test_help_lists_what_there_is(three):
    shown = text(three, "--metric", "help").splitlines()
    assert [re.split("  +", line)[0] for line in shown] == [FAULTS, "user::my tea", RESIDENT, "time"]
    assert "page faults" in shown[0] and "(goes up and down) (of the process)" in shown[2]
    assert shown[3].endswith("  seconds")


# ------------------------------------------------------------- derived ones


def test_ratio_is_of_the_sums(three):
    ratio = derived(three, f"per cup = {FAULTS} / user::my tea", "per cup")
    near(ratio["few"], 500 / 3, OWN_FAULTS / 3)
    near(ratio["many"], 1500 / 12, OWN_FAULTS / 12)
    near(ratio["[total]"], 2000 / 15, 300 / 15)  # what it touches before main() as well
    assert ratio["none"] is None  # x / 0


@pytest.mark.parametrize("expression, factor, more", [
    ("{} * 2 + 1", 2, 1), ("1 + {} * 2", 2, 1), ("({} + 1) * 2", 2, 2), ("{} - {} / 2 - {} / 4", 0.25, 0), ("-{} + 3", -1, 3),
    ("{} / 2 / 2", 0.25, 0), ("2 * -{}", -2, 0), ("{} * 1e-2", 0.01, 0),
])
def test_precedence(three, expression, factor, more):
    node = three.report("--metric", "x = " + expression.replace("{}", "user::my tea"))["nodes"]
    for one in node:
        tea = one["metrics"]["user::my tea"]["inclusive"]
        assert one["metrics"]["x"]["inclusive"] == pytest.approx(tea * factor + more)


def test_names_with_a_minus_and_quoted_ones(three):
    for definition in (f"x = {FAULTS}-{FAULTS}", f'x = "{FAULTS}" - {FAULTS}', f'x="{FAULTS}"-"{FAULTS}"'):
        assert set(derived(three, definition, "x").values()) == {0}
    assert derived(three, 'x = "user::my tea" * 2', "x")["few"] == 6


def test_uses_of_earlier_ones(three):
    few = derived(three, "cups = user::my tea * 2, pots = cups / 6, all = pots + cups", "all")
    assert few["few"] == 7
    report = three.report("--metric", "rate [1/s] = user::my tea / time", "--metric", "half = rate / 2")
    for node in report["nodes"]:
        if node["inclusive_ns"]:
            rate = node["metrics"]["user::my tea"]["inclusive"] / (node["inclusive_ns"] / 1e9)
            assert node["metrics"]["rate"]["inclusive"] == pytest.approx(rate)
            assert node["metrics"]["half"]["inclusive"] == pytest.approx(rate / 2)
    what = {metric["name"]: metric for metric in report["metrics"]}
    assert what["rate"]["unit"] == "1/s" and what["rate"]["expression"] == "user::my tea / time"
    assert what[RESIDENT]["unit"] == "B" and what[RESIDENT]["level"]


def test_ratio_first_goes_by_time_for_shares(three):
    shown = text(three, "--threshold", "0", "--metric", f"per cup = {FAULTS} / user::my tea")
    assert "time %" in shown
    assert re.findall(r" (few|many|none) \(", shown) == ["few", "many", "none"]  # undefined last
    assert re.search(r"^ +- .*none \(", shown, re.M)


# ------------------------------------------------------------------- errors


@pytest.mark.parametrize("option, said", [
    ("perf::PAGE-FALTS", f"there is no metric perf::PAGE-FALTS; similar: {FAULTS}"),
    ("user::my te", "similar: user::my tea"),
    ("x = 1 / perf::PAGE-FAULT", "there is no metric perf::PAGE"),
    ("time = 3", "time: there is a metric of that name already"),
    ("x = (1", "a ) is missing at the end"),
    ("", "--metric: its value is empty"),
])
def test_wrong_metric(three, option, said):
    assert said in wrong(three, "--metric", option)


@pytest.mark.parametrize("view", ["--mpi", "--messages", "--flat=rank"])
def test_views_without_metrics(three, view):
    assert "--metric is for call trees and tables" in wrong(three, view, "--metric", FAULTS)


def definitions(tmp_path, text_):
    (tmp_path / "my.metrics").write_text(text_)
    return tmp_path / "my.metrics"


def test_file(three, tmp_path):
    file = definitions(tmp_path, f"# two\n\npot = user::my tea / 6\nper pot = {FAULTS} / pot\n")
    shown = text(three, "--metrics-file", file)
    assert "pot" in shown and "per pot" in shown
    one = text(three, "--metrics-file", file, "--metric", "pot")
    assert "per pot" not in one


def test_file_with_what_was_not_measured(three, tmp_path):
    file = definitions(tmp_path, "ipc = PAPI_TOT_INS / PAPI_TOT_CYC\npot = user::my tea / 6\n")
    result = run(HYBRID_REPORT, "--metrics-file", file, three.path)
    assert result.returncode == 0 and "pot" in result.stdout
    assert result.stderr == f"hybrid-report: {file}:1: left out: there is no metric PAPI_TOT_INS\n"
    assert "nothing in it can be derived" in wrong(three, "--metrics-file", definitions(tmp_path, "ipc = PAPI_TOT_INS\n"))


def test_errors_in_a_file_name_the_line_and_point_at_the_column(three, tmp_path):
    file = definitions(tmp_path, "# first\n\npot = user::my tea / 6\nx = 2 * (pot + )\n")
    first, line, caret = wrong(three, "--metrics-file", file).splitlines()
    assert first == f"hybrid-report: {file}:4: a metric, a number or ( is missing in front of this"
    assert line[caret.index("^")] == ")" and line.strip() == "x = 2 * (pot + )"
    assert f"{file}:1: pot: a line is NAME = EXPRESSION" in wrong(three, "--metrics-file", definitions(tmp_path, "pot\n"))
    assert "cannot read it: No such file" in wrong(three, "--metrics-file", tmp_path / "none")


def test_the_definitions_that_come_with_it(pages):
    """What they need and was not measured is named; the rest is shown."""
    file = SOURCE / "examples/derived.metrics"
    result = run(HYBRID_REPORT, "--json", "--metrics-file", file, pages.path)
    assert result.returncode == 0
    assert all(re.match(rf"hybrid-report: {file}:\d+: left out: there is no metric ", line)
               for line in result.stderr.splitlines())
    report = json.loads(result.stdout)
    assert [metric["name"] for metric in report["metrics"]] == [
        FAULTS, MINOR, "faults_per_second", "fresh_memory", "fresh_memory_rate"]
    for node in report["nodes"]:
        assert node["metrics"]["fresh_memory"]["inclusive"] == 4096 * node["metrics"][FAULTS]["inclusive"]


# ------------------------------------------------------------------ several


def test_several_experiments_add_up(pages, lines):
    """A ratio is that of the sums."""
    both = report_json("--metric", f"r = {FAULTS} / {MINOR}", pages.path, lines.path, pages.path)
    single = [e.report("--metric", FAULTS)["nodes"][0]["metrics"] for e in (pages, lines, pages)]
    total = both["nodes"][0]["metrics"]
    for metric in (FAULTS, MINOR):
        assert total[metric]["inclusive"] == sum(one[metric]["inclusive"] for one in single)
    assert total["r"]["inclusive"] == pytest.approx(total[FAULTS]["inclusive"] / total[MINOR]["inclusive"])
    near(values(both["nodes"], "once", FAULTS), 2 * PAGES, 2 * OWN_FAULTS)
    assert {metric["name"]: metric.get("processes") for metric in both["metrics"]} == {
        FAULTS: 3, MINOR: 3, RESIDENT: 1, "r": None}


@pytest.mark.parametrize("mpi_name", ["mpich", "openmpi"])
def test_ranks_print_what_one_process_prints(pages, lines, three, mpi_name):
    need(mpi_name)
    more = ["--allow-run-as-root", "--oversubscribe"] if mpi_name == "openmpi" else []
    launcher = ["timeout", "-k", "5", "50", f"mpiexec.{mpi_name}", *more, "-n", "2"]
    for options in (["--json", "--metric", f"r = {FAULTS} / time, {FAULTS}"], ["--flat=line", "--metric", FAULTS]):
        command = [HYBRID_REPORT, *options, pages.path, lines.path, three.path]
        alone, together = run(*command), run(*launcher, *command)
        assert together.returncode == 0, together.stderr
        assert together.stdout == alone.stdout and FAULTS in alone.stdout


def test_what_is_shared_out_as_time_is_marked(measure, compile_c):
    """Neither what samples place by their readings, nor what took samples of its own."""
    program = compile_c("int main(void)\n{\n\tfor (volatile long i = 0; i < 100000000; i++)\n\t\t;\n\treturn 0;\n}\n")
    done = measure(program, options=["-m", "rusage::user_time,rusage::minor_faults", "-e", "perf::TASK-CLOCK@1000000"])
    report = done.report("--metric", "rusage::user_time,rusage::minor_faults,perf::TASK-CLOCK")
    assert {m["name"]: m["shared"] for m in report["metrics"]} == {
        "rusage::user_time": True, "rusage::minor_faults": False, "perf::TASK-CLOCK": False}
    text = " ".join(run(HYBRID_REPORT, "--quality", done.path).stdout.split())
    assert "shared rusage::user_time is shared out below probes as time is" in text
