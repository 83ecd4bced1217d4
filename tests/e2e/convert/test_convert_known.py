"""hybrid-convert on an experiment that was made, not measured: what is in it is known, and what readers of others
find in each file is that."""

import csv
import gzip
import json
import re
from collections import Counter
from dataclasses import dataclass, field

import pytest

from conftest import BUILD, HYBRID_CONVERT, report_json, run
from test_convert_profile import PPROF, messages, speedscope

FUNCTIONS = ["phase 3", "MPI_Isend", "MPI_Waitall"]


@dataclass
class Known:
    path: object
    total: int  # ns
    samples: int
    calls: dict  # by function
    inclusive: dict
    bytes: int
    messages: int


@dataclass
class Found:
    """What a format has no place for is None."""

    total: int
    samples: int = None
    inclusive: dict = field(default_factory=dict)
    calls: dict = None
    unit: float = 0  # what figures may be off by


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    synthetic = BUILD / "bench/synthetic"
    if not synthetic.exists():
        pytest.skip("bench/synthetic is not built")
    path = tmp_path_factory.mktemp("made") / "experiment"
    result = run(synthetic, path, "4", "300", "0", "2")  # ranks, nodes, a file each, threads
    assert result.returncode == 0, result.stderr
    truth = {key: int(value) for key, value in (line.split() for line in result.stdout.splitlines())}
    rows = {row["name"]: row for row in report_json("--functions", "--flat", path)["rows"]}
    calls = {"phase 3": 80, "MPI_Isend": truth["mpi_calls"] // 4, "MPI_Waitall": truth["mpi_calls"] // 4}
    assert {name: rows[name]["calls"] for name in FUNCTIONS} == calls
    return Known(path, truth["thread_wall_ns"], truth["samples"], calls,
                 {name: rows[name]["inclusive_ns"] for name in FUNCTIONS}, truth["bytes"], truth["messages"])


def by_speedscope(path, unit=1):
    group, = speedscope(path)
    inclusive = Counter()
    profiles = [profile for profile in group["profiles"] if not profile["name"].endswith(", waiting")]
    for profile in profiles:
        for function in profile["functions"]:
            inclusive[function["name"]] += function["all"] * unit
    return Found(sum(profile["total"] for profile in profiles) * unit, inclusive=inclusive)


def read_collapsed(path):
    found = by_speedscope(path, 1000)
    found.unit = 1000 * len(path.read_text().splitlines())
    return found


def read_pprof(path):
    result = run("protoc", "-I", PPROF / "proto", "--decode", "perftools.profiles.Profile", "profile.proto",
                 input=gzip.decompress(path.read_bytes()), text=False)
    assert (result.returncode, result.stderr) == (0, b"")
    parts = Counter()
    fields = messages(result.stdout.decode())
    strings = [value[1:-1] for name, value in fields if name == "string_table"]
    types = [strings[dict(value)["type"]] for name, value in fields if name == "sample_type"]
    assert types[:3] == ["time", "samples", "calls"]
    functions = {dict(value)["id"]: strings[dict(value)["name"]] for name, value in fields if name == "function"}
    places = {dict(value)["id"]: functions[dict(dict(value)["line"])["function_id"]]
              for name, value in fields if name == "location"}
    found = Found(0, inclusive=Counter(), calls=Counter())
    for sample in (value for name, value in fields if name == "sample"):
        stack = [places[value] for name, value in sample if name == "location_id"]
        values = [value for name, value in sample if name == "value"]
        parts.update(dict(zip(types, values)))
        found.calls[stack[0]] += values[2]
        for name in set(stack):
            found.inclusive[name] += values[0]
    found.total, found.samples = parts["time"], parts["samples"]
    return found


def read_callgrind(path):
    result = run("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--show-percs=no", "--auto=no", path)
    assert (result.returncode, result.stderr) == (0, "")
    number = lambda text: int(text.replace(",", ""))
    total, samples = re.search(r"^ *([\d,]+) +([\d,]+) +PROGRAM TOTALS", result.stdout, re.M).groups()
    rows = re.findall(r"^ *([\d,]+) +\S+ +\S*?:(.*?)(?: \[[^\]]*\])?$", result.stdout, re.M)
    return Found(number(total), number(samples), {name: number(time) for time, name in rows})


def read_dot(path):
    """A picture has percents, of two digits; all that is drawn is 100 % of the total."""
    graph = json.loads(run("dot", "-Tjson0", path).stdout)
    found = Found(None, calls={})
    for node in graph["objects"]:
        name, *rest = node["label"].split("\\n")
        found.calls.update({name: int(part[:-1].replace(",", "")) for part in rest if part.endswith("\u00d7")})
        found.inclusive[name] = next(float(part[:-1]) for part in rest if part.endswith("%"))
    return found


def read_csv(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    found = Found(int(rows[0]["inclusive_ns"]), sum(int(row["samples"]) for row in rows), Counter(), Counter())
    for row in rows:
        found.inclusive[row["name"]] += int(row["inclusive_ns"])
        found.calls[row["name"]] += int(row["calls"])
    return found


READERS = {"collapsed": read_collapsed, "speedscope": by_speedscope, "pprof": read_pprof, "callgrind": read_callgrind,
           "dot": read_dot, "csv": read_csv}


@pytest.mark.parametrize("form", READERS)
def test_known(known, tmp_path, needs, form):
    needs({"pprof": "protoc", "callgrind": "callgrind_annotate", "dot": "dot"}.get(form, "node"))
    if form == "pprof" and not (PPROF / "proto/profile.proto").exists():
        pytest.skip("golang-github-google-pprof-dev is not installed")
    options = ["--threshold", "0"] if form == "dot" else []
    result = run(HYBRID_CONVERT, known.path, "--to", form, "-o", tmp_path / "out", *options)
    assert (result.returncode, result.stderr) == (0, "")
    found = READERS[form](tmp_path / "out")
    for name in FUNCTIONS:
        if form == "dot":
            assert found.inclusive[name] == round(known.inclusive[name] * 100 / known.total, 2)
        else:
            assert found.inclusive[name] == pytest.approx(known.inclusive[name], rel=0, abs=found.unit)
    assert found.total in (known.total, None) or found.unit and found.total == known.total // 1000 * 1000
    assert found.samples in (known.samples, None)
    assert found.calls is None or {name: found.calls[name] for name in FUNCTIONS} == known.calls


def test_known_messages(known, tmp_path):
    result = run(HYBRID_CONVERT, known.path, "--to", "csv", "-o", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    with open(tmp_path / "out", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["messages"]) for row in rows) == known.messages
    assert sum(int(row["bytes_sent"]) for row in rows) == sum(int(row["bytes_received"]) for row in rows)
    assert sum(int(row["bytes_sent"]) + int(row["bytes_received"]) for row in rows) == known.bytes
