"""Frames mode: samples of Python programs against what the interpreter itself says of their stacks.

Each program runs twice: watched by sys.settrace, which tells every stack there can be, and measured. See
tests/programs/python/work.py for what the sources say of shares, lines and functions."""

import collections
import os
import signal
import zipfile
from pathlib import Path

import pytest

from conftest import run
from interpreters import interpreters
from known import names, walk
from pythonpaths import FOLDER, judge, plain, read_faulthandler, read_oracle, sampled, share_is, truth

SPIN = 1000000  # 30 to 70 ms a part
OPTIONS = ["-q", "--rate", "997", "--budget", "50"]

# Not the same when watched: tracing is what they are about, they depend on SPIN, or take as long as it takes;
# or too deep to be watched at each instruction.
UNWATCHED = {"part_deep", "part_mutual", "part_settrace", "part_large", "part_long_name"}
# These come about where the program gives no line.
AT_ANY_LINE = {"part_processes", "part_pool", "part_short"}
# With small numbers threads have done their work before anybody can be seen waiting for it.
WAITS = {"threads.py": "part_pool"}


@pytest.fixture(params=interpreters(), ids=str)
def interpreter(request):
    return request.param


def environment(**more):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYENV", "HYBRID"))}
    return {**clean, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(FOLDER), "SPIN": str(SPIN), **more}


def watch(interpreter, oracle, *command, **more):
    """All stacks that a run with small numbers goes through."""
    parts = {part for path in FOLDER.glob("**/*.py") for part in truth(path.relative_to(FOLDER)).parts} - UNWATCHED
    settings = [{"SPIN": "400", "PARTS": " ".join(parts)}]
    if Path(command[0]).name in WAITS:
        settings.append({"SPIN": "20000", "PARTS": WAITS[Path(command[0]).name]})
    for setting in settings:
        result = run(interpreter.path, *command, env=environment(ORACLE=str(oracle), **setting), **more)
        assert result.returncode == 0, result.stderr
    return read_oracle(oracle)


def cpu_of_parts(stdout):
    return {words[0]: int(words[1]) for words in map(str.split, stdout.splitlines()) if words[0].startswith("part_")}


def check_quality(report, lost=0.005):
    """Nothing is missing, or it is counted, and little."""
    quality = report["quality"]
    python = quality["python"]
    assert python["lost"] + python["unmatched"] <= lost * quality["samples"] + 1, python
    # The assembler of a BLAS library has no unwind information.
    blas = sum(node["samples"] for node in report["nodes"] if "blas" in node["module"])
    assert sum(quality["partial"].values()) - blas <= lost * quality["samples"] + 1, quality["partial"]
    # In the probe of a wait for the GIL there may be one.
    assert sum(quality["dropped"].values()) <= 0.02 * quality["samples"] + 5, quality["dropped"]
    assert quality["damage"] == 0


def check_no_internals(report):
    """Where there are Python frames no evaluation shows; the rest is the start and the end of the program."""
    paths = [path for path, node in woven(report["tree"]) if node["name"].startswith(("_PyEval", "PyEval_"))]
    assert not paths, paths[:3]


def woven(tree):
    """Paths with a Python frame in them."""
    return [
        (names(path), node) for path, node in walk(tree) if node["samples"] and any(above["python"] for above in path)
    ]


def check_verdict(part, verdict, stacks):
    """At most one in two hundred, and one, may be at a moment that nobody foresaw."""
    rest = 0.005 * verdict.samples + 1
    for wrong in (verdict.wrong_names, verdict.wrong_lines if part not in AT_ANY_LINE else {}):
        assert sum(wrong.values()) <= rest, (part, verdict.samples, list(wrong.items())[:3])
    if part not in UNWATCHED and stacks:
        assert sum(verdict.unknown.values()) <= rest, (part, verdict.samples, verdict.unknown.most_common(3))


def check_shares(program, verdicts):
    for part, alternatives in truth(program).parts.items():
        verdict = verdicts[part]
        for number, (share, _, _) in enumerate(alternatives):
            if share is not None:
                total = sum(verdict.whole.values())
                assert total >= 30 and share_is(verdict.whole[number], total, share, slack=0.05), (
                    part, number, share, verdict.whole)


