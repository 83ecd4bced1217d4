"""Metrics that do not grow with CPU time are where they grew: a line that takes 60 MiB stands beside lines that only
compute, and has the 60 MiB, however few samples it has."""

import pytest

from conftest import run

MIB = 1 << 20
METRICS = ("memory::resident", "rusage::minor_faults")

PYTHON = """
kept = []

def take():
    for i in range(60):
        kept.append(bytearray(b"x") * (1 << 20))

def burn():
    x = 0
    for i in range(4_000_000):
        x += i * i
    return x

burn()
take()
burn()
"""

C = """
#include <stdlib.h>
#include <string.h>

char *kept[60];
volatile unsigned long sum;

__attribute__((noinline)) void take(void)
{
	for (int i = 0; i < 60; i++) {
		kept[i] = malloc(1 << 20);
		memset(kept[i], 1, 1 << 20);
	}
}

__attribute__((noinline)) void burn(void)
{
	for (unsigned long i = 0; i < 200000000; i++)
		sum += i * i;
}

int main(void)
{
	burn();
	take();
	burn();
	return 0;
}
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    (folder / "load.py").write_text(PYTHON)
    (folder / "load.c").write_text(C)
    result = run("gcc", "-g", "-O1", "-o", folder / "load", folder / "load.c")
    assert not result.returncode, result.stderr
    return {"python": ["/usr/bin/python3", folder / "load.py"], "c": [folder / "load"]}


def assert_sums(nodes):
    """At each node, of each metric, what is its own and the nodes below are what it has."""
    for node in nodes:
        for metric in METRICS:
            below = sum(child["metrics"][metric]["inclusive"] for child in node["children"])
            own = node["metrics"][metric]
            assert own["inclusive"] == own["exclusive"] + below, (metric, node["name"])


def grown(nodes, name, metric):
    """What outermost functions of that name have."""
    found = [node for node in nodes if node["name"] == name]
    return sum(node["metrics"][metric]["inclusive"] for node in found)


@pytest.mark.parametrize("trace", [[], ["--trace"]], ids=["samples", "trace"])
@pytest.mark.parametrize("which", ["python", "c", "hooks"])
def test_places(measure, command, which, trace):
    options = ["-r", "1000", *trace, *(option for metric in METRICS for option in ("-m", metric))]
    options += ["--python=hooks"] if which == "hooks" else []
    e = measure(*command["python" if which == "hooks" else which], options=options)
    nodes = e.report(*(option for metric in METRICS for option in ("--metric", metric)))["nodes"]
    assert_sums(nodes)
    pages = 60 * MIB / 4096
    # A transparent huge page is one fault; memory is the same.
    # Between two samples, 2 ms at the most, the program touches some MiB.
    assert grown(nodes, "take", METRICS[0]) == pytest.approx(60 * MIB, abs=8 * MIB)
    assert abs(grown(nodes, "burn", METRICS[0])) < 1 * MIB
    faults = grown(nodes, "take", METRICS[1])
    assert 20 < faults < 1.05 * pages
    assert grown(nodes, "burn", METRICS[1]) < 0.05 * faults + 20
