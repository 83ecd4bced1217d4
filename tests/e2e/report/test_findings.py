"""Findings about programs without MPI: hybrid-report --findings."""

import pytest

from known import program

WAITS = """
import threading, time
end = time.monotonic() + 1
def work():
    while time.monotonic() < end:
        sum(i * i for i in range(1000))
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def findings(experiment, kind):
    return [finding for finding in experiment.report("--findings")["findings"] if finding["kind"] == kind]


def test_lock_of_python(measure):
    """Three threads want one lock all the time: of three seconds they wait two, and the account of the runtime agrees."""
    e = measure("/usr/bin/python3", "-c", WAITS)
    found = findings(e, "gil-wait")
    python = e.report("--quality")["quality"]["python"]
    assert sum(f["severity_ns"] for f in found) == pytest.approx(python["gil_wait_ns"], rel=1e-6)
    assert sum(f["count"] for f in found) == python["gil_waits"]
    assert sum(f["severity_ns"] for f in found) > 1e9
    assert sum(who["share"] for who in found[0]["who"]) == pytest.approx(1, abs=1e-5)


def test_cut_trace(measure):
    e = measure(program("processes"), "steady", 2000, options=["-q", "--trace", "--trace-limit", "256K"])
    found, = findings(e, "trace-cut")
    assert found["count"] == e.report("--quality")["quality"]["trace_events_lost"] > 0
    assert len(found["who"]) == 1 and found["severity_ns"] == 0


def test_nothing(measure):
    e = measure("true")
    assert e.report("--findings")["findings"] == []
