"""Reads an experiment with the package `hybrid` and writes all of it as JSON: argument: the experiment."""

import json
import sys

import hybrid

MODES = ("routine", "callsite", "function")
SORTS = ("inclusive", "exclusive", "samples", "calls")


def as_dict(row):
    return dict(zip(row._fields, row))


def event(e):
    result = {**as_dict(e), "pid": e.location.process.pid, "location": e.location.id}
    if e.node is not None:
        result["regions"] = [node.name for node in e.location.path(e.node) if node.kind == "region"]
    return result


def location(l):
    keep = {key: value for key, value in vars(l).items() if key[0] != "_" and key != "process"}
    return {**keep, "pid": l.process.pid, "nodes": [as_dict(node) for node in l.nodes]}


with hybrid.open(sys.argv[1]) as experiment:
    merged = list(experiment.events(complete=True))
    of_one = [list(experiment.events(l)) for l in experiment.locations]
    for l, events in zip(experiment.locations, of_one):
        assert all(e.location is l for e in events)
        # The same but for `until`; in words, because nan is not equal to itself.
        without = [repr(tuple(e)[:9]) for e in events]
        assert [repr(tuple(e)[:9]) for e in merged if e.location is l] == without
    result = {
        "values": experiment.values,
        "metadata": experiment.metadata,
        "damage": [experiment.damage_count, experiment.damage],
        "notes": experiment.notes,
        "processes": [
            {key: value for key, value in vars(p).items() if key[0] != "_" and key != "locations"}
            for p in experiment.processes
        ],
        "locations": [location(l) for l in experiment.locations],
        "events": [event(e) for e in merged],
        "event_count": sum(map(len, of_one)),
        "profiles": {
            f"{mode} {sort}": [as_dict(row) for row in experiment.profile(mode, sort)] for mode in MODES for sort in SORTS
        },
        "by_thread": [as_dict(row) for row in experiment.profile(by_thread=True)],
        "internals": [as_dict(row) for row in experiment.profile(python_internals=True)],
        "one_thread": [as_dict(row) for row in experiment.profile(locations=experiment.locations[-1:])],
    }
print(json.dumps(result))
