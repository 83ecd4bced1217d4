"""hybrid-run --python=hooks: Python functions are probes, on each interpreter of the machine."""

import collections
import json
import textwrap

import pytest

from conftest import PROGRAMS, run
from interpreters import interpreters

CALLS = PROGRAMS / "python/hooks_calls.py"
HOOKED = [python for python in interpreters() if not python.free_threaded]

pytestmark = pytest.mark.parametrize("python", HOOKED, ids=str)


@pytest.fixture
def hooks(measure, tmp_path):
    """hooks(python, text or path, options ...): the experiment of a program that ends well."""

    def function(python, program, *arguments, options=(), flags=(), status=0):
        if isinstance(program, str):
            path = tmp_path / "program.py"
            path.write_text(textwrap.dedent(program))
            program = path
        e = measure(python.path, *flags, program, *arguments, options=["--python=hooks", *options])
        assert e.returncode == status, e.stderr
        return e

    return function


def functions(report, file="program.py"):
    """Calls, skipped calls and time by function, of the probes in that file."""
    found = collections.defaultdict(lambda: collections.Counter(calls=0, skipped=0, inclusive_ns=0))
    for node in report["nodes"]:
        if node["kind"] == "probe" and node["file"].endswith(file):
            name = "<module>" if node["name"].startswith("<module ") else node["name"].rpartition(".")[2]
            found[name].update({key: node[key] for key in ("calls", "skipped", "inclusive_ns")})
    return found


def calls(report, file="program.py"):
    return {name: counts["calls"] for name, counts in functions(report, file).items()}


def outputs(python, program, tmp_path, *flags):
    """What the program does without us."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    return run(python.path, *flags, path, cwd=tmp_path)


def faults(report):
    return {name: count for name, count in report["quality"]["faults"].items() if count}


# -------------------------------------------------------------------- calls


def test_calls_are_those_that_cprofile_counts(python, hooks, tmp_path):
    truth = run(python.path, CALLS, tmp_path / "truth")
    assert truth.returncode == 0, truth.stderr
    truth = json.loads((tmp_path / "truth").read_text())
    report = hooks(python, CALLS, options=["--demote=0"]).report()
    counted = collections.Counter()
    for node in report["nodes"]:
        if node["kind"] == "probe" and node["file"].endswith("hooks_calls.py"):
            counted["%s:%d" % (node["name"].rpartition(".")[2], node["line"])] += node["calls"]
    expected = {name: 3 * count for name, count in truth.items()}  # in three threads
    # Closing a generator that was left suspended is an evaluation, when it is not counted by cProfile any more.
    name = next(name for name in expected if name.startswith("count:"))
    assert expected[name] <= counted[name] <= expected[name] + 3
    expected[name] = counted[name]
    # Some interpreters run these in the caller's evaluation once they are warm, whatever is hooked: that is said.
    unseen = "__init__" if python.minor == (3, 13) else "__getitem__" if (3, 11) <= python.version < (3, 11, 4) else None
    assert str(report["quality"]["notes"]).count(str(unseen)) == (unseen is not None)
    expected = {name: count for name, count in expected.items() if not name.startswith(f"{unseen}:")}
    assert {name: counted[name] for name in expected} == expected
    assert faults(report) == {}
    assert report["quality"]["open_regions"] == 0


def test_before_any_python_code_with_all_that_is_off(python, hooks):
    program = """
        def f():
            pass
        f()
    """
    for flags in ([], ["-I"], ["-S"], ["-E"], ["-I", "-S", "-E", "-X", "utf8"]):
        assert calls(hooks(python, program, flags=flags).report()) == {"<module>": 1, "f": 1}


def test_a_command_and_standard_input(python, measure):
    text = "def f(): pass\nf(); f()"
    for command, options in ((["-c", text], {}), (["-"], {"input": text})):
        e = measure(python.path, *command, options=["--python=hooks"], **options)
        assert e.returncode == 0, e.stderr
        file = "<string>" if "-c" in command else "<stdin>"
        assert calls(e.report(), file)["f"] == 2


def test_times_are_in_proportion(python, hooks):
    program = """
        import time
        def spin(n):
            for i in range(n): pass
        def one(): spin(50000)
        def three(): spin(150000)
        def sleeps(): time.sleep(0.2)
        for i in range(30):
            one()
            three()
        sleeps()
    """
    found = functions(hooks(python, program).report())
    assert 1.5 < found["three"]["inclusive_ns"] / found["one"]["inclusive_ns"] < 6
    assert found["sleeps"]["inclusive_ns"] >= 200e6
    whole = found["one"]["inclusive_ns"] + found["three"]["inclusive_ns"] + found["sleeps"]["inclusive_ns"]
    assert 0.8 * found["<module>"]["inclusive_ns"] < whole <= found["<module>"]["inclusive_ns"]


def test_samples_inside_are_below_their_function(python, hooks):
    program = """
        def spin(n):
            for i in range(n):
                pass
        def outer():
            spin(20000000)
        outer()
    """
    report = hooks(python, program).report()
    spin = next(node for node in report["nodes"] if node["name"] == "spin" and node["kind"] == "probe")

    def samples(node):
        return node["samples"] + sum(map(samples, node["children"]))

    assert samples(spin) > 0.9 * report["quality"]["samples"] - 10


def test_demoted_functions_are_counted(python, hooks):
    program = """
        def tiny(): pass
        def big():
            for i in range(30000): tiny()
        big()
    """
    found = functions(hooks(python, program, options=["--demote=1000:10000000"]).report())
    assert found["tiny"]["calls"] == 30000
    assert 0 < 30000 - found["tiny"]["skipped"] < 5000
    assert (found["big"]["calls"], found["big"]["skipped"]) == (1, 0)


def test_the_filter_leaves_functions_out(python, hooks, tmp_path):
    (tmp_path / "rules").write_text("exclude python:*hidden*\n")
    program = """
        def visible(): return 1
        def hidden(): return visible()
        def outer(): return hidden()
        for i in range(10): outer()
    """
    report = hooks(python, program, options=["--filter", tmp_path / "rules"]).report()
    assert calls(report) == {"<module>": 1, "outer": 10, "visible": 10}


# ----------------------------------------------------- the program's behaviour


RECURSION = """
    import sys
    def f(n):
        global depth
        depth = n
        f(n + 1)
    def measure(function, limit):
        sys.setrecursionlimit(limit)
        try:
            function(0)
        except RecursionError as error:
            return error
    for limit in (sys.getrecursionlimit(), 4000, 10000, 40000):
        if limit <= 4000 or sys.version_info >= (3, 11):
            error = measure(f, limit)
            print(limit, depth, error)
