"""Children that work while their parent, or another thread of it, goes on: each knows what is its own."""

import pytest

from known import calls, find, names, same_as_native, walk

CHILDREN, CHILD_NS = 20, 10e6


def ran_below(tree, name):
    """CPU time in the regions of this name, and below."""
    return sum(n["exclusive_ns"] for node in find(tree, name) for _, n in walk(node))


@pytest.mark.parametrize("way", ["fork", "_Fork", "clone", "system_call", "handler"])
def test_childs_time_is_in_its_own_regions(measure, way):
    """Not in those that the parent entered since."""
    report = same_as_native(measure, ["--rate", "1000", "--source", "timer"], "forks", "regions", way).report()
    tree, all_children = report["tree"], CHILDREN * CHILD_NS
    assert report["quality"]["processes"] == CHILDREN + 1
    assert calls(tree, "the parent alone") == CHILDREN
    assert ran_below(tree, "the parent alone") < 0.1 * all_children
    assert report["quality"]["faults"]["not_entered"] == 0
    assert ran_below(tree, "open at the fork") > 0.9 * all_children


@pytest.mark.parametrize("case", ["segments", "threads"])
def test_no_child_dies(measure, case):
    report = same_as_native(measure, ["--rate", "0"], "forks", case).report()
    assert report["quality"]["damage"] == 0 and report["quality"]["processes"] > 100


def test_python_hooks(measure, tmp_path):
    """A function of Python that only the parent has entered since the fork; its own CPU time there is no child's."""
    script = tmp_path / "forks.py"
    script.write_text(
        """import os, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def open_at_the_fork():
    pid = os.fork()
    if not pid:
        burn(0.02)
        os._exit(0)
    return pid
def the_parent_alone(pid):
    os.waitpid(pid, 0)
for i in range(15):
    the_parent_alone(open_at_the_fork())
"""
    )
    e = measure("/usr/bin/python3", script, options=["-q", "--python=hooks"])
    assert e.returncode == 0
    tree = e.report()["tree"]
    assert calls(tree, "the_parent_alone") == 15
    childs = [(names(path), node["exclusive_ns"]) for path, node in walk(tree) if "burn" in names(path)]
    assert sum(ns for path, ns in childs if "the_parent_alone" in path) < 0.1 * 15 * 20e6
    assert sum(ns for path, ns in childs if "open_at_the_fork" in path) > 0.9 * 15 * 20e6