def check_program(measure, interpreter, tmp_path, program, *arguments, options=OPTIONS):
    """Measures the program; part -> Verdict, after all that holds of every program was checked."""
    stacks = watch(interpreter, tmp_path / "stacks", FOLDER / program, *arguments)
    e = measure(interpreter.path, FOLDER / program, *arguments, options=options, env=environment())
    assert e.returncode == 0, e.stderr
    report = e.report("--callsites")
    verdicts = judge(program, sampled(report), stacks)
    for part, verdict in verdicts.items():
        check_verdict(part, verdict, stacks)
    check_shares(program, verdicts)
    check_quality(report)
    check_no_internals(report)
    return e, report, verdicts


def check_times(e, report, verdicts):
    """Parts that run one after another in one thread: each has the samples of its CPU time."""
    cpu = cpu_of_parts(e.stdout)
    total = sum(verdicts[part].samples for part in cpu)
    for part, nanoseconds in cpu.items():
        share = nanoseconds / sum(cpu.values())
        assert share_is(verdicts[part].samples, total, share, slack=0.005), (part, verdicts[part].samples, total, share)
    samples = report["quality"]["samples"]
    assert share_is(total, samples, min(1, sum(cpu.values()) / report["quality"]["cpu_ns"]), slack=0.05)


@pytest.mark.parametrize("program", ["calls.py", "callbacks.py"])
def test_program(measure, interpreter, tmp_path, program):
    e, report, verdicts = check_program(measure, interpreter, tmp_path, program)
    check_times(e, report, verdicts)


def test_outer_frames_are_there_once(measure, interpreter):
    """list.sort() begins evaluations all the time: their frames are linked to the outer ones before they are marked."""
    options = ["-q", "--rate", "5000", "--budget", "50"]
    e = measure(
        interpreter.path, FOLDER / "callbacks.py", options=options, env=environment(PARTS="part_sort", SPIN="5000000")
    )
    depths = collections.Counter()
    for stack, count in sampled(e.report("--callsites")):
        depths[[name for _, _, name in stack].count("part_sort")] += count
    assert depths[1] >= 500 and not set(depths) - {0, 1}, depths


def test_coroutines(measure, interpreter, tmp_path):
    e, report, verdicts = check_program(measure, interpreter, tmp_path, "coroutines.py")
    assert set(verdicts) >= set(truth("coroutines.py").parts) - {"part_executors"}


def test_threads(measure, interpreter, tmp_path):
    # Threads that take turns with the GIL are sampled in windows by default, where one sample stands for several.
    options = [*OPTIONS, "--source", "perf"]
    e, report, verdicts = check_program(measure, interpreter, tmp_path, "threads.py", options=options)
    alone = verdicts["part_thread_one"].samples, verdicts["part_thread_two"].samples
    # part_thread_one: two parts in its thread and one in the main thread, while another thread runs.
    assert share_is(alone[0], sum(alone), 0.75, slack=0.05), alone
    assert verdicts["part_many"].samples >= 50
    for part in ("part_thread_run", "part_pooled", "part_consumer", "part_daemon"):
        assert verdicts[part].samples >= 10, part


INSIDE = (
    "def inside(n):\n    for i in range(n):\n        i * i\n"
    "import time; now = time.process_time_ns; start = now(); inside(%d); print(start, now(), flush=True)\n"
)
SUB_INTERPRETER = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
def outside():
    interpreters.run_string(interpreters.create(), %r)
