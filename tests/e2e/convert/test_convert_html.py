"""hybrid-convert --to html: the page in a headless browser without a network, its figures against hybrid-report."""

import json
import re
import shutil

import pytest
from conftest import BUILD, HYBRID_CONVERT, HYBRID_RUN, SOURCE, report_json, run

MODULES = SOURCE / "build/npm/node_modules"
BROWSER = shutil.which("chromium")
PAGE = BUILD / "converters/hybrid-page.html"

needs_page = pytest.mark.skipif(not PAGE.exists(), reason="the build has no page: npm had no speedscope (scripts/setup)")
needs_browser = pytest.mark.skipif(
    not BROWSER or not shutil.which("node") or not (MODULES / "playwright-core").is_dir(),
    reason="chromium, node or playwright-core (scripts/setup --tests) is not installed",
)

PROGRAM = r"""
#include <math.h>
#include <pthread.h>
static volatile double sink;
__attribute__((noinline)) static void leaf(long n) { for (long i = 0; i < n; i++) sink += sqrt(i); }
__attribute__((noinline)) static void warm(long n) { leaf(n); sink += 1; }
__attribute__((noinline)) static void cold(long n) { leaf(n / 2); for (long i = 0; i < n; i++) sink += i; }
static void *work(void *data)
{
	for (int i = 0; i < 20; i++) {
		warm((long)data * 600000);
		cold(400000);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""

# What a browser must never take for its own.
HOSTILE = """<script>alert(1);window.injected=1</script>"""


def convert(experiment, out, *options):
    result = run(HYBRID_CONVERT, experiment, "--to", "html", "-o", out, *options)
    assert result.returncode == 0, result.stderr
    return out.read_text()


def element(page, name):
    """The data that the page carries under a name."""
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)[1])


def browse(page, folder, *view):
    result = run("node", SOURCE / "tests/e2e/convert/page.js", MODULES, BROWSER, page, folder, *view, timeout=240)
    assert result.returncode == 0, result.stderr
    saw = json.loads(result.stdout)
    assert saw["errors"] == []
    assert saw["requests"] == [f"file://{page}"]
    assert saw["injected"] == "undefined"
    return saw


@pytest.fixture(scope="module")
def threads(compile_c, tmp_path_factory):
    path = tmp_path_factory.mktemp("html") / "experiment"
    result = run(HYBRID_RUN, "-r", "1000", "-o", path, compile_c(PROGRAM, "-g", "-O1", "-pthread", "-lm"))
    assert result.returncode == 0, result.stderr
    return path


def check_table(saw, experiment):
    """All rows, and in nanoseconds, are those of hybrid-report; what is read on the screen is the same in seconds."""
    report = report_json("--flat=function", "--sort=exclusive", experiment)
    rows = {
        (r["name"], r["module"], r["file"]): [r["inclusive_ns"], r["exclusive_ns"], r["blocked_ns"], r["ready_ns"],
                                           r["calls"], r["samples"]]
        for r in report["rows"]
    }
    reported = {(r["name"], r["module"], r["file"]): r for r in report["rows"]}
    whole = sum(r["exclusive_ns"] + r["blocked_ns"] - r["idle_alone_ns"] for r in report["rows"])
    unit = {"s": 1e9, "ms": 1e6, "µs": 1e3}[saw["columns"][1].split()[1]]
    seen = {}
    for cells in saw["tables"]["first"]:
        values = [int(cells[i][1]) for i in (1, 2, 4, 5, 6, 7)]
        seen[cells[0][1], cells[-2][1], cells[-1][1]] = values
        assert cells[0][0] == cells[0][1]
        row = reported[cells[0][1], cells[-2][1], cells[-1][1]]
        assert abs(float(cells[3][0]) - (row["exclusive_ns"] + row["blocked_ns"] - row["idle_alone_ns"]) * 100 / whole) < 0.06
        for i in (1, 2):
            assert cells[i][0] == "%.3f" % (int(cells[i][1]) / unit) or abs(float(cells[i][0]) - int(cells[i][1]) / unit) < 6e-4
    assert seen == rows


@needs_page
@needs_browser
def test_browser(threads, tmp_path):
    page = tmp_path / "page.html"
    convert(threads, page)
    saw = browse(page, tmp_path)
    assert saw["title"] == "experiment - hybrid"
    assert report_json(threads)["quality"]["experiments"][0]["command"] in saw["head"]
    check_table(saw, threads)
    tables = saw["tables"]
    assert [r[2][1] for r in tables["first"]] == sorted((r[2][1] for r in tables["first"]), key=int, reverse=True)
    assert [r[1][1] for r in tables["byInclusive"]] == sorted((r[1][1] for r in tables["first"]), key=int, reverse=True)
    assert [r[0][0] for r in tables["byName"]] != [r[0][0] for r in tables["byInclusive"]]
    assert [r[0][0] for r in tables["searched"]] == ["warm"]
    assert saw["found"] == f"1 of {len(tables['first'])} functions"
    for flame in (saw["flame"], saw["reverse"]):
        assert flame["zoomed"]
        assert {"leaf", "warm", "cold"} <= set(re.findall(r"\w+", flame["sandwich"]))
    check_timeline(saw["timeline"])
    check_threads(saw["threads"], threads)
    check_quality(saw, threads)
    assert (saw["left"], saw["home"]) == ("tab-threads", "flame")


def check_timeline(timeline):
    assert timeline["all"] == timeline["back"] != timeline["zoomed"]
    assert {"leaf", "cold"} <= set(timeline["legend"])
    assert "leaf" not in timeline["modules"]
    assert any("leaf" in text or "cold" in text for text in timeline["hover"])


def check_threads(threads, experiment):
    assert threads["chosen"] == "leaf"
    tree = report_json("--by-thread", "--functions", "--threshold=0", experiment)["tree"]
    assert dict(threads["totals"]) == {child["name"]: child["inclusive_ns"] for child in tree["children"]}

    def leaves(node):
        return node["inclusive_ns"] if node["name"] == "leaf" else sum(map(leaves, node["children"]))

    wanted = {child["name"]: leaves(child) for child in tree["children"]}
    assert dict(threads["inclusive"]) == wanted
    most, mean = max(wanted.values()), sum(wanted.values()) / len(wanted)
    assert "imbalance %.1f %%" % (100 * (most - mean) / mean) in threads["spread"]


def check_quality(saw, experiment):
    for key, value in report_json(experiment)["quality"].items():
        if isinstance(value, int):
            assert saw["quality"][key] == f"{value:,}", key
    assert "Copyright (c) 2018 Jamie Wong" in saw["license"] and "SIL OPEN FONT LICENSE" in saw["license"]


@needs_page
@needs_browser
def test_phone(threads, tmp_path):
    page = tmp_path / "page.html"
    convert(threads, page)
    check_table(browse(page, tmp_path, "390", "800", "dark"), threads)


@needs_page
@needs_browser
def test_hostile_names(measure, compile_c, tmp_path):
    source = '#include <hybrid/hybrid.h>\nint main(void){HYBRID_ENTER("%s");HYBRID_LEAVE("%s");return 0;}'
    experiment = measure(compile_c(source % (HOSTILE, HOSTILE), "-ldl"), options=["--trace"])
    page = tmp_path / "page <b>.html"
    text = convert(experiment.path, page)
    assert HOSTILE not in text
    assert HOSTILE in [f[0] for f in element(text, "data")["functions"]]
    plain = tmp_path / "page.html"
    page.rename(plain)
    saw = browse(plain, tmp_path)
    assert HOSTILE in [row[0][0] for row in saw["tables"]["first"]]


DEEP = r"""
static volatile double sum;
static int odd(int n);
__attribute__((noinline)) static int even(int n)
{
	for (int i = 0; n % 100 == 0 && i < 3000000; i++)
		sum += i;
	int below = n ? odd(n - 1) : 0;
	sum += below;
	return below + 1;
}
__attribute__((noinline)) static int odd(int n)
{
	int below = even(n - 1);
	sum += below;
	return below + 1;
}
int main(void)
{
	return even(4000) == 0;
}
"""


@needs_page
@needs_browser
def test_deep_recursion(measure, compile_c, tmp_path):
    """Deeper than the flame graph's scripts can follow: folded, and said."""
    experiment = measure(compile_c(DEEP, "-g", "-O1", "-fno-optimize-sibling-calls"), options=["-r", "1000"])
    page = tmp_path / "page.html"
    text = convert(experiment.path, page)
    profile = element(text, "together")["profiles"][0]
    assert max(map(len, profile["samples"])) < 20
    assert sum(profile["weights"]) == element(text, "data")["total"]
    assert any(re.match(r"call paths are up to [34],\d+ deep: recursion is folded", note) for note in element(text, "data")["notes"])
    saw = browse(page, tmp_path)
    assert saw["failure"] is False
    assert "even" in re.findall(r"\w+", saw["flame"]["sandwich"])


