"""hybrid-convert: what bounds a file, and that it is said what was left out, on runs of several ranks."""

import fcntl
import gzip
import json
import re
import signal
import struct
import subprocess
import termios

import pytest

from conftest import HYBRID_CONVERT, HYBRID_RUN, SOURCE, process_state, report_json, run, wait_until
from mpi import launcher
from test_convert_events import read_chrome, read_perfetto
from test_convert_profile import csv_rows, speedscope

PATHS = ["collapsed", "speedscope", "pprof", "callgrind", "dot", "csv", "html"]
EVENTS = ["perfetto", "chrome", "firefox"]
FILES, FOLDERS = PATHS + EVENTS, ["otf2", "hybrid"]
SUMS = ["exclusive_ns", "blocked_ns", "samples", "messages", "bytes_sent", "bytes_received"]


@pytest.fixture(scope="module")
def stencil(mpi, tmp_path_factory):
    """Two ranks, each of which sends, receives and waits in functions with a short time of their own."""
    program = mpi.compile((SOURCE / "examples/mpi/stencil.c").read_text())
    start = launcher(mpi, tmp_path_factory.mktemp("stencil"))
    experiment = start(2, program, "100", options=["--trace", "-r", "997"])
    assert experiment.returncode == 0, experiment.stderr
    return experiment


def convert(experiment, form, *options):
    """The bytes, and what was said."""
    result = run(HYBRID_CONVERT, experiment.path, "--to", form, "-o", "-", *options, text=False)
    assert result.returncode == 0, result.stderr
    return result.stdout, result.stderr.decode()


def test_threshold_keeps_sums(stencil):
    """What a call path has goes to its caller with it, but for calls: nobody called the caller in them."""
    whole = csv_rows(convert(stencil, "csv")[0])
    less = csv_rows(convert(stencil, "csv", "--threshold", "100")[0])
    assert {row["name"] for row in whole} - {row["name"] for row in less} >= {"MPI_Sendrecv", "MPI_Barrier"}
    for key in SUMS:
        assert sum(int(row[key]) for row in less) == sum(int(row[key]) for row in whole), key
    assert sum(int(row["messages"]) for row in whole) > 0
    place = lambda row: (*row["path"], row["kind"], row["file"], row["line"])
    calls = {place(row): row["calls"] for row in whole}
    assert all(row["calls"] == calls[place(row)] for row in less)


# ------------------------------------------------------------------- all bounds, all formats

BOUNDS = {  # option: a value that leaves something out, and the formats that can do it
    "--threshold": (["--threshold", "20"], PATHS),
    "--ranks": (["--ranks", "0"], PATHS + EVENTS),
    "--process": (["--process", "PID"], PATHS + EVENTS),
    "--thread": (["--thread", "PID"], PATHS + EVENTS),
    "--from": (["--from", "MIDDLE"], EVENTS),
    "--until": (["--until", "MIDDLE"], EVENTS),
}


def a_process(experiment):
    """Its number, which is also that of its first thread."""
    return next(record["tid"] for record in experiment.records("--nodes") if record["record"] == "location")


@pytest.fixture(scope="module")
def words_of(stencil, tmp_path_factory):
    """words_of(option): it, with a value of this run."""
    path = tmp_path_factory.mktemp("middle") / "chrome"
    path.write_bytes(convert(stencil, "chrome")[0])
    slices = read_chrome(path).slices
    middle = (min(one[2] for one in slices) + max(one[3] for one in slices)) // 2
    values = {"PID": a_process(stencil), "MIDDLE": f"{middle}ns"}
    return lambda option: [values.get(word, word) for word in BOUNDS[option][0]]


def strings_of_pprof(data):
    """The texts that its comments are."""
    result = run("protoc", "--decode_raw", input=gzip.decompress(data), text=False)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.decode().splitlines()
    texts = [line.partition(": ")[2][1:-1].replace("\\'", "'") for line in lines if line.startswith("6: ")]
    return [texts[int(line.partition(": ")[2])] for line in lines if line.startswith("13: ")]