outside()
"""


def test_sub_interpreter(measure, interpreter, tmp_path):
    """It has a thread state of its own, and stands below the frames that called it."""
    source = tmp_path / "sub.py"
    source.write_text(SUB_INTERPRETER % (INSIDE % (2 * SPIN)))
    e = measure(interpreter.path, source, options=OPTIONS, env=environment())
    assert e.returncode == 0, e.stderr
    report = e.report("--callsites")
    woven = 0
    for stack, count in sampled(report):
        if stack and stack[-1][::2] == ("<string>", "inside"):
            woven += count
            assert stack[-1][1] in (2, 3) and stack[-2] == ("<string>", 4, "<module>")
            assert stack[:-2] == (("sub.py", 8, "<module>"), ("sub.py", 7, "outside"))
    before, after = map(int, e.stdout.split())
    quality = report["quality"]
    expected = quality["samples"] * (after - before) / quality["cpu_ns"]
    assert woven >= 0.8 * expected - 5, (woven, quality, before, after)
    assert quality["python"]["unmatched"] <= 2 + expected / 10, quality  # reading files, without the GIL


def test_long_names_are_cut(measure, interpreter):
    e = measure(
        interpreter.path, FOLDER / "callbacks.py", options=OPTIONS, env=environment(PARTS="part_long_name")
    )
    found = {node["name"] for node in e.report()["nodes"] if node["python"] and "ffff" in node["name"]}
    assert len(found) == 1 and 255 <= len(found.pop()) < 3000


def test_hundred_busy_threads(measure, interpreter):
    e = measure(
        interpreter.path, FOLDER / "threads.py", options=OPTIONS, env=environment(PARTS="part_hundred", SPIN="4000000")
    )
    tree = e.report("--by-thread")["tree"]
    busy = [n for n in tree["children"] if any(plain(node["name"]) == "part_many" for _, node in walk(n))]
    assert len(busy) == 100


@pytest.fixture(scope="session")
def native_library(compile_c):
    return compile_c("python/native.c", "-shared", "-fPIC")


def test_native(measure, interpreter, tmp_path, native_library):
    e, report, verdicts = check_program(measure, interpreter, tmp_path, "native.py", native_library)
    for part in ("part_callback", "part_nested_callbacks", "part_json_default", "part_pickle", "part_sqlite"):
        assert verdicts[part].samples >= 20
    paths = [(names(path), node["samples"]) for path, node in walk(report["tree"]) if node["samples"]]
    # Below the line that called it, and Python below C below Python.
    for part, function in [("part_released", "heavy"), ("part_holding", "light"), ("part_callback", "native_back")]:
        below = [count for path, count in paths if part in path and function in path[path.index(part) :]]
        assert sum(below) >= 3, (part, function)
    if interpreter.has_module("greenlet"):
        assert min(verdicts["part_ping"].whole[0], verdicts["part_pong"].whole[0]) >= 5
    back = [path for path, _ in paths if "native_back" in path and "called_back" in path]
    assert all(path.index("native_back") < path.index("called_back") for path in back)


def lines_of(report, functions):
    lines = collections.Counter()
    for node in report["nodes"]:
        if node["name"] in functions:
            lines[node["line"]] += node["samples"]
    return lines


def test_hot_lines_are_those_of_the_native_program(measure, interpreter, tmp_path, native_library, compile_c):
    """C code below ctypes against the same code as a program of its own."""
    program = compile_c("python/native.c", "-DPROGRAM")
    n = 6 * SPIN * 10
    alone = lines_of(measure(program, n, options=OPTIONS).report(), {"heavy", "light"})
    e = measure(
        interpreter.path, FOLDER / "native.py", native_library, options=OPTIONS,
        env=environment(PARTS="part_released", SPIN=str(6 * SPIN)),
    )
    below = lines_of(e.report(), {"heavy", "light"})
    assert sum(below.values()) >= 100 and sum(alone.values()) >= 100
    # Where the program says which of two lines is the hotter (5 sigma: lines of one loop may be as hot as each other).
    for hot, count in alone.items():
        for other in {*alone, *below}:
            if count - alone[other] > 5 * (count + alone[other]) ** 0.5:
                assert below[hot] > below[other], (hot, other, alone, below)
    for line in {*alone, *below}:
        share = alone[line] / sum(alone.values())
        assert share_is(below[line], sum(below.values()), share, slack=0.1), (line, alone, below)


def test_internals_show_when_asked_for(measure, interpreter):
    e = measure(
        interpreter.path, FOLDER / "calls.py", options=OPTIONS, env=environment(PARTS="part_recursion part_methods")
    )
    check_no_internals(e.report())
    report = e.report("--python-internals")
    inside = [n for n in report["nodes"] if n["module"].rpartition("/")[2].startswith(("libpython", "python3"))]
    native = [n for n in inside if not n["python"]]
    assert sum(n["samples"] for n in native) >= 0.9 * sum(n["samples"] for n in e.report()["nodes"] if n["python"])
    assert interpreter.libpython is None or any(n["name"].startswith("_PyEval_EvalFrameDefault") for n in native)


def test_processes(measure, interpreter, tmp_path):
    e = measure(interpreter.path, FOLDER / "processes.py", options=OPTIONS, env=environment())
    assert e.returncode == 0, e.stderr
    report = e.report("--callsites")
    verdicts = judge("processes.py", sampled(report))
    for part in ("part_child", "part_pooled", "part_fork"):
        check_verdict(part, verdicts[part], None)
    assert min(verdicts["part_child"].whole[number] for number in range(3)) >= 20, verdicts["part_child"].whole
    assert verdicts["part_pooled"].samples >= 20 and verdicts["part_fork"].samples >= 20
    assert report["quality"]["python"]["versions"][0]["programs"] == report["quality"]["programs"]


@pytest.mark.parametrize("how", ["module", "folder", "zip"])
def test_started_otherwise(measure, interpreter, tmp_path, how):
    command = {"module": ["-m", "package"], "folder": [FOLDER / "package"], "zip": [tmp_path / "package.zip"]}[how]
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for name in ("__main__.py", "spins.py"):
            archive.write(FOLDER / "package" / name, name)
    stacks = watch(interpreter, tmp_path / "stacks", *command, cwd=FOLDER)
    e = measure(interpreter.path, *command, options=OPTIONS, env=environment(), cwd=FOLDER)
    report = e.report("--callsites")
    verdicts = judge("package/__main__.py", sampled(report), stacks)
    for part in ("part_main", "part_import"):
        assert verdicts[part].samples >= 20, part
        check_verdict(part, verdicts[part], stacks)


@pytest.mark.parametrize("flags", [["-O"], ["-X", "frozen_modules=off"], ["-I", "-S", "-E"]], ids="".join)
def test_flags(measure, interpreter, tmp_path, flags):
    source = tmp_path / "program.py"
    source.write_text("def spins(n):\n    for i in range(n):\n        i * i\nspins(%d)\n" % (2 * SPIN))
    e = measure(interpreter.path, *flags, source, options=OPTIONS, env=environment())
    assert (e.returncode, e.stdout, e.stderr) == (0, "", "")
    samples = collections.Counter()
    for stack, count in sampled(e.report("--callsites")):
        samples[stack] += count
    for line in (2, 3):
        assert samples[("program.py", 4, "<module>"), ("program.py", line, "spins")] >= 5, samples.most_common(5)


def test_names_of_files(measure, interpreter, tmp_path):
    source = tmp_path / "größe\t名前 .py"
    source.write_text("def f(n):\n    for i in range(n):\n        i * i\nf(%d)\n" % SPIN, encoding="utf-8")
    e = measure(interpreter.path, source, options=OPTIONS, env=environment())
    found = {node["file"] for node in e.report("--full-paths")["nodes"] if node["python"] and node["samples"] > 5}
    assert found == {str(source)}


def test_crash_keeps_what_was_recorded(measure, interpreter, tmp_path):
    source = tmp_path / "crash.py"
    source.write_text(
        "import ctypes\ndef f(n):\n    for i in range(n):\n        i * i\nf(%d)\nctypes.string_at(8)\n" % (3 * SPIN)
    )
    e = measure(interpreter.path, source, options=OPTIONS, env=environment())
    assert e.returncode in (-signal.SIGSEGV, 128 + signal.SIGSEGV)
    stacks = collections.Counter({stack[-1][2]: count for stack, count in sampled(e.report("--callsites")) if stack})
    assert stacks["f"] >= 10


def test_faulthandler_sees_the_same(measure, interpreter, tmp_path):
    """faulthandler's own samples, by a handler like ours: what it often sees we see as often."""
    program = FOLDER / "calls.py"
    settings = {"PARTS": "part_shares part_with part_exceptions part_tree", "SPIN": str(2 * SPIN)}
    for _ in range(3):  # it may crash: it reads frames that are half made
        trace = tmp_path / "tracebacks"
        result = run(interpreter.path, program, env=environment(FAULTHANDLER=str(trace), **settings))
        if result.returncode == 0:
            break
    else:
        pytest.skip("faulthandler crashed the program")
    e = measure(interpreter.path, program, options=OPTIONS, env=environment(**settings))

    def by_functions(samples):
        counts = collections.Counter()
        for stack, count in samples:
            functions = tuple(plain(name) for _, _, name in stack)
            if any(name.startswith("part_") for name in functions):
                counts[functions] += count
        return counts

    theirs, ours = by_functions(read_faulthandler(trace)), by_functions(sampled(e.report("--callsites")))
    total = sum(theirs.values()), sum(ours.values())
    assert min(total) >= 50
    for functions, count in theirs.items():
        share = count / total[0]
        if share > 0.05:
            # Both are samples: the error of theirs is the larger.
            sigma = (share * (1 - share) * (1 / total[0] + 1 / total[1])) ** 0.5
            assert abs(ours[functions] / total[1] - share) <= 5 * sigma + 0.02, (functions, count, ours[functions])
