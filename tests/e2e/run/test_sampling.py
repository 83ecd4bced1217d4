"""Samples: what they say about programs whose shares, lines and waits are known."""

import re

import pytest

from known import MODES, calls, check_share, check_sums, find, program, samples_below, the, walk


def known_shares(stdout):
    """What the program printed: name -> (line, CPU nanoseconds)."""
    rows = [line.split() for line in stdout.splitlines()]
    return {name: (int(line), int(cpu)) for name, line, cpu in rows}


def leaf_samples(tree, name):
    return [node for _, node in walk(tree) if node["kind"] == "leaf" and node["name"] == name]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["shares", "shares_plain"])
def test_shares_and_lines(measure, name, mode):
    e = measure(program(name), 1200, options=["-q", *MODES[mode]])
    shares = known_shares(e.stdout)
    report = e.report()
    found = {f: sum(node["samples"] for node in leaf_samples(report["tree"], f)) for f in shares}
    total = sum(found.values())
    assert total >= 200 and total >= 0.97 * report["quality"]["samples"]
    for function, (line, cpu) in shares.items():
        # Where a thread waits for its processor wall-clock samples come in runs.
        check_share(found[function], total, cpu / sum(c for _, c in shares.values()), 12 if mode == "wall" else 4)
        hot = sum(node["samples"] for node in leaf_samples(report["tree"], function) if node["line"] == line)
        assert hot >= 0.97 * found[function], (function, line)
    check_sums(report["tree"])
    assert report["quality"]["partial"] == {"no_rule": 0, "bad_stack": 0, "too_deep": 0}


@pytest.mark.parametrize("mode, source", [("perf", None), ("timer", "timer"), ("wall", "timer")])
def test_rate_is_what_was_asked_for(measure, mode, source):
    quality = measure(program("shares"), 500, options=["-q", *MODES[mode]]).report("--quality")["quality"]
    assert quality["rate_wanted"] == 1000
    # Timers tick in wall time: a thread that shares its processor gets more of them for its CPU time.
    assert 700 <= quality["rate_achieved"] <= (1100 if source is None else 4000)
    assert len(quality["sources"]) == 1


def test_no_rate_no_samples(measure):
    quality = measure(program("shares"), 50, options=["-q", "--rate", "0"]).report("--quality")["quality"]
    assert quality["samples"] == 0 and quality["rate_wanted"] == 0 and sum(quality["dropped"].values()) == 0


def test_budget_lowers_the_rate(measure):
    quality = measure(
        program("shares"), 1500, options=["-q", "--rate", "10000", "--budget", "0.1"]
    ).report("--quality")["quality"]
    assert quality["rate_lowered"] > 0
    assert quality["rate_achieved"] < 9000


@pytest.mark.parametrize("source", ["perf", "timer"])
def test_budget_counts_interrupts(measure, source):
    """What is said to be spent on samples, outside of handlers too, is what is allowed, nearly from the start on."""
    quality = measure(
        program("shares"), 1000, options=["-q", "--rate", "10000", "--budget", "2", "--source", source]
    ).report("--quality")["quality"]
    cost = quality["cost"]
    assert cost["interrupts_ns"] > 0 and cost["handler_ns"] == quality["handler_ns"]
    assert cost["handler_ns"] + cost["interrupts_ns"] <= 0.03 * quality["cpu_ns"]
    assert quality["samples"] >= 0.5 * quality["cpu_ns"] / 1e5  # each stands for several