def notes_in(form, data, tmp_path):
    """What a file says was left out; None: the format has no place for it."""
    text = data.decode("utf-8") if form not in ("pprof", "perfetto") else ""
    if form == "speedscope":
        name = json.loads(text)["name"]
        return name[name.index(" (") + 2:-1].split("; ") if name.endswith(")") else []
    if form == "pprof":
        return strings_of_pprof(data)[1:]
    if form == "callgrind":
        (tmp_path / "out").write_bytes(data)
        result = run("callgrind_annotate", tmp_path / "out")
        assert (result.returncode, result.stderr) == (0, "")
        return re.findall(r"^Note: (.*)$", result.stdout, re.M)
    if form == "dot":
        result = run("dot", "-Tjson0", input=text)
        assert (result.returncode, result.stderr) == (0, "")
        return json.loads(result.stdout)["label"].split("\\n")[1:]
    if form == "html":
        return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])["notes"]
    if form == "perfetto":
        (tmp_path / "out").write_bytes(data)
        found = read_perfetto(tmp_path / "out")
        return [name for track, name, _ in found.instants if found.tracks[track]["name"] == ["hybrid-convert"]]
    if form == "chrome":
        return json.loads(text)["otherData"]["notes"]
    if form == "firefox":
        return [entry["value"] for part in json.loads(text)["meta"].get("extra", ()) for entry in part["entries"]]
    return None


@pytest.mark.parametrize("option", BOUNDS)
@pytest.mark.parametrize("form", FILES + FOLDERS)
def test_bounds(stencil, words_of, tmp_path, form, option):
    """Each bound works and the file says so, or it is refused with those that can do it."""
    takers = BOUNDS[option][1]
    result = run(HYBRID_CONVERT, stencil.path, "--to", form, "-o", tmp_path / "it", *words_of(option))
    if form not in takers:
        assert result.returncode == 2 and not (tmp_path / "it").exists()
        assert result.stderr == (f"hybrid-convert: {option}: {form} does not take it; formats that do: "
                                 f"{', '.join(takers)}\n")
        return
    said = re.findall("^hybrid-convert: (.*)$", result.stderr, re.M)
    assert result.returncode == 0 and len(said) == result.stderr.count("\n") > 0
    assert any("left out" in line for line in said), said
    in_file = notes_in(form, (tmp_path / "it").read_bytes(), tmp_path)
    if in_file is None:
        assert form in ("collapsed", "csv")
    else:
        assert in_file == said


@pytest.mark.parametrize("form", [form for form in FILES if form not in ("dot", "html")])
def test_no_notes(stencil, tmp_path, form):
    data, said = convert(stencil, form)
    assert said == "" and not notes_in(form, data, tmp_path)


def found_total(form, data, tmp_path):
    """ns of all that is in the file."""
    (tmp_path / "out").write_bytes(data)
    if form == "html":
        return json.loads(re.search(r'id="data">(.*?)</script>', data.decode(), re.S)[1])["total"]
    if form == "csv":
        return int(csv_rows(data)[0]["inclusive_ns"])
    group, = speedscope(tmp_path / "out")
    total = sum(profile["total"] for profile in group["profiles"] if not profile["name"].endswith(", waiting")) if form == "speedscope" else \
        group["profiles"][0]["total"]
    return total * 1000 if form == "collapsed" else total


@pytest.mark.parametrize("form", [form for form in PATHS if form != "dot"])
def test_ranks(stencil, tmp_path, form):
    """Each rank apart has what hybrid-report says of it; together they are all."""
    totals = []
    for ranks in ("0", "1", "0-1"):
        root = report_json("--functions", "--ranks", ranks, stencil.path)["tree"]
        waited = 0 if form == "csv" else root["idle_ns"]  # which profiles of other tools leave out
        data, said = convert(stencil, form, "--ranks", ranks)
        assert ("threads are left out" in said) == (ranks != "0-1")
        totals.append(found_total(form, data, tmp_path))
        assert totals[-1] == pytest.approx(root["inclusive_ns"] - waited, abs=1000 if form == "collapsed" else 0)
    assert totals[2] == pytest.approx(totals[0] + totals[1], abs=2000 if form == "collapsed" else 0)