@needs_page
@needs_browser
def test_error_is_shown(threads, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(convert(threads, page).replace('"functions":', '"other":', 1))
    result = run("node", SOURCE / "tests/e2e/convert/page.js", MODULES, BROWSER, page, tmp_path, timeout=240)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["failure"].startswith("This page failed: ")


@needs_page
@needs_browser
def test_large(tmp_path):
    synthetic = BUILD / "bench/synthetic"
    if not synthetic.exists():
        pytest.skip("bench/synthetic is not built")
    experiment, page = tmp_path / "large", tmp_path / "large.html"
    result = run(synthetic, experiment, "4", "100000", "0", "2")
    assert result.returncode == 0, result.stderr
    text = convert(experiment, page)
    assert len(text) < 50e6
    notes = element(text, "data")["notes"]
    saw = browse(page, tmp_path)
    assert all(note in saw["notes"] for note in notes)


@needs_page
def test_bounds(threads, tmp_path):
    whole = convert(threads, tmp_path / "whole.html", "--threshold", "0")
    part = convert(threads, tmp_path / "part.html", "--threshold", "60")
    assert element(whole, "data")["notes"] == []
    assert any("are left out" in note for note in element(part, "data")["notes"])
    assert len(element(part, "together")["profiles"][0]["samples"]) < len(element(whole, "together")["profiles"][0]["samples"])
    # the tables stay those of all
    assert element(part, "data")["functions"] == element(whole, "data")["functions"]
    # nothing is fetched: no address but speedscope's own words, and no element that would
    head = whole[: whole.index("<style>")]
    assert "default-src 'none'" in head and "unsafe-inline" not in head.split("script-src")[1].split(";")[0]
    assert not re.search(r'<(script|img|link|iframe)[^>]*(src|href)="(?!data:)', whole)


@needs_page
def test_without_trace(measure, compile_c, tmp_path):
    experiment = measure(compile_c(PROGRAM, "-g", "-O1", "-pthread", "-lm"), options=["-r", "0"])
    assert element(convert(experiment.path, tmp_path / "page.html"), "data")["timeline"] is None


def test_page_is_missing(threads, tmp_path):
    """A command that stands alone says what to do."""
    alone = tmp_path / "bin/hybrid-convert"
    alone.parent.mkdir()
    shutil.copy(HYBRID_CONVERT, alone)
    result = run(alone, threads, "--to", "html", "-o", tmp_path / "page.html")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1 and "speedscope" in result.stderr and "scripts/setup" in result.stderr
    assert not (tmp_path / "page.html").exists()
    if PAGE.exists():
        installed = tmp_path / "share/hybrid"
        installed.mkdir(parents=True)
        shutil.copy(PAGE, installed)
        assert run(alone, threads, "--to", "html", "-o", tmp_path / "page.html").returncode == 0
