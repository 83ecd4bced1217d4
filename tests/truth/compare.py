"""Measures a program of known load once, and compares what the report says with the program's own account."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("HYBRID_BUILD", SOURCE / "build")).resolve()
HYBRID_RUN = BUILD / "src/run/hybrid-run"
HYBRID_REPORT = BUILD / "src/report/hybrid-report"
TIMEOUT = 300
THREAD = re.compile(r"(?<!rank \d)(?<!rank \d\d) thread (\d+)(?= |$)")  # "loads 71 thread 72 name"; ranks number their threads


class Failed(Exception):
    """A command did not do what it should."""


def call(command, **more):
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, **more)
    if result.returncode:
        raise Failed(f"{' '.join(map(str, command))}: {result.returncode}: {result.stderr[-500:]}")
    return result


def read_account(path):
    """The lines that the processes wrote, as one account: functions (ns each), threads (of each process and thread),
    cpu (of all processes, children included), chunks of work."""
    functions, threads, own, chunks, whole = {}, {}, {}, 0, 0
    for line in Path(path).read_text().splitlines():
        entry = json.loads(line)
        for name, ns in entry["functions"].items():
            functions[name] = functions.get(name, 0) + ns
        for thread, ns in entry["threads"].items():
            key = f"{entry['pid']} {thread}"
            threads[key] = max(threads.get(key, 0), ns)  # a program that was executed goes on counting
        own[entry["pid"]] = max(own.get(entry["pid"], 0), entry["cpu"])
        whole = max(whole, entry["cpu"] + entry["children"])
        chunks += entry["chunks"]
    return {"functions": {name: ns for name, ns in functions.items() if ns}, "threads": threads,
            "cpu": max(whole, sum(own.values())), "chunks": chunks}


def native(program, seconds):
    """The account of a run without a measurement."""
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        call([*program.launch(), *program.command(seconds)], env={**os.environ, "TRUTH": f"{folder}/account"}, cwd=folder)
        return read_account(f"{folder}/account")


def matches(node, name, program):
    if name in program.modules:
        return program.modules[name] in os.path.basename(node["module"])
    if name in program.whole:
        return node["name"] == program.whole[name]
    return node["name"] == name and node["kind"] != "probe"


def sums(nodes, names, program):
    """Of a tree: name -> [ns, samples, ns with what was waited] at and below the topmost nodes of that name."""
    result = {name: [0, 0, 0] for name in names}
    owner = [None] * len(nodes)
    for node in nodes:
        parent = node["parent"]
        owner[node["id"]] = owner[parent] if parent is not None else None
        if owner[node["id"]] is None:
            owner[node["id"]] = next((name for name in names if matches(node, name, program)), None)
            if owner[node["id"]] is not None:
                result[owner[node["id"]]][2] += node["inclusive_ns"]
        if owner[node["id"]] is not None:
            result[owner[node["id"]]][0] += node["exclusive_ns"]
            result[owner[node["id"]]][1] += node["samples"]
    return result


def thread_times(nodes):
    """Of a tree by thread: "PID TID" -> CPU time."""
    result, owner = {}, [None] * len(nodes)
    for node in nodes:
        parent = node["parent"]
        if parent == 0:
            pid = re.search(r"-(\d+)\.\d+\.hyb$", node["module"]).group(1)
            other = THREAD.search(node["name"])
            if other or " thread " not in node["name"]:
                owner[node["id"]] = f"{pid} {other.group(1) if other else pid}"
        elif parent is not None:
            owner[node["id"]] = owner[parent]
        if owner[node["id"]]:
            result[owner[node["id"]]] = result.get(owner[node["id"]], 0) + node["exclusive_ns"]
    return result


def report(path, *options):
    return json.loads(call([HYBRID_REPORT, "--json", *options, path]).stdout)


def measured(program, seconds, options=()):
    """One measured run. Returns a dict of plain values:
    true, shares, by_thread: function -> share of the CPU time of these functions;
    inclusive, flat: the same with what was waited in them, which a flat row cannot tell apart;
    samples: taken in these functions; cpu: [true, reported] ns; threads: [sum of differences, sum] ns;
    cost: share of CPU time that the report says; rate: samples a second of CPU; chunks; sources."""
    with tempfile.TemporaryDirectory(prefix="truth-") as folder:
        path = f"{folder}/experiment"
        call([*program.launch(), HYBRID_RUN, "-q", "-o", path, *options, *program.command(seconds)], cwd=folder,
             env={**os.environ, "TRUTH": f"{folder}/account"})
        account = read_account(f"{folder}/account")
        tree = report(path)
        by_thread = report(path, "--by-thread", "--functions")
        flat = report(path, "--flat")["rows"]
    names = sorted(account["functions"])
    found = sums(tree["nodes"], names, program)
    quality = tree["quality"]
    reported = thread_times(by_thread["nodes"])
    return {
        "true": shares(account["functions"]),
        "shares": shares({name: ns for name, (ns, _, _) in found.items()}),
        "inclusive": shares({name: ns for name, (_, _, ns) in found.items()}),
        "by_thread": shares({name: ns for name, (ns, _, _) in sums(by_thread["nodes"], names, program).items()}),
        "flat": None if program.modules else shares({
            name: sum(row["inclusive_ns"] for row in flat if matches(row, name, program)) for name in names}),
        "samples": round(sum(samples for _, samples, _ in found.values()) * quality["taken"] / max(quality["samples"], 1)),
        "cpu": [account["cpu"], sum(node["exclusive_ns"] for node in tree["nodes"])],
        "threads": [sum(abs(reported.get(key, 0) - account["threads"][key]) for key in account["threads"]),
                    sum(account["threads"].values())],
        "cost": quality["cost_ns"] / max(quality["cpu_ns"], 1),
        "rate": quality["taken"] * 1e9 / max(quality["cpu_ns"], 1),
        "chunks": account["chunks"],
        "sources": quality["sources"],
    }


def views(run):
    """The largest difference between the tree and the other views."""
    pairs = [("shares", "by_thread"), *([("inclusive", "flat")] if run["flat"] else [])]
    return max((abs(run[tree][name] - run[view][name]) for tree, view in pairs for name in run[view]), default=0.0)


def shares(values):
    total = sum(values.values())
    return {name: value / total if total else 0.0 for name, value in values.items()}
