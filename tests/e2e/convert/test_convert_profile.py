"""hybrid-convert's formats of call paths, each by a reader that is not ours, against what hybrid-report says."""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import pytest

from conftest import HYBRID_CONVERT, HYBRID_REPORT, SOURCE, report_json, run

NPM = SOURCE / "build/npm/node_modules"
PPROF = Path("/usr/share/gocode/src/github.com/google/pprof")
FORMATS = ["collapsed", "speedscope", "pprof", "callgrind", "dot", "csv"]

# Recursion, also by way of another function; inlining; names that are hard to write; threads.
PROGRAM = r"""
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static struct hybrid_region odd = HYBRID_REGION_INIT("odd; \"name\"\\N \n\t<b>\xff\xc3\xa9 (7) 12", HYBRID_USER);
static struct hybrid_region nested = HYBRID_REGION_INIT("nested", HYBRID_USER);
static volatile double sum;
static inline __attribute__((always_inline)) void inlined(int n)
{
	for (int i = 0; i < n; i++)
		sum += i;
}
__attribute__((noinline)) static void even(int n);
__attribute__((noinline)) static void uneven(int n)
{
	inlined(20000);
	if (n)
		even(n - 1);
	sum += 1;
}
__attribute__((noinline)) static void even(int n)
{
	inlined(20000);
	if (n)
		uneven(n - 1);
	sum += 1;
}
__attribute__((noinline)) static int again(int n)
{
	inlined(20000);
	return n ? again(n - 1) + 1 : 0;
}
__attribute__((noinline)) static void *work(void *data)
{
	for (int i = 0; i < 40; i++) {
		hybrid_enter(&odd);
		even(6);
		hybrid_enter(&nested);
		sum += again(8);
		hybrid_enter(&odd);
		free(memset(malloc(200000), i, 200000));
		hybrid_leave(&odd);
		hybrid_leave(&nested);
		hybrid_leave(&odd);
		inlined(30000);
	}
	return data;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	inlined(5000000);
	return 0;
}
"""
ODD = 'odd; "name"\\N \n\t<b>\ufffd\u00e9 (7) 12'
FLAGS = ["-fno-optimize-sibling-calls"]
METRIC = "rusage::minor_faults"


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, compile_c):
    from conftest import HYBRID_RUN
    path = tmp_path_factory.mktemp("measured") / "experiment"
    result = run(HYBRID_RUN, "-r", "1000", "-m", METRIC, "-o", path, compile_c(PROGRAM, *FLAGS))
    assert result.returncode == 0, result.stderr
    return path


@pytest.fixture
def convert(tmp_path):
    """convert(experiment, format, options ...): the bytes; what was said is convert.said."""
    def function(path, name, *options):
        out = tmp_path / f"{name}.out"
        result = run(HYBRID_CONVERT, path, "--to", name, "-f", "-o", out, *options)
        assert result.returncode == 0, result.stderr
        function.said, function.path = result.stderr, out
        return out.read_bytes()
    return function


def counted(node):
    """All but what waited outside all probes, which profiles of other tools leave out."""
    return node["inclusive_ns"] - node["idle_ns"]


def waits(node):
    """ns of a node and those below it, read from the tree of hybrid-report."""
    return node["blocked_ns"] - node["ready_ns"] + sum(map(waits, node["children"]))


def total(path, *options):
    return counted(report_json("--functions", *options, path)["tree"])


def idle_alone(path, *options):
    """By name."""
    nodes = report_json("--functions", *options, path)["nodes"]
    alone = defaultdict(int)
    for node in nodes:
        alone[node["name"]] += node["idle_ns"]
        if node["parent"] is not None:
            alone[nodes[node["parent"]]["name"]] -= node["idle_ns"]
    return alone


def total_own(path):
    """What is in no frame."""
    root = report_json("--functions", path)["tree"]
    return root["exclusive_ns"] + root["blocked_ns"] - idle_alone(path)["[total]"]


