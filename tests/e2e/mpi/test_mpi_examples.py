"""examples/mpi: the programs run, and the report shows what their README says."""

import re

import pytest

from conftest import BUILD, SOURCE, path_of, report_json, run


@pytest.fixture(scope="module")
def views(mpi):
    result = run(SOURCE / "examples/mpi/show", BUILD, mpi.name, timeout=240, env=mpi.environment())
    assert result.returncode == 0, result.stdout + result.stderr
    parts = re.split(r"^=== (.*)$", result.stdout, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2])), BUILD / f"mpi-examples-{mpi.name}"


def view(views, start):
    return next(text for title, text in views[0].items() if title.startswith(start))


def test_timers_have_mpi_below_them(views):
    """The shape of FLASH in paper 003: a custom region around a barrier, in the region that exchanges guard cells."""
    assert "guardcell Barrier" in view(views, "stencil: the user's")
    nodes = report_json(views[1] / "stencil")["nodes"]
    (barrier,) = [node for node in nodes if node["name"] == "MPI_Barrier"]
    names = [node["name"] for node in path_of(nodes, barrier["id"])]
    assert names[1:] == ["evolution", "guardcell", "guardcell Barrier", "fill_guardcells", "MPI_Barrier"]
    assert barrier["calls"] == 1000


def test_reverse_tree_splits_what_mpi_does_inside(views):
    """Each row of the inside of MPI has the user's timers below it, and they sum up to it."""
    report = report_json("--reverse", "--mpi-internals", "--functions", views[1] / "stencil")
    nodes = report["nodes"]
    timers = {"guardcell Barrier", "guardcell exchange", "timestep"}
    split = 0
    for leaf in report["tree"]["children"]:
        found = set()
        todo = list(leaf["children"])
        calls = False
        while todo:
            node = todo.pop()
            calls |= node["name"].startswith("MPI_")
            if node["name"] in timers:
                found.add(node["name"])
            else:
                todo += node["children"]
        if calls and len(found) > 1:
            split += 1
            assert sum(child["inclusive_ns"] for child in leaf["children"]) <= leaf["inclusive_ns"] * 1.000001 + 10
    assert nodes and split >= 1


def test_master_receives_from_all(views):
    report = report_json("--messages", views[1] / "master_worker")
    flows = {(f["from"], f["to"]): f["sent"]["messages"] for f in report["flows"]}
    assert flows == {(0, 1): 41, (1, 0): 41}
    assert "MPI_COMM_WORLD" in view(views, "master-worker")


def test_fortran(views):
    text = view(views, "wave")
    assert re.search(r"^ +800 .* MPI_Waitall$", text, re.M) and "[string::step]" in text.replace("__string_MOD_step", "string::step")


def test_python(views):
    if not any(title.startswith("primes") for title in views[0]):
        pytest.skip("mpi4py is not built for this MPI")
    text = view(views, "primes")
    assert "is_prime" in text and re.search(r"\[main(:primes\.py)?", text)
