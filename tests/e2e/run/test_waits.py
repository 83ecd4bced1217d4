"""Off-CPU time: waits stand where the program waits, time without a processor is told apart from them, and both
with CPU time are wall time."""

import re

import pytest

from known import check_sums, find, names, program, walk

# Function, the call it waits in, seconds.
WAITS = [
    ("napper", "sleep", 1.0), ("poller", "poll", 0.3), ("parent", "wait4", 0.3), ("reader", "read", 0.7),
    ("wants_lock", "pthread_mutex_lock", 0.4), ("awaits", "pthread_cond_wait", 0.3), ("joiner", "pthread_join", 0.2),
]


def account(stdout):
    """What the program printed: thread -> (ran, ready), seconds."""
    return {name: (int(ran) / 1e9, int(ready) / 1e9) for name, ran, ready in map(str.split, stdout.splitlines())}


def sums(tree):
    """CPU time, waiting, ready, seconds, of a node and all below it."""
    nodes = [node for _, node in walk(tree)]
    ready = sum(node["ready_ns"] for node in nodes)
    return (sum(node["exclusive_ns"] for node in nodes) / 1e9,
            (sum(node["blocked_ns"] for node in nodes) - ready) / 1e9, ready / 1e9)


@pytest.mark.parametrize("options", [[], ["--source", "perf"], ["--source", "timer"], ["--trace", "-r", "1000"]],
                         ids=["default", "perf", "timer", "traced"])
def test_waits_have_their_place(measure, tmp_path, options):
    e = measure(program("waits"), "waits", tmp_path / "fifo", options=["-q", *options])
    assert e.returncode == 0, e.stderr
    tree = e.report("--functions")["tree"]
    for function, call, least in WAITS:
        node, = find(tree, function)
        waited, = find(node, call)
        seconds = (waited["blocked_ns"] - waited["ready_ns"]) / 1e9
        # Timers and wake-ups are late on a busy machine, never early.
        assert least * 0.93 <= seconds <= least * 1.1 + 0.15, (function, seconds)
        assert next("main" in names(path) for path, n in walk(tree) if n is waited)
    check_sums(tree)
    for view in "--flat", "--flat=line", "--flat=module", "--flat=file":
        rows = e.report(view)["rows"]
        assert sum(row["exclusive_ns"] + row["blocked_ns"] for row in rows) == tree["inclusive_ns"], view
        assert sum(row["ready_ns"] for row in rows) == round(sums(tree)[2] * 1e9)
    ran, waited, ready = sums(longest_thread(e))
    ran_truly, ready_truly = account(e.stdout)["main"]
    assert abs(ran - ran_truly) <= 0.02 * ran_truly + 0.01
    assert abs(ready - ready_truly) <= 0.02 * ready_truly + 0.005


def longest_thread(e):
    return max(e.report("--functions", "--by-thread")["tree"]["children"], key=lambda node: node["inclusive_ns"])


def test_many_brief_waits(measure):
    """Of too many to record each one some stand for all, and are right on average: six runs, each within some 20 %."""
    shares = []
    for _ in range(6):
        e = measure(program("waits"), "brief", "4000", options=["-q"])
        _, waited, _ = sums(e.report("--functions")["tree"])
        estimated = sum(int(ns) for ns in re.findall(r"^node .* kind leaf .* waited (\d+)", e.dump(), re.M))
        assert waited >= 0.4
        shares.append(estimated / 1e9 / waited)
    assert sum(shares) / 6 == pytest.approx(1, abs=0.25), shares
    assert min(shares) > 0.4 and max(shares) < 2


def test_unseen_waits_have_no_place(measure):
    """What the C library waits by itself stands with the thread, not with the call that comes next."""
    e = measure(program("waits"), "stream", options=["-q"])
    thread = longest_thread(e)
    assert (thread["blocked_ns"] - thread["ready_ns"]) / 1e9 >= 0.45
    assert sum(sums(node)[1] for node in find(thread, "write")) <= 0.05


def test_ready_is_not_waiting(measure):
    e = measure(program("waits"), "compete", options=["-q"])
    truth = account(e.stdout)
    threads = e.report("--functions", "--by-thread", "--threshold=0")["tree"]["children"]
    for name in "first", "second":
        thread = next(thread for thread in threads if re.search(rf"thread \d+ {name}$", thread["name"]))
        ran, waited, ready = sums(thread)
        assert thread["inclusive_ns"] / 1e9 == pytest.approx(ran + waited + ready, rel=1e-6)
        assert ran == pytest.approx(truth[name][0], rel=0.02, abs=0.005)
        assert ready == pytest.approx(truth[name][1], rel=0.02, abs=0.005)
        assert waited <= 0.02 * thread["inclusive_ns"] / 1e9 + 0.005, (name, waited)
        assert ready >= 0.3  # or the machine has shown nothing
        assert sum(sums(find(thread, "compete")[0])) >= 0.9 * thread["inclusive_ns"] / 1e9