def flat(path, *options):
    """Name: inclusive and exclusive time as counted(), calls, samples by hybrid-report; names as `plain`."""
    rows = defaultdict(lambda: [0, 0, 0, 0])
    for row in report_json("--functions", "--flat", *options, path)["rows"]:
        own = row["exclusive_ns"] + row["blocked_ns"]
        for i, number in enumerate((counted(row), own, row["calls"], row["samples"])):
            rows[row["name"]][i] += number
    for name, ns in idle_alone(path, *options).items():
        rows[name][1] -= ns
    return rows


def plain(name):
    """As a name stands in a format of lines."""
    return re.sub(r"[\x00-\x1f\x7f]", " ", name)


def speedscope(*files):
    if not (NPM / "speedscope-importer").exists():
        pytest.skip("speedscope is not in build/npm: scripts/setup --tests")
    result = run("node", SOURCE / "tests/e2e/convert/speedscope.js", NPM, *files)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def by_name(functions, key):
    sums = defaultdict(int)
    for function in functions:
        sums[function["name"]] += function[key]
    return sums


# ------------------------------------------------------------------ formats

def test_collapsed(experiment, convert):
    text = convert(experiment, "collapsed").decode()
    lines = [line.rpartition(" ") for line in text.splitlines()]
    assert sum(int(count) for _, _, count in lines) == total(experiment) // 1000
    assert len({stack for stack, _, _ in lines}) == len(lines)
    odd = plain(ODD).replace(";", ":")
    assert any(stack.startswith(odd + ";") or f";{odd};" in stack for stack, _, _ in lines)
    group, = speedscope(convert.path)
    profile, = group["profiles"]
    assert profile["total"] == total(experiment) // 1000
    found, expected = by_name(profile["functions"], "all"), flat(experiment)
    for name, (inclusive, _, _, _) in expected.items():
        name = "[no frames]" if name == "[total]" else name
        inclusive = total_own(experiment) if name == "[no frames]" else inclusive
        assert abs(found[plain(name).replace(";", ":")] - inclusive / 1000) <= len(lines) + 1


def test_speedscope(experiment, convert):
    parsed = json.loads(convert(experiment, "speedscope"))
    jsonschema = pytest.importorskip("jsonschema")
    group, = speedscope(convert.path)
    schema = json.loads((NPM / "speedscope/dist/release/file-format-schema.json").read_text())
    jsonschema.validate(parsed, schema)
    threads = report_json("--functions", "--by-thread", experiment)["tree"]["children"]
    assert len(threads) == 2
    threads.sort(key=counted, reverse=True)
    waited = [(f"{t['name']}, waiting", waits(t)) for t in threads if waits(t)]
    assert waited
    assert [(p["name"], p["total"]) for p in group["profiles"]] == [(t["name"], counted(t)) for t in threads] + waited
    assert {p["unit"] for p in group["profiles"]} == {"nanoseconds"}
    for thread, profile in zip(threads, group["profiles"]):
        found = {name: weight for name, weight in by_name(profile["functions"], "all").items()}
        below = defaultdict(int)
        for node in thread["children"]:
            below[node["name"]] += counted(node)
        outermost = defaultdict(int)
        for stack, weight in profile["stacks"]:
            outermost[stack[0]] += weight
        outermost.pop("[no frames]", None)
        assert outermost == below
        assert found[ODD] == below[ODD]


def messages(text):
    """What protoc --decode prints, as lists of (name, value or list)."""
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            stack[-1].append((line[:-2], []))
            stack.append(stack[-1][-1][1])
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            stack[-1].append((name, int(value) if value.isdigit() else value))
    assert len(stack) == 1
    return stack[0]


