"""hybrid-report --fold: what happens inside a region that is shorter than a sampling period. The program counts itself
what its two parts use, and where it is busy elsewhere is no matter: places are by CPU time."""

import csv
import io
import json
import os
import xml.etree.ElementTree as xml

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, run

COUNT, LONG = 1200, 60
METRICS = "perf::PAGE-FAULTS,perf::TASK-CLOCK"
ALONG = ["--fold", "step", "--fold-along", "perf::TASK-CLOCK"]

NAMES = r"""
#include <hybrid/hybrid.h>

static void twice(void)
{
	HYBRID_ENTER("same");
	HYBRID_LEAVE("same");
}

int main(void)
{
	HYBRID_ENTER("same");
	HYBRID_LEAVE("same");
	HYBRID_ENTER("<b>&lower");
	for (volatile long i = 0; i < 300000000; i++)
		;
	HYBRID_LEAVE("<b>&lower");
	twice();
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(compile_c):
    return compile_c("phases.c")


@pytest.fixture(scope="module")
def runs(program, tmp_path_factory):
    """runs(option ...): an experiment of the program, and what it used: ns and faults of both parts, by instance."""
    made = {}

    def function(*options):
        if options not in made:
            path = tmp_path_factory.mktemp("fold") / "experiment"
            result = run(HYBRID_RUN, "-m", METRICS, "-o", path, *options, program, COUNT, LONG)
            if "without PAPI" in result.stderr:
                pytest.skip("this Hybrid was built without PAPI")
            assert result.returncode == 0, result.stderr
            words = [int(word) for word in result.stdout.split()]
            length = COUNT + 9 * (COUNT // LONG)  # in instances that are not long
            made[options] = path, [n / length for n in words[1:3]], [n / COUNT for n in words[3:]]
        return made[options]

    return function


def report(*arguments, **options):
    return run(HYBRID_REPORT, *arguments, **options)


def fold_json(*arguments):
    result = report("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["fold"]


@pytest.mark.parametrize("options", [["--trace"], []], ids=["traced", "samples"])
def test_two_phases(runs, options):
    path, times, faults = runs(*options)
    fold = fold_json(*ALONG, path)
    boundary = times[0] / sum(times)
    assert 0.3 < boundary < 0.7
    assert fold["regions_traced"] == bool(options)
    if options:
        assert fold["kept"]["instances"] + fold["aside"]["instances"] == COUNT and fold["incomplete"] == 0
        assert COUNT * 0.8 < fold["kept"]["instances"] <= COUNT - COUNT // LONG
    assert fold["samples"] < 2 * fold["kept"]["instances"]
    # long instances were set aside, and what is left is as long as the program says
    assert fold["aside"]["most_ns"] > 5 * sum(times)
    mean = fold["kept"]["sum_ns"] / fold["kept"]["instances"]
    assert mean == pytest.approx(sum(times), rel=0.2)

    metric, = [m for m in fold["metrics"] if m["name"] == "perf::PAGE-FAULTS"]
    assert metric["growth"] == pytest.approx(sum(faults), rel=0.05)
    curve = metric["curve"]
    assert curve == sorted(curve) and curve[0] == 0 and curve[-1] == 1
    assert curve[round((boundary + 0.06) * 160)] > 0.97
    assert curve[round(boundary / 2 * 160)] == pytest.approx(0.5, abs=0.12)
    rate = faults[0] / (times[0] / 1e9)
    rows = [row for row in range(20) if 0.1 < row / 20 and (row + 1) / 20 < boundary - 0.05]
    assert sum(metric["rate"][row] for row in rows) / len(rows) == pytest.approx(rate, rel=0.25)
    for row in range(20):
        assert metric["low"][row] <= metric["rate"][row] <= metric["high"][row]
        if row / 20 > boundary + 0.06:
            assert metric["rate"][row] < rate / 10


def test_call_path(runs):
    path, times, _ = runs("--trace")
    fold = fold_json(*ALONG, path)
    boundary = times[0] / sum(times)
    for row in range(20):
        shares = {"touch": 0, "compute": 0, "": 0}
        for place in fold["places"]:
            word = next(word for word in shares if word in place["path"])
            shares[word] += place["rows"][row]
        part = sum(shares.values())
        if (row + 1) / 20 < boundary - 0.06:
            assert shares["touch"] > 0.8 * part > 0
        if row / 20 > boundary + 0.06:
            assert shares["compute"] > 0.8 * part > 0


def test_text(runs):
    path, *_ = runs("--trace")
    for locale, bars in ("C", "#"), ("C.UTF-8", "█"):
        text = report(*ALONG, path, env={**os.environ, "LC_ALL": locale}).stdout
        assert text.isascii() == (locale == "C")
        assert "fold     step (phases.c:" in text and "by perf::TASK-CLOCK" in text
        assert "outlying instances" in text and bars * 5 in text
        lines = text.splitlines()
        assert sum(line[3:4] == "-" and "ms" not in line for line in lines) >= 20
        assert any("touch > " in line for line in lines) and any("compute > " in line for line in lines)
    assert "hybrid-run --trace" in report("--fold", "step", runs()[0]).stdout


def test_metrics(runs):
    path, *_ = runs("--trace")
    fold = fold_json(*ALONG, "--metric", "x [1/ms] = perf::PAGE-FAULTS / (time * 1000), perf::PAGE-FAULTS", path)
    derived, measured = fold["metrics"]
    assert (derived["name"], derived["unit"], derived["kind"]) == ("x", "1/ms", "derived")
    assert derived["rate"] == pytest.approx([rate / 1000 for rate in measured["rate"]], abs=1e-9)
    # CPU time a second, by time
    fold = fold_json("--fold", "step", "--metric", "busy = perf::TASK-CLOCK / 1000000000 / time", path)
    cpu, busy = fold["metrics"]
    assert cpu["name"] == "CPU" and 0 < sum(busy["rate"]) <= 20.1
    result = report(*ALONG, "--metric", "nothing", path)
    assert result.returncode == 1 and "nothing" in result.stderr and "perf::PAGE-FAULTS" in result.stderr
    assert result.stdout == ""


def test_csv(runs):
    path, *_ = runs("--trace")
    rows = list(csv.DictReader(io.StringIO(report("--csv", *ALONG, path).stdout)))
    assert len(rows) == 20
    fold = fold_json(*ALONG, path)
    metric, = [m for m in fold["metrics"] if m["name"] == "perf::PAGE-FAULTS"]
    assert [float(row["perf::PAGE-FAULTS"]) for row in rows] == metric["rate"]
    assert all("work.h" in row["place"] or "phases.c" in row["place"] for row in rows)


def test_svg(runs, tmp_path):
    path, *_ = runs("--trace")
    file = tmp_path / "step.svg"
    file.write_text("old")
    assert report(*ALONG, "--fold-svg", file, path).returncode == 0
    root = xml.parse(file).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    names = [node.tag.partition("}")[2] for node in root.iter()]
    assert names.count("circle") > 100 and names.count("path") > 2
    texts = " ".join(node.text or "" for node in root.iter())
    for word in "step (phases.c:", "perf::PAGE-FAULTS", "set aside", "touch > ", "compute > ":
        assert word in texts
    assert file.read_text().count("http") == 1 and "href" not in file.read_text()
    assert os.listdir(tmp_path) == ["step.svg"]


def test_svg_that_cannot_be_written(runs, tmp_path):
    path, *_ = runs("--trace")
    result = report(*ALONG, "--fold-svg", tmp_path / "no" / "step.svg", path)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.count("\n") == 1 and "step.svg: No such file" in result.stderr
    # a full disk leaves what was there
    result = report(*ALONG, "--fold-svg", "/dev/full", path)
    assert result.returncode == 1 and "No space left" in result.stderr


@pytest.mark.parametrize("arguments, words", [
    (["--fold", "stop"], ["no such region", "step (phases.c:"]),
    (["--fold", "compute"], ["only sampled", "step (phases.c:"]),
    (["--fold", "step", "--fold-along", "perf::PAGE-FAULTS"], ["no time", "perf::TASK-CLOCK"]),
    (["--fold", "step", "--fold-along", "task-clok"], ["not measured; similar: perf::TASK-CLOCK; measure"]),
    (["--fold", "step", "--fold-along", "io::read_bytes"], ["not measured", "hybrid-run -m io::read_bytes"]),
])
def test_wrong_names(runs, arguments, words):
    result = report(*arguments, runs("--trace")[0])
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize("arguments, word", [
    (["--fold-svg", "x.svg"], "--fold-svg"), (["--fold-along", "x"], "--fold-along"),
    (["--fold", "step", "--fold-outliers", "-1"], "--fold-outliers"), (["--fold", "step", "--diff", "y"], "--diff"),
])
def test_wrong_usage(arguments, word):
    result = report(*arguments, "x")
    assert result.returncode == 2 and word in result.stderr


def test_names(compile_c, measure, tmp_path):
    experiment = measure(compile_c(NAMES), options=["--trace"])
    result = report("--fold", "same", experiment.path)
    assert result.returncode == 1 and result.stderr.count("same (") == 2
    first = result.stderr.partition("may be ")[2].partition(",")[0]
    # it is found then, and was never sampled
    result = report("--fold", first, experiment.path)
    assert result.returncode == 1 and "no sample was taken in 1 instance;" in result.stderr
    result = report("--fold", "low", "--fold-svg", tmp_path / "x.svg", experiment.path)
    assert result.returncode == 0, result.stderr
    assert "<b>&lower" in " ".join(node.text or "" for node in xml.parse(tmp_path / "x.svg").iter())
    # one instance: it is its own history, and nobody knows how sure that is
    fold = fold_json("--fold", "low", experiment.path)
    assert fold["kept"]["instances"] == 1 and fold["metrics"][0]["low"] == [None] * 20


def test_no_region(compile_c, measure):
    experiment = measure(compile_c("int main(void)\n{\n\treturn 0;\n}\n"))
    result = report("--fold", "main", experiment.path)
    assert result.returncode == 1 and "no region was measured" in result.stderr
