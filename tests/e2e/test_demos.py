"""The examples that show what papers show run, and show it."""

import json
import re
import shutil
from collections import Counter

import pytest

from conftest import BUILD, SOURCE, report_json, run


def show(example, *arguments, timeout=120, **options):
    """The titles and texts that examples/EXAMPLE/show prints."""
    result = run(SOURCE / "examples" / example / "show", BUILD, *arguments, timeout=timeout, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    parts = re.split(r"^=== (.*)$", result.stdout, flags=re.M)
    return dict(zip((title.partition(":")[0] for title in parts[1::2]), parts[2::2]))


# ------------------------------------------------------------- assembly (paper 003, V.A)


@pytest.fixture(scope="module")
def assembly():
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    return show("assembly")


def leaves(report):
    return {(node["name"], node["line"]): node["samples"] for node in report["nodes"] if node["samples"]}


@pytest.mark.parametrize("view", ["plain", "lines"])
def test_assembly_is_found_by_its_own_symbol(assembly, view):
    report = report_json(BUILD / "assembly" / view)
    hot = leaves(report)
    inside = sum(count for (name, _), count in hot.items() if name.startswith(".TKLOOP16"))
    assert report["quality"]["samples"] > 20 and inside > 0.95 * report["quality"]["samples"], hot
    node = max(report["nodes"], key=lambda node: node["samples"])
    names = []
    while node["parent"] is not None:
        node = report["nodes"][node["parent"]]
        names.append(node["name"])
    assert names[:2] == ["sum_up", "sum up"]


def test_assembly_with_lines_shows_the_loop(assembly):
    source = (SOURCE / "examples/assembly/kernel.S").read_text().splitlines()
    loop = range(source.index(".TKLOOP16:") + 2, source.index(".TKDONE:") + 1)
    hot = leaves(report_json(BUILD / "assembly/lines"))
    assert {line for name, line in hot if name.startswith(".TKLOOP16")} <= set(loop)
    assert all(line == 0 for name, line in leaves(report_json(BUILD / "assembly/plain")) if name.startswith(".TK"))


# ------------------------------------------------------ many tiny functions (table I)


@pytest.fixture(scope="module")
def tiny():
    if not shutil.which("c++"):
        pytest.skip("needs a C++ compiler")
    rounds = 100
    show("tiny", rounds)
    folder = BUILD / "tiny"
    calls = {int(re.search(r"^calls (\d+)$", path.read_text(), re.M)[1]) for path in folder.glob("*.out")}
    assert len(calls) == 1
    qualities = {name: report_json(folder / name)["quality"] for name in
                 ("none", "main", "limited", "filtered", "full", "demoted")}
    return rounds, calls.pop(), qualities


def test_tiny_counts_of_probes(tiny):
    """By the program's own account: from no call to all of them; demoted ones still count."""
    rounds, calls, qualities = tiny
    got = {name: quality["probe_calls"] for name, quality in qualities.items()}
    few = 3 + 2 * rounds
    assert got == {"none": 0, "main": 3, "limited": few, "filtered": few, "full": calls, "demoted": calls}
    assert calls > 10000 * few
    assert qualities["demoted"]["skipped_calls"] > 0 and qualities["full"]["skipped_calls"] == 0


def test_tiny_cost_grows_with_probes(tiny):
    """As the runtime counts it: nothing to speak of with a probe in main alone, more than the program's work with all."""
    cost = {name: quality["probe_ns"] / quality["cpu_ns"] for name, quality in tiny[2].items()}
    assert cost["none"] == 0 and cost["main"] < 0.0001 and cost["limited"] < 0.01
    assert cost["full"] > 20 * cost["limited"]


def test_tiny_result_is_the_same(tiny):
    texts = {path.read_text() for path in (BUILD / "tiny").glob("*.out")}
    assert len(texts) == 1


# ------------------------------------------------------- timeline of 64 ranks (figure 5)


def otf2_counts(archive):
    """How often otf2-print, which is not ours, sees each kind of event; and of enters and leaves those of each region."""
    result = run("otf2-print", archive, timeout=120)
    assert result.returncode == 0, result.stderr
    kinds = Counter()
    for line in result.stdout.splitlines():
        words = line.split(None, 3)
        if len(words) > 2 and words[1].isdigit() and words[2].isdigit():
            kinds[words[0]] += 1
            if words[0] in ("ENTER", "LEAVE"):
                kinds[words[0], re.search(r'Region: "([^"]*)"', words[3])[1]] += 1
    return kinds


@pytest.fixture(scope="module")
def timeline():
    mpi = next((name for name in ("mpich", "openmpi") if shutil.which(f"mpicc.{name}") and shutil.which(f"mpiexec.{name}")), None)
    if not mpi or not (BUILD / "converters/hybrid-convert").exists() or not shutil.which("otf2-print"):
        pytest.skip("needs an MPI and OTF2")
    if run("/usr/bin/python3", "-c", "import otf2").returncode:
        pytest.skip("python3-otf2 is not installed")
    views = show("timeline", mpi, 64, timeout=240)
    folder = BUILD / f"timeline-{mpi}"
    told = {name: int(value) for name, value in (line.split() for line in (folder / "plate.out").read_text().splitlines())}
    return views["timeline"], folder, told


def test_timeline_has_all_ranks_and_messages(timeline):
    _, folder, told = timeline
    (archive,) = (folder / "otf2").glob("*.otf2")
    kinds = otf2_counts(archive)
    assert kinds["ENTER"] == kinds["LEAVE"] > 64 * 12 * 8
    assert kinds["MPI_ISEND"] + kinds["MPI_SEND"] == told["messages"]
    assert kinds["MPI_IRECV"] + kinds["MPI_RECV"] == told["messages"]
    assert kinds["MPI_COLLECTIVE_END"] >= 64 * told["collectives"]
    for region in ("exchange", "relax", "converge"):
        assert kinds["ENTER", region] == kinds["LEAVE", region] == 64 * 12


def test_timeline_is_coloured_by_file(timeline):
    text, folder, _ = timeline
    assert text.strip().startswith("64 lines")
    times = {file: float(seconds) for seconds, file in re.findall(r"^ +([\d.]+) s  (\S+)$", text, re.M)}
    assert {"output.c", "converge.c", "relax.c", "exchange.c"} <= set(times)
    # 64 ranks sleep 12 times for 4 to 22 ms in relax.c; what is slower than that is not its fault.
    assert times["relax.c"] > 64 * 12 * 0.004
    drawing = (folder / "timeline.svg").read_text()
    assert drawing.count("<text") >= 64 + 4 and len(set(re.findall(r'fill="(#\w+)"', drawing))) >= 5


def test_vite_draws_it(timeline, needs):
    needs("vite")
    needs("xvfb-run")
    _, folder, _ = timeline
    assert "0 errors" in (folder / "vite.out").read_text()
    drawing = (folder / "vite.svg").read_text()
    assert all(f"MPI Rank {rank}" in drawing for rank in range(64))


# ----------------------------------------- slow and fast products of matrices (figure 1)


@pytest.fixture(scope="module")
def rates():
    if not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    if "perf::PAGE-FAULTS" not in run(BUILD / "src/run/hybrid-run", "--list-metrics", "PAGE-FAULTS").stdout:
        pytest.skip("counters of the kernel are not permitted here")
    n = 512
    return n, show("rates", n)


def grown(metric):
    """By how much the metric grew in each region, as the trace has it."""
    found = Counter()
    for line in run(BUILD / "src/dump/hybrid-dump", "--json", "--events", BUILD / "rates/experiment").stdout.splitlines():
        event = json.loads(line)
        if event["kind"] in ("enter", "leave"):
            value = event["values"][metric]
            found[event["path"].rpartition("/")[2]] += value if event["kind"] == "leave" else -value
    return found


def test_rates_same_work_takes_longer_in_the_wrong_order(rates):
    n, _ = rates
    flops, clock = grown("user::flops"), grown("perf::TASK-CLOCK")
    assert flops["slow"] == flops["fast"] == 2 * n**3
    assert clock["slow"] > 1.3 * clock["fast"]
    assert flops["slow"] / clock["slow"] < flops["fast"] / clock["fast"] / 1.3


def test_rates_faults_are_the_pages_of_the_result(rates):
    n, _ = rates
    faults = grown("perf::PAGE-FAULTS")
    twice = 2 * n * n * 8 // 4096  # read as zeros, then written
    for region in ("slow", "fast"):
        assert twice <= faults[region] <= twice + 40


def test_rates_in_otf2(rates, needs):
    """Counted by otf2-print: the same in enters as in leaves, the slow region longer, its counter as high."""
    needs("otf2-print")
    if not (BUILD / "converters/hybrid-convert").exists():
        pytest.skip("there is no libotf2")
    n, views = rates
    (archive,) = (BUILD / "rates/otf2").glob("*.otf2")
    kinds = otf2_counts(archive)
    assert kinds["ENTER"] == kinds["LEAVE"] > 4
    assert kinds["ENTER", "slow"] == kinds["ENTER", "fast"] == 1
    assert kinds["METRIC"] >= 2 * n + 4  # the program counts each row
    assert f"{kinds['ENTER']} ENTER" in views["otf2"]
    times, flops, now = {}, [], None
    for line in run("otf2-print", archive, timeout=60).stdout.splitlines():
        words = line.split()
        if len(words) > 2 and words[0] in ("ENTER", "LEAVE"):
            now = int(words[2])
            for region in ("slow", "fast"):
                if f'Region: "{region}"' in line:
                    times[region, words[0]] = now
        found = re.search(r'"user::flops" <\d+>; INT64; (\d+)', line)
        if found:
            flops.append(int(found[1]))
    assert times["slow", "LEAVE"] - times["slow", "ENTER"] > times["fast", "LEAVE"] - times["fast", "ENTER"]
    assert flops == sorted(flops) and flops[-1] == 4 * n**3