def test_pprof(experiment, convert, compile_c, needs):
    needs("protoc")
    if not (PPROF / "proto/profile.proto").exists():
        pytest.skip("golang-github-google-pprof-dev is not installed")
    packed = convert(experiment, "pprof")
    result = run("protoc", "-I", PPROF / "proto", "--decode", "perftools.profiles.Profile", "profile.proto",
                 input=gzip.decompress(packed), text=False)
    assert (result.returncode, result.stderr) == (0, b"")
    fields = messages(result.stdout.decode())
    strings = [value[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
               for name, value in fields if name == "string_table"]
    assert strings[0] == ""
    part = lambda wanted: [value for name, value in fields if name == wanted]
    types = [(strings[dict(t)["type"]], strings[dict(t)["unit"]]) for t in part("sample_type")]
    assert types == [("time", "nanoseconds"), ("samples", "count"), ("calls", "count"), ("cpu", "nanoseconds"),
                     ("wait", "nanoseconds"), ("ready", "nanoseconds"), (METRIC, "count")]
    functions = {dict(f)["id"]: dict(f) for f in part("function")}
    locations = {dict(l)["id"]: [dict(line)["function_id"] for name, line in l if name == "line"]
                 for l in part("location")}
    sums, calls = [0] * 7, defaultdict(int)
    inclusive = defaultdict(int)
    for sample in part("sample"):
        values = [value for name, value in sample if name == "value"]
        stack = [strings[functions[f]["name"]] for name, l in sample if name == "location_id" for f in locations[l]]
        sums = [a + b for a, b in zip(sums, values)]
        calls[stack[0]] += values[2]
        for name in set(stack):
            inclusive[name] += values[0]
    expected = flat(experiment, "--callsites")
    expected["[no frames]"] = expected.pop("[total]", [0, 0, 0, 0])  # all time may have been in functions
    expected["[no frames]"][0] = total_own(experiment)
    for name, (time_ns, _, count, _) in expected.items():
        assert inclusive[name] == time_ns and calls[name] == count, name
    assert sums[0] == total(experiment)
    assert sums[1] == sum(row[3] for row in expected.values())
    nodes = report_json("--functions", experiment)["nodes"]
    assert sums[4] == waits(report_json("--functions", experiment)["tree"]) > 0
    assert sums[3] == sum(n["exclusive_ns"] for n in nodes) and sums[5] == sum(n["ready_ns"] for n in nodes)
    assert strings[dict(part("mapping")[0])["filename"]] == str(compile_c(PROGRAM, *FLAGS))
    mappings = {strings[dict(m)["filename"]]: strings[dict(m).get("build_id", 0)] for m in part("mapping")}
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", compile_c(PROGRAM, *FLAGS)).stdout)[1]
    assert mappings[str(compile_c(PROGRAM, *FLAGS))] == build_id
    group, = speedscope(convert.path)
    assert group["profiles"][0]["total"] in sums


@pytest.fixture(scope="session")
def pprof(tmp_path_factory, needs_go):
    """Google's own tool, from the sources that Debian has."""
    folder = tmp_path_factory.mktemp("pprof")
    result = run("go", "build", "-o", folder / "pprof", "github.com/google/pprof", timeout=300, env={
        **os.environ, "GOPATH": "/usr/share/gocode", "GO111MODULE": "off", "GOCACHE": str(folder / "cache")})
    assert result.returncode == 0, result.stderr
    return folder / "pprof"


@pytest.fixture(scope="session")
def needs_go():
    import shutil
    if not shutil.which("go") or not PPROF.exists():
        pytest.skip("golang-go or pprof's sources are not installed")


def test_pprof_tool(experiment, convert, pprof):
    convert(experiment, "pprof")
    result = run(pprof, "-top", "-unit", "ns", "-nodefraction=0", convert.path)
    assert result.returncode == 0, result.stderr
    assert f"of {total(experiment)}ns total" in result.stdout
    expected = flat(experiment, "--callsites")
    for name in ("again", "even", "work", "nested"):
        row = re.search(rf"^ *(\S+) +\S+ +\S+ +(\S+) +\S+  {name}(?: \(inline\))?$", result.stdout, re.M)
        numbers = [int(text.removesuffix("ns")) for text in row.groups()]
        assert numbers == [expected[name][1], expected[name][0]], name


@pytest.mark.parametrize("inclusive", ["yes", "no"])
def test_callgrind(experiment, convert, needs, inclusive):
    needs("callgrind_annotate")
    convert(experiment, "callgrind")
    result = run("callgrind_annotate", f"--inclusive={inclusive}", "--threshold=100", "--show-percs=no",
                 "--auto=no", convert.path, cwd="/")
    assert result.returncode == 0 and result.stderr == "", result.stderr
    number = lambda text: int(text.replace(",", ""))
    summed = re.search(r"^ *([\d,]+) +\S+ +\S+ +PROGRAM TOTALS", result.stdout, re.M)
    assert number(summed[1]) == total(experiment)
    found = defaultdict(int)
    for row in re.findall(r"^ *([\d,]+|\.) +\S+ +\S+ +\S*?:(.*?)(?: \[[^\]]*\])?$", result.stdout, re.M):
        if row[0] != ".":
            found[row[1]] = number(row[0])
    for name, row in flat(experiment, "--callsites").items():
        assert found[plain(name)] == row[0 if inclusive == "yes" else 1], name
    group, = speedscope(convert.path)
    assert [p["total"] for p in group["profiles"]][0] == total(experiment)


def test_dot(experiment, convert, needs):
    needs("dot")
    text = convert(experiment, "dot", "--threshold", "0")
    result = run("dot", "-Tjson0", convert.path)
    assert (result.returncode, result.stderr) == (0, "")
    graph = json.loads(result.stdout)
    shares, everything = {}, total(experiment)
    for node in graph["objects"]:
        name, *_, inclusive, exclusive = [part for part in node["label"].split("\\n") if "\u00d7" not in part]
        shares[name.replace('\\"', '"').replace("\\\\", "\\")] = float(inclusive[:-1]), float(exclusive[1:-2])
    for name, (inclusive, exclusive, calls, _) in flat(experiment).items():
        found = shares[plain(name)]
        assert found == (round(inclusive * 100 / everything, 2), round(exclusive * 100 / everything, 2)), name
    edges = {(e["tail"], e["head"]) for e in graph["edges"]}
    assert len(edges) == len(graph["edges"])
    assert run("dot", "-Tsvg", convert.path).returncode == 0
    less = convert(experiment, "dot", "--threshold", "20")
    assert len(less) < len(text) and re.search(r"\d+ of \d+ functions and \d+ of \d+ calls are left out", convert.said)


def csv_rows(data):
    """As csv.DictReader reads them, with the names of each one's ancestors and its own under "path"."""
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    for row in rows:
        row["path"] = rows[int(row["parent"])]["path"] + [row["name"]] if row["parent"] else []
    return rows


def test_csv(experiment, convert):
    text = convert(experiment, "csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert "path" not in rows[0]  # of deep recursion it would be nearly all of the file
    nodes = report_json("--functions", experiment)["nodes"]
    assert len(rows) == len(nodes)
    for row, node in zip(rows, nodes):
        assert row["parent"] == ("" if node["parent"] is None else str(node["parent"]))
        for ours, theirs in (("id", "id"), ("name", "name"), ("kind", "kind"), ("file", "file"), ("line", "line"),
                             ("calls", "calls"), ("samples", "samples"), ("inclusive_ns", "inclusive_ns"),
                             ("exclusive_ns", "exclusive_ns"), ("blocked_ns", "blocked_ns")):
            assert row[ours] == str(node[theirs])
        assert int(row["level"]) == (int(rows[int(row["parent"])]["level"]) + 1 if row["parent"] else 0)
    assert all(f"{METRIC} inclusive" in row for row in rows)
    assert int(rows[0][f"{METRIC} inclusive"]) > 0


WAITING = r"""
#include <hybrid/hybrid.h>
#include <pthread.h>
#include <unistd.h>
static struct hybrid_region region = HYBRID_REGION_INIT("region", HYBRID_USER);
static volatile double sum;
static void *idle(void *data)
{
	usleep(400000);
	return data;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, idle, NULL);
	hybrid_enter(&region);
	for (int i = 0; i < 20000000; i++)
		sum += i;
	hybrid_leave(&region);
	for (int i = 0; i < 5000000; i++)
		sum += i;
	pthread_join(thread, NULL);
	return 0;
}
"""


def test_percent(measure, compile_c, convert):
    """Shares are those of hybrid-report: of all time but what was waited outside of all probes."""
    path = measure(compile_c(WAITING), options=["-r", "1000"]).path
    report = run(HYBRID_REPORT, "--functions", "--threshold", "0", path).stdout
    nodes = report_json("--functions", path)["nodes"]
    region = next(node for node in nodes if node["name"] == "region")
    whole = counted(nodes[0])
    assert nodes[0]["idle_ns"] > whole  # or the program shows nothing
    share = region["inclusive_ns"] * 100 / whole
    assert any("region" in line and f" {share:.1f} " in line for line in report.splitlines()), report
    for options in ([], ["--threshold", "1"]):
        rows = csv_rows(convert(path, "csv", *options))
        assert float(rows[0]["inclusive_percent"]) == 100 and len(rows) > 1
        for row in rows[1:]:
            assert float(row["inclusive_percent"]) == round((int(row["inclusive_ns"]) - int(row["idle_ns"])) * 100 / whole, 4)
    limits = {limit: convert(path, "csv", "--threshold", str(limit)) for limit in (share - 0.01, share + 0.01)}
    assert ["region" in {row["name"] for row in csv_rows(text)} for text in limits.values()] == [True, False]
    text = convert(path, "dot", "--threshold", "0").decode()
    assert f"{share:.2f}%" in text
    assert all(float(share) <= 100 for share in re.findall(r"([\d.]+)%", text))


# ------------------------------------------------------------------- bounds

def test_threshold(experiment, convert):
    """What is left out is its callers': sums stay, and so does what belongs to what is left."""
    whole = csv_rows(convert(experiment, "csv"))
    less = csv_rows(convert(experiment, "csv", "--threshold", "5"))
    left = re.search(r"(\d+) of (\d+) call paths are left out, each below 5 % of all time", convert.said)
    assert int(left[1]) == len(whole) - len(less) > 0 and int(left[2]) == len(whole)
    everything = total(experiment)
    kept = {tuple(row["path"]): row for row in less}
    assert set(kept) == {tuple(row["path"]) for row in whole if int(row["inclusive_ns"]) - int(row["idle_ns"]) >= everything * 0.05}
    for key in ("exclusive_ns", "blocked_ns", "samples", f"{METRIC} exclusive"):
        assert sum(int(row[key]) for row in less) == sum(int(row[key]) for row in whole)
    for row in less:
        below = [other for other in less if other["parent"] == row["id"]]
        parts = int(row["exclusive_ns"]) + int(row["blocked_ns"]) + sum(int(b["inclusive_ns"]) for b in below)
        assert int(row["inclusive_ns"]) == parts
    collapsed = convert(experiment, "collapsed", "--threshold", "5").decode()
    assert sum(int(line.rpartition(" ")[2]) for line in collapsed.splitlines()) == everything // 1000


def test_locations(experiment, convert):
    threads = report_json("--flat=thread", experiment)["rows"]
    tid = re.search(r"thread (\d+)", threads[1]["name"])[1]
    expected = total(experiment, "--thread", tid)
    rows = csv_rows(convert(experiment, "csv", "--thread", tid))
    assert int(rows[0]["inclusive_ns"]) - int(rows[0]["idle_ns"]) == expected and "1 of 2 threads are left out" in convert.said
    parsed = json.loads(convert(experiment, "speedscope", "--thread", tid))
    assert [p["endValue"] for p in parsed["profiles"] if not p["name"].endswith(", waiting")] == [expected]
    result = run(HYBRID_CONVERT, experiment, "--to", "csv", "--thread", "1", "-o", "-")
    assert result.returncode == 1 and "no such process or thread" in result.stderr and result.stdout == ""


def test_metric(experiment, convert):
    expected = next(int(row[f"{METRIC} inclusive"]) for row in csv_rows(convert(experiment, "csv")))
    collapsed = convert(experiment, "collapsed", "--metric", METRIC).decode()
    assert sum(int(line.rpartition(" ")[2]) for line in collapsed.splitlines()) == expected
    parsed = json.loads(convert(experiment, "speedscope", "--metric", METRIC))
    assert sum(p["endValue"] for p in parsed["profiles"]) == expected
    assert {p["unit"] for p in parsed["profiles"]} == {"none"}
    header = convert(experiment, "callgrind", "--metric", METRIC).decode()
    assert "events: rusage__minor_faults Time_ns Samples\n" in header
    assert f"summary: {expected} {total(experiment)} " in header
    result = run(HYBRID_CONVERT, experiment, "--to", "csv", "--metric", "cycles?", "-o", "-")
    assert result.returncode == 1
    assert result.stderr == f"hybrid-convert: {experiment}: --metric cycles? was not measured; measured are time, {METRIC}\n"


def test_call_sites(experiment, convert):
    routines = convert(experiment, "collapsed").decode().splitlines()
    lines = convert(experiment, "collapsed", "--callsites").decode().splitlines()
    assert len(lines) > len(routines) and any(re.search(r"again:\d+;again:\d+", line) for line in lines)
    parsed = json.loads(convert(experiment, "speedscope", "--callsites"))
    assert len({f["line"] for f in parsed["shared"]["frames"] if f["name"] == "work"}) > 1


def test_fold_recursion(experiment, convert):
    """A function stands on a path once, and sums are those of whole paths."""
    whole = convert(experiment, "collapsed").decode().splitlines()
    folded = convert(experiment, "collapsed", "--fold-recursion").decode().splitlines()
    paths = lambda lines: [line.rpartition(" ")[0].split(";") for line in lines]
    weight = lambda lines: sum(int(line.rpartition(" ")[2]) for line in lines)
    assert any(path.count("again") > 1 for path in paths(whole))
    assert all(len(set(path)) == len(path) for path in paths(folded))
    assert weight(folded) == weight(whole)
    inclusive = lambda lines, name: weight([line for line in lines if name in line.rpartition(" ")[0].split(";")])
    own = lambda lines, name: weight([line for line in lines if line.rpartition(" ")[0].split(";")[-1] == name])
    for name in ("again", "even", "uneven", "work"):
        assert inclusive(folded, name) == inclusive(whole, name) and own(folded, name) == own(whole, name)
    parsed = json.loads(convert(experiment, "speedscope", "--fold-recursion"))
    assert all(len(set(s)) == len(s) for p in parsed["profiles"] for s in p["samples"])


@pytest.mark.parametrize("options, name, others", [
    (["--threshold", "1"], "otf2", "collapsed, speedscope, pprof"),
    (["--samples", "none"], "csv", "otf2"),
    (["--callsites"], "hybrid", "collapsed"),
    (["--ranks", "0"], "hybrid", "collapsed"),
    (["--from", "1s"], "csv", None),
])
def test_refused_options(experiment, tmp_path, options, name, others):
    result = run(HYBRID_CONVERT, experiment, "--to", name, *options, "-o", tmp_path / "out")
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert f"{options[0]}: " in result.stderr
    if others:
        assert f"{name} does not take it; formats that do: " in result.stderr and others in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [
    ["--threshold", "101"], ["--threshold", "x"], ["--thread", "0"], ["--process", "-1"], ["--ranks", "3-1"],
    ["--from", "1h"], ["--from", "-1"], ["--from", "2s", "--until", "1s"], ["--until", ""]])
def test_wrong_values(experiment, tmp_path, options):
    result = run(HYBRID_CONVERT, experiment, "--to", "csv", *options, "-o", tmp_path / "out")
    assert result.returncode == 2 and result.stderr.count("\n") == 1


def test_help():
    result = run(HYBRID_CONVERT, "--help")
    for name in FORMATS + ["otf2", "hybrid"]:
        assert re.search(rf"^      {name} +\S", result.stdout, re.M)
    assert max(map(len, result.stdout.splitlines())) <= 110


# ------------------------------------------------------------------- output

@pytest.mark.parametrize("name", FORMATS)
def test_standard_output(experiment, convert, name):
    expected = convert(experiment, name)
    result = run(HYBRID_CONVERT, experiment, "--to", name, "-o", "-", text=False)
    assert result.returncode == 0 and result.stdout == expected
    result = run("sh", "-c", f"{HYBRID_CONVERT} {experiment} --to {name} -o - | true")
    assert result.returncode == 0


@pytest.mark.parametrize("name", FORMATS)
def test_full_disk(experiment, convert, small_disk, name):
    disk = small_disk("size=4k")
    (disk / "other").write_bytes(b"x" * 4096)
    result = run(HYBRID_CONVERT, experiment, "--to", name, "-o", disk / "out")
    assert result.returncode == 1 and "No space left on device" in result.stderr
    assert [path.name for path in disk.iterdir()] == ["other"]
    for out in ("-o /dev/full", "-o - > /dev/full"):
        result = run("sh", "-c", f"{HYBRID_CONVERT} {experiment} --to {name} {out}")
        assert result.returncode == 1 and "No space left on device" in result.stderr


def test_places(experiment, tmp_path):
    out = tmp_path / "out"
    command = [HYBRID_CONVERT, experiment, "--to", "csv", "-o", out]
    out.write_text("mine")
    result = run(*command)
    assert result.returncode == 1 and "exists already" in result.stderr and out.read_text() == "mine"
    os.umask(0o027)
    try:
        assert run(*command, "--force").returncode == 0 and out.read_text().startswith("id,parent")
    finally:
        os.umask(0o022)
    assert out.stat().st_mode & 0o777 == 0o640
    out.unlink()
    out.symlink_to(tmp_path / "elsewhere")
    result = run(*command, "--force")
    assert result.returncode == 1 and "is no regular file" in result.stderr and out.is_symlink()
    out.unlink()
    out.mkdir()
    assert run(*command, "--force").returncode == 1 and out.is_dir()
    result = run(HYBRID_CONVERT, experiment, "--to", "csv", "-o", tmp_path / "none/out")
    assert result.returncode == 1 and "none/out" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_interrupted(experiment, tmp_path, number):
    """Whenever the signal comes, there is a whole file or nothing."""
    for _ in range(5):
        process = subprocess.Popen([HYBRID_CONVERT, experiment, "--to", "csv", "-o", tmp_path / "out"])
        time.sleep(0.01)
        process.send_signal(number)
        status = process.wait(20)
        names = [path.name for path in tmp_path.iterdir()]
        assert (status, names) in [(-number, []), (0, ["out"]), (-number, ["out"])]
        (tmp_path / "out").unlink(missing_ok=True)


# ------------------------------------------------------------------- inputs

def test_archive(experiment, convert, tmp_path):
    """An archive of another tool is an input like others."""
    archive = tmp_path / "archive"
    result = run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", archive)
    if "cannot write OTF2" in result.stderr:
        pytest.skip("without libotf2")
    assert result.returncode == 0
    expected = total(archive)
    for name in FORMATS:
        assert convert(archive, name)
    rows = csv_rows(convert(archive, "csv"))
    assert int(rows[0]["inclusive_ns"]) == expected > 0


@pytest.mark.parametrize("name", FORMATS)
def test_damaged(experiment, tmp_path, name):
    """What is left of a cut file is converted, or there is a message; never a crash."""
    data = next(experiment.glob("*.hyb")).read_bytes()
    for part in (0.3, 0.6, 0.9):
        path = tmp_path / "cut.hyb"
        path.write_bytes(data[:int(len(data) * part)])
        result = run(HYBRID_CONVERT, path, "--to", name, "-f", "-o", tmp_path / "out")
        assert result.returncode in (0, 1)
        assert result.returncode == 0 or result.stderr.startswith("hybrid-convert: ")


def test_long_names(measure, compile_c, convert):
    source = """
#include <hybrid/hybrid.h>
#include <string.h>
static char name[100001];
static struct hybrid_region region = HYBRID_REGION_INIT(name, HYBRID_USER);
int main(void)
{
	memset(name, '"', 100000);
	for (volatile int i = 0; i < 1000; i++) {
		hybrid_enter(&region);
		hybrid_leave(&region);
	}
	return 0;
}
"""
    path = measure(compile_c(source), options=["-r", "0"]).path
    files = []
    for name in FORMATS:
        assert convert(path, name)
        files.append(convert.path)
    groups = speedscope(*[file for file in files if file.stem in ("collapsed", "speedscope", "pprof", "callgrind")])
    for group in groups:
        assert group["profiles"][0]["functions"]
