"""hybrid-convert: what bounds a file, and that it is said what was left out, on runs of several ranks."""

import csv
import io
import json
import re

import pytest

from conftest import HYBRID_CONVERT, SOURCE, report_json, run
from mpi import launcher

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
