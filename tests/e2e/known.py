"""The programs of tests/programs, what they do by themselves, and how to read a profile."""

import difflib
import functools
import math

import pytest

from conftest import BUILD, run

PROGRAMS = BUILD / "tests/programs"

MODES = {
    "default": [],
    "perf": ["--rate", "1000"],
    "timer": ["--rate", "1000", "--source", "timer"],
    "wall": ["--wall", "--rate", "1000"],
}


def program(name):
    path = PROGRAMS / name
    if not path.exists():
        pytest.skip(f"{name} was not built: no compiler for it here")
    return path


@functools.lru_cache(maxsize=None)
def native(name, *arguments):
    return run(program(name), *arguments)


def same_as_native(measure, options, name, *arguments):
    """Runs it measured and compares all that a user sees with the run without a measurement."""
    expected = native(name, *arguments)
    e = measure(program(name), *arguments, options=["-q", *options])
    got, wanted = ([*r.stdout.splitlines(), *r.stderr.splitlines(), f"status {r.returncode}"] for r in (e, expected))
    assert (e.stdout, e.stderr, e.returncode) == (expected.stdout, expected.stderr, expected.returncode), "\n".join(
        difflib.unified_diff(wanted, got, "native", "measured", n=0, lineterm="")
    )
    return e


def walk(node):
    """All nodes below and with `node`, each as (path of nodes from the root, node); the path is one list."""
    path, rest = [], [(0, node)]
    while rest:
        depth, node = rest.pop()
        path[depth:] = [node]
        yield path, node
        rest += [(depth + 1, child) for child in node["children"]]


def names(path):
    return [node["name"] for node in path]


def find(tree, name):
    """All nodes of that name."""
    return [node for _, node in walk(tree) if node["name"] == name]


def the(tree, name):
    """The one probe of that name."""
    nodes = [node for node in find(tree, name) if node["kind"] == "probe"]
    assert len(nodes) == 1, (name, [names(path) for path, _ in walk(tree)][:50])
    return nodes[0]


def calls(tree, name):
    return sum(node["calls"] for node in find(tree, name))


def samples_below(node):
    return sum(n["samples"] for _, n in walk(node))


def check_sums(tree):
    """At every node: inclusive = exclusive + blocked + the children's inclusive, to the nanosecond."""
    for path, node in walk(tree):
        children = sum(child["inclusive_ns"] for child in node["children"])
        assert node["inclusive_ns"] == node["exclusive_ns"] + node["blocked_ns"] + children, names(path)


def check_share(count, total, share, sigmas=4):
    """Four standard deviations of a binomial distribution: one check in 16,000 fails by chance."""
    sigma = math.sqrt(total * share * (1 - share))
    assert abs(count - total * share) <= sigmas * sigma, (count, total, share, sigma)
