"""hybrid-convert: what bounds a file, and that it is said what was left out, on runs of several ranks."""

import csv
import io
import json
import re

import pytest

from conftest import HYBRID_CONVERT, HYBRID_RUN, SOURCE, report_json, run
from mpi import launcher

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


def csv_rows(data):
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_threshold_keeps_sums(stencil):
    """What a call path has goes to its caller with it, but for calls: nobody called the caller in them."""
    whole = csv_rows(convert(stencil, "csv")[0])
    less = csv_rows(convert(stencil, "csv", "--threshold", "100")[0])
    assert {row["name"] for row in whole} - {row["name"] for row in less} >= {"MPI_Sendrecv", "MPI_Barrier"}
    for key in SUMS:
        assert sum(int(row[key]) for row in less) == sum(int(row[key]) for row in whole), key
    assert sum(int(row["messages"]) for row in whole) > 0
    place = lambda row: (row["path"], row["kind"], row["file"], row["line"])
    calls = {place(row): row["calls"] for row in whole}
    assert all(row["calls"] == calls[place(row)] for row in less)


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
