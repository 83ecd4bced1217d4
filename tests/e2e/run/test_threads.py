"""Threads that come and go in every way: the program notices nothing, and none is lost."""

import re

import pytest

from known import MODES, calls, check_share, native, program, same_as_native, samples_below, walk

CASES = [
    "many",
    "detached",
    "small_stacks",
    "own_stack",
    "outlive",
    "c11",
    "cancel",
    "fork_busy",
    "fork_in_thread",
    "exit_in_thread",
    "too_large",
    "destructors",
    "open_regions",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_same_as_native(measure, case, mode):
    e = same_as_native(measure, MODES[mode], "threads", case)
    quality = e.report("--quality")["quality"]
    assert quality["threads_lost"] == 0 and quality["damage"] == 0


@pytest.mark.parametrize("case, threads, work", [("many", 3001, 3000), ("detached", 1001, 1000)])
def test_every_thread_is_there(measure, case, threads, work):
    report = same_as_native(measure, [], "threads", case).report()
    assert report["quality"]["threads"] == threads
    assert calls(report["tree"], "little work") == work


def test_open_regions_are_closed_by_the_threads_end(measure):
    report = same_as_native(measure, [], "threads", "open_regions").report()
    assert calls(report["tree"], "open one") == 20 and calls(report["tree"], "open two") == 20
    assert report["quality"]["open_regions"] == 0


def test_cancelled_threads(measure):
    report = same_as_native(measure, [], "threads", "cancel").report()
    assert calls(report["tree"], "to be cancelled") == 200
    assert report["quality"]["threads"] == 201


def test_children_of_a_busy_process(measure):
    """50 forks while four threads run probes: each child has its file, its regions and its thread."""
    report = same_as_native(measure, [], "threads", "fork_busy").report()
    assert report["quality"]["processes"] == 51
    assert calls(report["tree"], "little work") == 100


@pytest.mark.parametrize("mode", ["default", "perf", "timer"])
def test_each_thread_has_its_share(measure, mode):
    e = measure(program("threads"), "unequal", options=["-q", *MODES[mode]])
    cpu = {line.split()[0]: int(line.split()[1]) for line in e.stdout.splitlines()}
    tree = e.report("--by-thread")["tree"]
    nodes = {name: node for node in tree["children"] for name in cpu if name in re.findall(r"\w+", node["name"])}
    assert set(nodes) == {"one", "three"}, [node["name"] for node in tree["children"]]
    found = {name: samples_below(node) for name, node in nodes.items()}
    assert sum(found.values()) >= 100
    if mode != "timer": # whose ticks are wall time: samples weigh what the thread ran between them
        check_share(found["one"], sum(found.values()), cpu["one"] / sum(cpu.values()))
    for name, node in nodes.items():
        ran = sum(n["exclusive_ns"] for _, n in walk(node))
        assert abs(ran - cpu[name]) <= 0.05 * cpu[name], name


def test_memory_of_many_threads_is_given_back(measure):
    """3000 threads one after the other: the process maps what some of them need, not all."""
    e = same_as_native(measure, [], "threads", "many")
    rss = int(e.values["max_rss_kb"])
    assert rss < 64 * 1024 + 3001 * 16