@pytest.mark.parametrize("form", EVENTS)
def test_ranks_of_events(stencil, tmp_path, form):
    (tmp_path / "out").write_bytes(convert(stencil, form, "--ranks", "1")[0])
    if form == "firefox":
        names = {thread["processName"] for thread in json.loads((tmp_path / "out").read_text())["threads"]}
    elif form == "chrome":
        names = {name["name"] for name in read_chrome(tmp_path / "out").names["process_name"].values()}
    else:
        tracks = read_perfetto(tmp_path / "out").tracks.values()
        names = {track["process"][0]["process_name"][0] for track in tracks if track["process"]}
    assert len(names) == 1 and names.pop().startswith("rank 1")


COUNTERS = r"""
#include <hybrid/hybrid.h>
#include <stdio.h>
static char names[4100][20];
static struct hybrid_counter counters[4100];
int main(void)
{
	for (int i = 0; i < 4100; i++) {
		snprintf(names[i], sizeof(names[i]), "counter %d", i);
		counters[i] = (struct hybrid_counter)HYBRID_COUNTER_INIT(names[i], "");
		hybrid_count(&counters[i], i);
	}
	return 0;
}
"""


def test_many_counters(measure, compile_c, tmp_path):
    """More than the format has numbers for: those that are missing are counted."""
    experiment = measure(compile_c(COUNTERS), options=["--trace", "-r", "0"])
    data, said = convert(experiment, "firefox")
    assert len(json.loads(data)["counters"]) == 4096 - 16  # numbers below 16 are for metrics
    line = "20 values of counters are left out: their thread has more counters than fit"
    assert said == f"hybrid-convert: {line}\n" and notes_in("firefox", data, tmp_path) == [line]


# ------------------------------------------------------------------- full disks

MANY = r"""
#include <hybrid/hybrid.h>
#include <stdlib.h>
static char names[400][500];
static struct hybrid_region regions[400];
int main(void)
{
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 499; k++)
			names[i][k] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[rand() & 63];
		regions[i] = (struct hybrid_region)HYBRID_REGION_INIT(names[i], HYBRID_USER);
		hybrid_enter(&regions[i]);
		for (volatile int k = 0; k < 20000; k++)
			;
		hybrid_leave(&regions[i]);
	}
	return 0;
}
"""


@pytest.fixture(scope="module")
def large(compile_c, tmp_path_factory):
    """What fills some buffers in every format, also where it is compressed."""
    path = tmp_path_factory.mktemp("large") / "experiment"
    result = run(HYBRID_RUN, "--trace", "-r", "0", "-o", path, compile_c(MANY))
    assert result.returncode == 0, result.stderr
    return path


def said_of_full_disk(result, name):
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"hybrid-convert: {name}: cannot be written: No space left on device\n"


@pytest.mark.parametrize("form", FILES)
def test_full_device(large, form):
    """The first error is the one that is said, whatever came after it."""
    for out, name in (("-o /dev/full", "/dev/full"), ("-o - > /dev/full", "standard output")):
        said_of_full_disk(run("sh", "-c", f"{HYBRID_CONVERT} {large} -q --to {form} {out}"), name)


@pytest.mark.parametrize("form", FILES + FOLDERS)
def test_full_disk(large, small_disk, form):
    """Whenever the disk is full, in the middle or at the end: a line that says so, and nothing under the name."""
    disk = small_disk("size=16k")
    result = run(HYBRID_CONVERT, large, "-q", "--to", form, "-o", disk / "out",
                 *(["--threshold", "0"] if form in PATHS else []))
    assert result.returncode == 1 and result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"hybrid-convert: {disk}/out")
    assert "No space left on device" in result.stderr
    assert list(disk.iterdir()) == []


def waiting_in(file):
    """Bytes that a pipe holds."""
    return struct.unpack("i", fcntl.ioctl(file, termios.FIONREAD, bytes(4)))[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_in_a_pipe(large, number):
    """Also where nobody reads what it writes, a signal ends it."""
    process = subprocess.Popen([HYBRID_CONVERT, large, "--to", "csv", "-o", "-"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        wait_until(lambda: waiting_in(process.stdout) >= 65536 and process_state(process.pid) == "S")
        process.send_signal(number)
        assert process.wait(20) == -number
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.communicate()
