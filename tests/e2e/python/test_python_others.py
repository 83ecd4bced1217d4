"""What hooks cannot follow (greenlets), and interpreters that are not known: said in one line, and nothing is lost."""

import shutil
import textwrap

import pytest

from conftest import run
from interpreters import candidates, interpreters
from known import names, samples_below, walk

SWITCHED = "stacks are switched inside of Python functions (greenlets)"

GREENLETS = """
import {module}
{module}.{patch}
import threading, time

def spin():
    begun = time.thread_time()
    while time.thread_time() - begun < 0.002:
        pass

def worker(n):
    for i in range(n):
        spin()
        {module}.sleep(0)

threads = [threading.Thread(target=worker, args=(20,), name="green %d" % i) for i in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""
MODULES = {"eventlet": "monkey_patch()", "gevent": "monkey.patch_all()"}


def notes(report):
    return [note["text"] for note in report["quality"]["notes"]]


@pytest.fixture(params=MODULES)
def green(request, measure, tmp_path):
    """green(options ...): the experiment of a program of five greenlets, on an interpreter that has them."""
    python = next((python for python in interpreters() if python.has_module(request.param)), None)
    if not python:
        pytest.skip(f"no interpreter has the module {request.param}")
    program = GREENLETS.format(module=request.param, patch=MODULES[request.param])
    if request.param == "gevent":
        program = program.replace("import gevent\n", "import gevent, gevent.monkey\n", 1)
    (tmp_path / "green.py").write_text(program)

    def function(*options):
        e = measure(python.path, "green.py", options=options, cwd=tmp_path)
        assert (e.returncode, e.stdout) == (0, "done\n"), e.stderr
        return e

    return function


def test_hooks_say_that_stacks_are_switched(green):
    report = green("--python=hooks").report()
    assert [note.startswith(SWITCHED) for note in notes(report)].count(True) == 1


def test_frames_show_greenlets_apart(green):
    report = green().report()
    assert not any(note.startswith(SWITCHED) for note in notes(report))
    inside = [(names(path), node["samples"]) for path, node in walk(report["tree"]) if node["name"] == "spin"]
    assert sum(count for _, count in inside) > 0
    assert all(path.count("worker") == 1 for path, _ in inside)


@pytest.mark.parametrize("mode", ["frames", "hooks"])
def test_greenlets_do_not_name_their_thread(green, mode):
    report = green(f"--python={mode}").report("--by-thread")
    assert not any("green " in row["name"] for row in report["tree"]["children"])


def test_switches_are_not_seen_where_there_are_none(measure, tmp_path):
    """Exceptions through C, generators that are closed, regions that a function leaves to its caller."""
    (tmp_path / "plain.py").write_text(
        textwrap.dedent("""
        import functools, threading
        def fails(x):
            raise ValueError(x)
        def catches():
            try:
                list(map(fails, [1]))
            except ValueError:
                pass
        def generator():
            try:
                yield 1
                yield 2
            finally:
                catches()
        def run():
            for i in range(1000):
                catches()
                g = generator()
                next(g)
                g.close()
                functools.reduce(lambda a, b: a + b, range(5))
        threads = [threading.Thread(target=run) for i in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """)
    )
    for python in interpreters():
        if not python.free_threaded:
            e = measure(python.path, "plain.py", options=["--python=hooks", "--demote", "100:100000"])
            assert e.returncode == 0, e.stderr
            assert not any(note.startswith(SWITCHED) for note in notes(e.report())), python


def older():
    """A CPython before the first that is known, None if there is none."""
    for path in candidates():
        version = run(path, "-c", "import sys; print(sys.version_info[:2] < (3, 8))").stdout
        if version == "True\n":
            return path
    return None


@pytest.mark.parametrize("mode", ["frames", "hooks"])
@pytest.mark.parametrize("kind", ["pypy3", "older"])
def test_interpreters_that_are_not_known(measure, kind, mode):
    path = shutil.which("pypy3") if kind == "pypy3" else older()
    if not path:
        pytest.skip(f"there is no interpreter of this kind: {kind}")
    program = "import os, threading\nt = threading.Thread(target=sum, args=(range(3000000),)); t.start(); t.join()\n"
    e = measure(path, "-c", program + "if os.fork() == 0: os._exit(0)\nos.wait()", options=[f"--python={mode}"])
    assert (e.returncode, e.stdout) == (0, ""), e.stderr
    found = [note for note in notes(e.report()) if "Python" in note]
    assert len(found) == 1 and "3.8 to 3.13 are" in found[0], found
    assert samples_below(e.report()["tree"]) > 0
