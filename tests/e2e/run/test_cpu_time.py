"""The CPU time of the report is the kernel's: nobody is left out, whenever it began and however it ended."""

import pytest

from known import MODES, find, program, the, walk


def ran(node):
    return sum(n["exclusive_ns"] for _, n in walk(node))


def check_all(report, kernel_ns, most=0.02):
    """The report's sum, its tree's, and the kernel's are the same."""
    assert abs(report["quality"]["cpu_ns"] - kernel_ns) <= most * kernel_ns
    assert abs(ran(report["tree"]) - kernel_ns) <= most * kernel_ns


@pytest.mark.parametrize("mode", ["default", "timer"])
def test_before_our_constructor(measure, mode):
    """A library is initialised before us: its constructor's time has a name, the thread that it starts is there."""
    e = measure(program("early_main"), options=["-q", *MODES[mode]])
    report = e.report()
    check_all(report, int(e.stdout))
    assert report["quality"]["threads"] == 2
    assert 100e6 <= the(report["tree"], "[before-measurement]")["exclusive_ns"] <= 130e6
    assert ran(report["tree"]) - ran(the(report["tree"], "[before-measurement]")) >= 300e6 * 0.98


def test_programs_that_follow_each_other(measure):
    """The kernel's clock goes on through an exec: what a program ran is counted once."""
    script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exec %s" % program("early_main")
    e = measure("sh", "-c", script, options=["-q"])
    report = e.report()
    check_all(report, int(e.stdout))
    before = find(report["tree"], "[before-measurement]")
    assert sum(n["exclusive_ns"] for n in before) <= 130e6


@pytest.mark.parametrize("mode", ["default", "timer"])
def test_threads_shorter_than_a_sample(measure, mode):
    """They stand below the region in which they were made, by the function that they ran."""
    e = measure(program("cpu_time"), "short_threads", options=["-q", *MODES[mode]])
    report = e.report()
    quality, short = report["quality"], the(the(report["tree"], "making threads"), "[short-lived threads]")
    check_all(report, int(e.stdout))
    assert quality["threads"] == 3001 and quality["threads_lost"] == 0
    assert [node["name"] for node in short["children"]] == ["tiny"]
    assert quality["probe_calls"] == 1
    if mode == "default": # a sample comes each 4 ms of CPU time
        assert short["children"][0]["calls"] >= 2500 and ran(short) >= 2500 * 50e3
    assert e.path.stat() and sum(path.stat().st_size for path in e.files) < 8 << 20


def test_threads_that_are_there_at_the_end(measure):
    """What they ran since their last sample is theirs, too."""
    e = measure(program("cpu_time"), "still_there", options=["-q", "-r", "20"])
    report = e.report("--by-thread")
    check_all(report, int(e.stdout))
    threads = [ran(node) for node in report["tree"]["children"] if " thread " in node["name"]]
    assert len(threads) == 8 and all(30e6 <= cpu <= 45e6 for cpu in threads)


def test_thread_that_nobody_knows(measure):
    e = measure(program("cpu_time"), "raw", options=["-q"])
    report = e.report()
    check_all(report, int(e.stdout))
    assert 195e6 <= the(report["tree"], "[threads not measured]")["exclusive_ns"] <= 230e6
