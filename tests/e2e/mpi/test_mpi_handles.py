"""Communicators, windows and files have an identity that is the same on all ranks, and no other one has."""

from collections import Counter, defaultdict

import pytest


def identities(run, count):
    """Name of a handle to the identities that it has on the ranks."""
    found = defaultdict(dict)
    for rank in range(count):
        for call in run.calls(rank):
            for record in call.records:
                if "identity" in record:
                    found[record["handle"]].setdefault(rank, set()).add(record["identity"])
    return found


@pytest.mark.parametrize("scenario", ["plain", "groups", "topologies", "between", "windows", "sessions"])
def test_identity(mpi, ranks, scenario):
    if scenario == "sessions" and mpi.name == "openmpi":
        pytest.skip("Open MPI 4 has no sessions")
    run = ranks(4, mpi.compile("handles.c", "-Wno-stringop-overread"), scenario, options=["--trace"])
    assert run.returncode == 0, run.stderr
    found = identities(run, 4)
    members = defaultdict(set)
    for rank in range(4):
        for line in run.truth(rank):
            members[line.rsplit(" ", 2)[0]].add(rank)
    assert members
    owner = {}
    for name, who in members.items():
        assert set(found[name]) == who, f"{name} is seen by {sorted(found[name])} and belongs to {sorted(who)}"
        all_of_them = set().union(*found[name].values())
        assert len(all_of_them) == 1, f"{name} has the identities {found[name]}"
        identity = all_of_them.pop()
        assert owner.setdefault(identity, name) == name, f"{name} and {owner[identity]} have the same identity"


def test_files(mpi, ranks, tmp_path):
    """Opened twice by the same path: two files, whose name is the path."""
    path = str(tmp_path / "file")
    run = ranks(4, mpi.compile("handles.c", "-Wno-stringop-overread"), "files", options=["--trace"], env={"FILE_NAME": path})
    assert run.returncode == 0, run.stderr
    writes = [r for call in run.calls() for r in call.records if r.get("message") == "write"]
    counts = Counter(r["identity"] for r in writes)
    assert sorted(counts.values()) == [4, 4] and {r["handle"] for r in writes} == {path}


def test_definitions_say_who_is_a_member(mpi, ranks):
    run = ranks(4, mpi.compile("handles.c", "-Wno-stringop-overread"), "plain")
    defined = [r for r in run.records("--defs") if r["record"] == "def" and r["type"] in ("handle", "handle_name", "world")]
    assert Counter(r["type"] for r in defined)["world"] == 4
    worlds = [r for r in defined if r["type"] == "world"]
    assert sorted(r["rank"] for r in worlds) == [0, 1, 2, 3] and {r["ranks"] for r in worlds} == {4}
    assert len({r["identity"] for r in worlds}) == 1