SLEEPER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
static long long cpu(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}
int main(int argc, char **argv) {
	struct rusage usage;
	for (int i = 0; i < atoi(argv[1]); i++) {
		for (long long end = cpu() + atoi(argv[2]); cpu() < end;)
			;
		nanosleep(&(struct timespec){0, atoi(argv[3])}, NULL);
	}
	getrusage(RUSAGE_SELF, &usage);
	return printf("%ld %s\n", usage.ru_nvcsw + usage.ru_nivcsw, getenv("HYBRID_OPTIONS")) < 0;
}
"""


def test_budget_counts_interrupts_of_sleepers(measure, compile_c):
    """A timer of wall time interrupts who waits, too."""
    quality = measure(compile_c(SLEEPER), 300, 100000, 10000000, options=[
        "-q", "--rate", "10000", "--budget", "2", "--source", "timer"]).report("--quality")["quality"]
    cost = quality["cost"]
    assert 0 < cost["handler_ns"] + cost["interrupts_ns"] <= 0.1 * quality["cpu_ns"]  # 25 % where nobody looks


@pytest.mark.parametrize("source", ["perf", "auto", "cpu"])
def test_switches_are_a_cost(measure, compile_c, source):
    """Each takes what hybrid-run has measured; in windows, few of them do; a timer of the kernel's tick takes nothing."""
    e = measure(compile_c(SLEEPER), 10000, 20000, 10000, options=["-q", "--source", source])
    switches, options = e.stdout.split()
    price = re.search(r",switch=(\d+)", options)
    cost = e.report("--quality")["quality"]["cost"]["switches_ns"]
    if source == "cpu":
        assert (price, cost) == (None, 0)
        return
    all_ns = int(switches) * int(price[1])
    assert int(switches) >= 9900
    if source == "perf":
        assert 0.9 * all_ns <= cost <= all_ns
    elif int(price[1]) >= 500:
        assert cost <= 0.5 * all_ns


@pytest.mark.parametrize("mode", ["perf", "timer", "wall"])
def test_blocked_and_running(measure, mode):
    e = measure(program("blocked"), 300, options=["-q", *MODES[mode]])
    tree = e.report()["tree"]
    check_sums(tree)
    for line in e.stdout.splitlines():
        name, wall, cpu = line.split()[0], int(line.split()[1]), int(line.split()[2])
        region = the(tree, name)
        # The program's clocks are read inside the region.
        assert wall <= region["inclusive_ns"] <= wall * 1.02 + 2_000_000
        if mode != "wall":
            blocked = sum(node["blocked_ns"] for _, node in walk(region))
            assert abs(blocked - (wall - cpu)) <= 0.1 * wall, name
    if mode == "wall":
        asleep = samples_below(the(tree, "sleeps"))
        assert asleep >= 100
        waiting = sum(samples_below(n) for n in the(tree, "sleeps")["children"] if n["name"] == "phase")
        assert waiting >= 0.9 * asleep


def test_blocked_time_is_not_on_lines(measure):
    """CPU samples: who burns gets its CPU time, not what the sleep took."""
    e = measure(program("blocked"), 300, options=["-q", "--rate", "1000"])
    tree = e.report()["tree"]
    for node in find(tree, "mixed"):
        burnt = sum(n["exclusive_ns"] for _, n in walk(node))
        assert burnt <= 0.65 * node["inclusive_ns"]


def test_time_is_the_whole(measure):
    """Only main is a probe: the tree's time is the thread's, and samples share out what ran."""
    e = measure(program("shares"), 500, options=["-q", "--rate", "1000"])
    report = e.report()
    cpu = sum(c for _, c in known_shares(e.stdout).values())
    ran = sum(node["exclusive_ns"] for _, node in walk(report["tree"]))
    assert report["tree"]["inclusive_ns"] == report["quality"]["thread_wall_ns"]
    assert abs(ran - cpu) <= 0.05 * cpu
    assert abs(report["quality"]["cpu_ns"] - cpu) <= 0.05 * cpu


def test_trace_limit(measure):
    e = measure(program("processes"), "steady", 2000, options=["-q", "--trace", "--trace-limit", "256K"])
    assert e.stdout == "PASS\n" and e.returncode == 25
    quality = e.report("--quality")["quality"]
    assert quality["trace_stopped_ns"] > 0
    assert quality["trace_bytes"] <= 256 * 1024
    assert quality["trace_events_lost"] > 0
    assert quality["probe_calls"] > quality["trace_events"] / 2


def test_interrupted_at_any_moment_of_a_probe(measure):
    """Probes and samples as fast as they go: no sample hangs below a wrong region."""
    e = measure(program("probes"), "handler", options=["-q", "--rate", "5000", "--source", "timer"])
    tree = e.report()["tree"]
    check_sums(tree)
    assert 0 < calls(tree, "inner") <= calls(tree, "outer")