"""

# What recurs by C code and what by Python alone: from 3.12 on the first has a limit of its own.
THROUGH_C = """
    import functools, sys
    depth = 0
    def down():
        global depth
        depth += 1
    def by_map(n): down(); list(map(by_map, [n]))
    def by_key(n): down(); sorted([n], key=by_key)
    def by_reduce(n): down(); functools.reduce(lambda a, b: by_reduce(n), [n, n])
    def by_exec(n): down(); exec("by_exec(n)", globals(), {"n": n})
    def by_class(n):
        down()
        class Inside: by_class(n)
    def by_partial(n): down(); functools.partial(by_partial, n)()
    @functools.lru_cache(None)
    def by_cache(n): down(); by_cache(n + 1)
    class Type:
        def __init__(self, n): down(); Type(n)
    class Object:
        def __repr__(self): down(); return repr(self)
        def __add__(self, other): down(); return self + other
        def __call__(self): down(); return self()
        def __len__(self): down(); return len(self)
        def __getitem__(self, key): down(); return self[key]
        def __enter__(self):
            down()
            with self: pass
        def __exit__(self, *error): pass
    def by_next(n):
        down()
        yield next(by_next(n))
    def by_generator(n):
        down()
        for x in by_generator(n): yield x
    def by_yield_from(n):
        down()
        yield from by_yield_from(n)
    async def by_await(n):
        down()
        await by_await(n)
    def with_star(*n): down(); with_star(*n)
    def with_keys(**n): down(); with_keys(**n)
    def by_mixture(n): down(); list(map(lambda x: with_name(n=x), [n]))
    def with_name(n): with_tuple(*[n])
    def with_tuple(*n): by_mixture(n)
    def measure(name, limit, function):
        global depth
        depth = 0
        sys.setrecursionlimit(limit)
        try:
            function()
        except RecursionError as error:
            sys.setrecursionlimit(1000)
            print(name, limit, depth, error)
    o = Object()
    for limit in (400, 1000, 4000)[: 3 if sys.version_info[:2] == (3, 12) else 2]:
        for function in (by_map, by_key, by_reduce, by_exec, by_class, by_partial, by_cache, Type, with_star, by_mixture):
            measure(function.__name__, limit, lambda: function(1))
        measure("by_next", limit, lambda: list(by_next(1)))
        measure("by_generator", limit, lambda: list(by_generator(1)))
        measure("by_yield_from", limit, lambda: list(by_yield_from(1)))
        measure("by_await", limit, lambda: by_await(1).send(None))
        measure("with_keys", limit, lambda: with_keys(n=1))
        measure("repr", limit, lambda: repr(o))
        measure("add", limit, lambda: o + o)
        measure("call", limit, lambda: o())
        measure("len", limit, lambda: len(o))
        measure("item", limit, lambda: o[0])
        measure("with", limit, lambda: o.__enter__())
    if sys.version_info >= (3, 13):
        measure("by_map", 20000, lambda: by_map(1))
        measure("repr", 20000, lambda: repr(o))
"""


@pytest.mark.parametrize("program", [RECURSION, THROUGH_C], ids=["Python", "C"])
def test_recursion_ends_where_it_ends_without(python, hooks, tmp_path, program):
    assert hooks(python, program).stdout == outputs(python, program, tmp_path).stdout


def test_deep_recursion_in_a_thread_with_a_small_stack(python, hooks, tmp_path):
    program = """
        import sys, threading
        def f(n): return n and 1 + f(n - 1)
        depth = 20000 if sys.version_info >= (3, 11) else 100
        sys.setrecursionlimit(depth + 100)
        threading.stack_size(256 * 1024)
        thread = threading.Thread(target=lambda: print(f(depth)))
        thread.start()
        thread.join()
        print(f(depth))
    """
    e = hooks(python, program)
    assert e.stdout == outputs(python, program, tmp_path).stdout
    assert ("half of the C stack" in str(e.report()["quality"])) == (python.minor >= (3, 11))


def test_tracing_and_profiling_of_the_programs_own(python, hooks, tmp_path):
    program = """
        import sys, threading
        sys.path.insert(0, sys.argv[1])
        events = []
        def note(frame, event, argument):
            # A hook of any tool makes a coroutine's end an exception from 3.12 on, as it is before a call is warm.
            if frame.f_code.co_filename.endswith("hooks_calls.py") and event != "exception":
                events.append((event, frame.f_code.co_name, frame.f_lineno))
            return note
        import hooks_calls
        for install in (sys.setprofile, sys.settrace):
            del events[:]
            install(note)
            hooks_calls.main()
            install(None)
            print(*events)
        import cProfile
        profile = cProfile.Profile(builtins=False)
        profile.runcall(hooks_calls.fib, 10)
        print(sorted((e.code.co_name, e.callcount) for e in profile.getstats() if not isinstance(e.code, str)))
    """
    (tmp_path / "native.py").write_text(textwrap.dedent(program))
    native = run(python.path, tmp_path / "native.py", CALLS.parent)
    assert native.returncode == 0 and "('fib', 177)" in native.stdout
    assert hooks(python, program, CALLS.parent).stdout == native.stdout


def test_fork(python, hooks):
    program = """
        import os
        def before(): pass
        def child(): pass
        def parent(): pass
        def inner():
            pid = os.fork()
            if pid:
                for i in range(3): parent()
                os.waitpid(pid, 0)
            else:
                for i in range(5): child()
                before()
        before()
        inner()
    """
    report = hooks(python, program, options=["--demote=0"]).report()
    assert report["quality"]["processes"] == 2 and faults(report) == {}
    counts = calls(report)
    assert {name: counts[name] for name in ("before", "child", "parent")} == {"before": 2, "child": 5, "parent": 3}


def test_daemon_threads_at_the_end(python, hooks):
    program = """
        import threading, time
        def busy():
            while True: step()
        def step(): return sum(range(10))
        for i in range(4):
            threading.Thread(target=busy, daemon=True).start()
        time.sleep(0.1)
        print("end")
    """
    e = hooks(python, program)
    assert e.stdout == "end\n" and e.stderr.count("Fatal") == 0
    assert calls(e.report())["step"] > 100


def test_an_exit_inside(python, hooks):
    program = """
        import os, sys
        def f(n):
            if n: f(n - 1)
            elif sys.argv[1] == "exit": sys.exit(3)
            elif sys.argv[1] == "_exit": os._exit(3)
            else: os.abort()
        f(4)
    """
    for how, status in (("exit", 3), ("_exit", 3), ("abort", -6)):
        assert calls(hooks(python, program, how, status=status).report())["f"] == 5


def test_pause_and_resume(python, hooks):
    if not python.has_module("ctypes"):
        pytest.skip("has no ctypes")
    program = """
        import ctypes
        api = (ctypes.c_void_p * 14).in_dll(ctypes.CDLL(None), "hybrid_api_1")
        pause, resume = (ctypes.CFUNCTYPE(None)(api[i]) for i in (10, 11))
        def f(n): return n and f(n - 1)
        def halfway(n):
            if n: return halfway(n - 1)
            pause()
            f(10)
        f(2)
        pause()
        f(100)
        resume()
        f(3)
        halfway(4)
        f(10)
        resume()
        f(1)
    """
    report = hooks(python, program).report()
    assert faults(report) == {}
    counts = calls(report)
    assert (counts["f"], counts["halfway"]) == (3 + 4 + 2, 5)


def test_sub_interpreters(python, hooks, tmp_path):
    """They are hooked from their first line on, however many come and go, and stand below their caller."""
    module = "_interpreters" if python.minor >= (3, 13) else "_xxsubinterpreters"
    if not python.has_module(module):
        pytest.skip(f"has no {module}")
    program = f"""
        import {module} as interpreters
        def call(other, text):
            interpreters.run_string(other, text)
        for i in range(70):
            other = interpreters.create()
            call(other, "def f(n): return n and f(n - 1)\\nf(50)")
            call(other, "import json; print(json.dumps([f(50)]))")
            interpreters.destroy(other)
        print("end")
    """
    e = hooks(python, program, options=["--demote=0"])
    assert e.stdout == outputs(python, program, tmp_path).stdout
    report = e.report()
    assert calls(report, "<string>")["f"] == 70 * 2 * 51 and faults(report) == {}
    call = next(node for node in report["nodes"] if node["kind"] == "probe" and node["name"] == "call")
    inside = [node for node in call["children"] if node["kind"] == "probe" and node["file"] == "<string>"]
    assert [(node["name"], node["calls"]) for node in inside] == [("<module>", 140)]


def test_perf_support_of_the_interpreter(python, measure):
    """It has a hook of its own then, and would not start behind ours."""
    if python.minor < (3, 12):
        pytest.skip("has no -X perf")
    for flags, env in ((["-X", "perf"], {}), (["-Xperf"], {}), ([], {"PYTHONPERFSUPPORT": "1"})):
        e = measure(python.path, *flags, "-c", "print(1)", options=["--python=hooks"], env=env)
        assert (e.returncode, e.stdout) == (0, "1\n"), e.stderr


# ------------------------------------------------------------------ awaiting


def test_awaiting_times_of_coroutines(python, hooks):
    program = """
        import asyncio
        async def naps(n, seconds):
            for i in range(n):
                await asyncio.sleep(seconds)
        async def direct(value): return value
        async def never():
            for i in range(10): await direct(i)
        async def main():
            await asyncio.gather(naps(3, 0.05), naps(2, 0.1), never())
            task = asyncio.ensure_future(naps(1, 10))
            await asyncio.sleep(0.02)
            task.cancel()
            try: await task
            except asyncio.CancelledError: pass
        asyncio.run(main())
    """
    awaiting = {entry["name"]: entry for entry in hooks(python, program).report()["awaiting"]}
    assert awaiting["naps"]["suspensions"] == 6
    assert 0.35e9 <= awaiting["naps"]["awaited_ns"] < 5e9
    assert awaiting["main"]["awaited_ns"] >= 0.22e9
    assert "never" not in awaiting and "direct" not in awaiting


def test_coroutines_that_are_never_finished(python, hooks):
    """The frame of one that is thrown away is given to the next: that begins, it does not go on."""
    program = """
        import types
        @types.coroutine
        def suspend(): yield
        async def waits():
            await suspend()
            await suspend()
        for i in range(1000):
            waits().send(None)
        kept = waits()
        kept.send(None)
        kept.send(None)
    """
    report = hooks(python, program, options=["--demote=0"]).report()
    awaiting = {entry["name"]: entry for entry in report["awaiting"]}
    most = 1002 if python.minor >= (3, 13) else 2002  # closing one is an evaluation, too
    assert 1 <= awaiting["waits"]["suspensions"] <= most
    assert awaiting["waits"]["awaited_ns"] < 1e9


def test_metadata_names_the_mode(python, hooks):
    report = hooks(python, "pass\n").report()
    version = ".".join(map(str, python.version))
    assert [entry["text"] for entry in report["quality"]["python"]["versions"]] == [f"CPython {version}, hooks"]


EMBEDS = r"""
void Py_InitializeEx(int signals);
int PyRun_SimpleString(const char *text);
int main(void)
{
	Py_InitializeEx(0);
	return PyRun_SimpleString("import time\n"
				  "def f():\n pass\n"
				  "end = time.process_time() + 0.3\n"
				  "while time.process_time() < end: f()\n");
}
"""


def test_an_embedder_that_installs_no_signal_handlers(python, compile_c, measure):
    """The first sample is early enough if there was no other chance."""
    if not python.libpython:
        pytest.skip("has no shared library")
    program = compile_c(EMBEDS, str(python.libpython), f"-Wl,-rpath,{python.libpython.parent}")
    e = measure(program, options=["--python=hooks"], env={"PYTHONHOME": str(python.path.parents[1])})
    assert e.returncode == 0, e.stderr
    assert calls(e.report(), "<string>")["f"] > 1000


def test_an_interpreter_that_was_never_hooked_is_noted(python, compile_c, measure):
    if not python.libpython:
        pytest.skip("has no shared library")
    program = compile_c('#include <dlfcn.h>\nint main(int c, char **v) { dlopen(v[1], RTLD_NOW); dlopen("", 0); return 0; }')
    e = measure(program, python.libpython, options=["--python=hooks"])
    assert "could be hooked" in str(e.report()["quality"]["notes"])
