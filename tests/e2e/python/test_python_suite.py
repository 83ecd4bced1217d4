"""
CPython's own test-suite: each of its tests ends under hybrid-run as it ends without.

A selection is run each time, on one interpreter. HYBRID_FULL_SUITE=1 runs all of COMPARED, which takes hours.
"""

import collections
import os
import resource
import signal
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import HYBRID_RUN, run
from interpreters import interpreters

FULL = os.environ.get("HYBRID_FULL_SUITE") == "1"

# What has most to do with what we do to a process: threads, signals, children, frames, code objects, the exit.
SELECTION = """
test_asyncgen test_atexit test_bdb test_code test_coroutines test_cprofile test_ctypes test_dis
test_exceptions test_faulthandler test_frame test_gc test_generators test_interpreters test_os test_posix
test_subprocess test_sys test_sys_setprofile test_sys_settrace test_thread test_threading test_threadsignals
test_traceback test_tracemalloc
""".split()

# Modules of which each test was compared, in both modes, by version of CPython. Not among them, as it removes what
# another run of it has made: test_perf_profiler, of which the three tests of sys.activate_stack_trampoline that may
# have no other function that evaluates frames fail with hooks.
COMPARED = {
    "3.8.18": """
        test__xxsubinterpreters test_asyncgen test_atexit test_audit test_bdb test_capi test_code test_contextlib
        test_coroutines test_cprofile test_ctypes test_dis test_exceptions test_faulthandler test_fork1 test_frame
        test_gc test_generators test_grammar test_inspect test_os test_posix test_profile test_subprocess test_sys
        test_sys_setprofile test_sys_settrace test_thread test_threading test_threadsignals test_trace
        test_traceback test_tracemalloc test_weakref test_yield_from
    """.split(),
    "3.9.18": """
        test__xxsubinterpreters test_asyncgen test_atexit test_audit test_bdb test_capi test_code test_contextlib
        test_coroutines test_cprofile test_ctypes test_dis test_exceptions test_faulthandler test_fork1 test_frame
        test_gc test_generators test_grammar test_inspect test_os test_posix test_profile test_subprocess test_sys
        test_sys_setprofile test_sys_settrace test_thread test_threading test_threadsignals test_trace
        test_traceback test_tracemalloc test_weakref test_yield_from
    """.split(),
    "3.10.13": """
        test__xxsubinterpreters test_asyncgen test_atexit test_audit test_bdb test_code test_contextlib
        test_coroutines test_cprofile test_ctypes test_dis test_embed test_exceptions test_faulthandler test_fork1
        test_frame test_gc test_generators test_grammar test_inspect test_os test_posix test_profile test_subprocess
        test_sys test_sys_setprofile test_sys_settrace test_thread test_threading test_threadsignals test_trace
        test_traceback test_tracemalloc test_weakref test_yield_from
    """.split(),
    "3.11.2": """
        test__xxsubinterpreters test_array test_asyncgen test_asyncio test_asyncore test_atexit test_audit test_bdb
        test_buffer test_builtin test_bz2 test_call test_class test_cmd test_cmd_line test_cmd_line_script test_code
        test_code_module test_collections test_compile test_compileall test_concurrent_futures test_context
        test_contextlib test_contextlib_async test_coroutines test_cprofile test_csv test_ctypes test_dataclasses
        test_decimal test_deque test_descr test_dict test_dis test_doctest test_email test_embed test_enum
        test_epoll test_except_star test_exception_group test_exception_hierarchy test_exception_variations
        test_exceptions test_faulthandler test_fcntl test_fileio test_float test_fork1 test_format test_frame
        test_fstring test_ftplib test_functools test_gc test_generators test_grammar test_hashlib test_httpservers
        test_import test_importlib test_inspect test_int test_interpreters test_io test_itertools test_json
        test_list test_logging test_long test_lzma test_math test_memoryio test_memoryview test_mmap
        test_modulefinder test_multiprocessing_fork test_multiprocessing_main_handling test_multiprocessing_spawn
        test_opcache test_openpty test_os test_pathlib test_pdb test_pickle test_pkg test_pkgutil test_poll
        test_poplib test_posix test_profile test_pty test_py_compile test_queue test_raise test_re test_readline
        test_regrtest test_resource test_runpy test_sax test_sched test_scope test_select test_selectors test_set
        test_shutil test_signal test_site test_smtplib test_socket test_ssl test_stable_abi_ctypes test_struct
        test_subprocess test_super test_support test_syntax test_sys test_sys_setprofile test_sys_settrace
        test_telnetlib test_tempfile test_thread test_threading test_threading_local test_threadsignals test_time
        test_trace test_traceback test_tracemalloc test_types test_typing test_unittest test_urllib test_urllib2
        test_urllib2_localnet test_venv test_wait3 test_wait4 test_warnings test_weakref test_with test_xml_etree
        test_xmlrpc test_yield_from test_zipimport test_zlib
    """.split(),
    "3.11.7": """
        test_capi test_code
    """.split(),
    "3.12.1": """
        test__xxsubinterpreters test_asyncgen test_atexit test_audit test_bdb test_builtin test_call test_capi
        test_cmd_line test_cmd_line_script test_code test_compile test_context test_contextlib test_coroutines
        test_cprofile test_ctypes test_descr test_dict test_dis test_embed test_exceptions test_faulthandler
        test_fork1 test_frame test_functools test_gc test_generators test_grammar test_import test_inspect
        test_interpreters test_list test_monitoring test_opcache test_os test_pdb test_posix test_profile test_raise
        test_runpy test_scope test_set test_sqlite3 test_stable_abi_ctypes test_subprocess test_super test_syntax
        test_sys test_sys_setprofile test_sys_settrace test_thread test_threading test_threadsignals test_trace
        test_traceback test_tracemalloc test_type_cache test_types test_typing test_userstring test_weakref
        test_with test_yield_from
    """.split(),
    "3.13.0": """
        test_asyncgen test_atexit test_audit test_bdb test_builtin test_call test_capi test_cmd_line
        test_cmd_line_script test_code test_compile test_context test_contextlib test_coroutines test_cprofile
        test_ctypes test_descr test_dict test_dis test_embed test_exceptions test_faulthandler test_fork1 test_frame
        test_functools test_gc test_generators test_grammar test_import test_inspect test_interpreters test_list
        test_monitoring test_opcache test_os test_pdb test_posix test_profile test_raise test_runpy test_scope
        test_set test_sqlite3 test_stable_abi_ctypes test_subprocess test_super test_syntax test_sys
        test_sys_setprofile test_sys_settrace test_thread test_threading test_threadsignals test_trace
        test_traceback test_tracemalloc test_type_cache test_types test_typing test_userstring test_weakref
        test_with test_yield_from
    """.split(),
}

# Hang where the kernel has such sockets and no machine around it.
HANGS = "*VSOCK*"

# Modules with tests that end otherwise with hooks, as they do with any function that evaluates frames (PEP 523).
AS_WITH_ANY_HOOK = {
    "test_dis": "calls are not specialised then",
    "test_monitoring": "a generator's end and calls of functions are other events then",
    "test_opcache": "attributes and items that run a function are not specialised then",
    "test_sys_settrace": "`async for` raises one exception more then, from 3.12 on",
    "test_type_cache": "attributes that run a function are not specialised then",
}

PASS = """
typedef void *evaluate(void *, void *, int);
extern evaluate _PyEval_EvalFrameDefault;
extern void _PyInterpreterState_SetEvalFrameFunc(void *, evaluate *);
extern void *PyInterpreterState_Get(void);
static void *pass(void *state, void *frame, int throwing)
{
	return _PyEval_EvalFrameDefault(state, frame, throwing);
}
void set(void)
{
	_PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), pass);
}
"""


def as_from_a_shell():
    """As a command of an interactive shell: interrupts are not ignored, and the limit of descriptors is not the
    highest, above which the runtime keeps its own."""
    for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))


class Suite:
    """A run of one module's tests in a folder of its own."""

    def __init__(self, interpreter, module, folder, *prefix, **variables):
        folder.mkdir()
        self.report = folder / "report.xml"
        command = [*prefix, interpreter.path, "-m", "test", "-v", "--junit-xml", self.report, "--tempdir", folder]
        command += ["-i", HANGS, module]
        with open(folder / "output", "wb") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder,
                env={**os.environ, "TMPDIR": str(folder), **variables}, preexec_fn=as_from_a_shell, start_new_session=True,
            )

    def outcomes(self):
        """How each test ended: {name: {(end, times)}}; the exit status stands there as one more."""
        try:
            status = self.process.wait(timeout=900)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            status = self.process.wait()
        cases = xml.etree.ElementTree.parse(self.report).iter("testcase") if self.report.exists() else ()
        ends = collections.Counter()
        for case in cases:
            parts = {part.tag for part in case} & {"skipped", "failure", "error"}
            ends[case.get("name"), " ".join(sorted(parts)) or case.get("result")] += 1
        outcomes = collections.defaultdict(set, {"[exit status]": {(status, 1)}})
        for (name, end), times in ends.items():
            outcomes[name].add((end, times))
        return outcomes


def differences(one, other):
    """The names of the tests that ended in different ways."""
    return {name for name in {*one, *other} if one[name] != other[name]}


WITH_TESTS = [interpreter for interpreter in interpreters() if interpreter.has_module("test.test_grammar")]


def chosen():
    """(interpreter, module) for each comparison."""
    if FULL:
        return [(i, module) for i in WITH_TESTS for module in COMPARED.get(".".join(map(str, i.version)), SELECTION)]
    system = [i for i in WITH_TESTS if "system" in str(i)]
    return [((system or WITH_TESTS or [None])[-1], module) for module in SELECTION]


@pytest.fixture
def with_any_hook(tmp_path, compile_c):
    """with_any_hook(interpreter, module): how its tests end natively with a function that evaluates frames and does
    nothing."""

    def function(interpreter, module):
        folder = tmp_path / "site"
        folder.mkdir()
        library = compile_c(PASS, "-shared", "-fPIC")
        (folder / "sitecustomize.py").write_text(f"import ctypes; ctypes.PyDLL('{library}').set()")
        return Suite(interpreter, module, tmp_path / "with-any-hook", PYTHONPATH=str(folder)).outcomes()

    return function


@pytest.mark.parametrize("interpreter, module", chosen(), ids=str)
@pytest.mark.parametrize("mode", ["frames", "hooks"])
def test_each_test_ends_as_without(tmp_path, with_any_hook, mode, interpreter, module):
    if not interpreter:
        pytest.skip("no interpreter here has CPython's tests; Debian: libpython3.*-testsuite")

    def both(name):
        """Natively and measured, at the same time."""
        prefix = [HYBRID_RUN, "-q", "-o", tmp_path / f"{name}-experiment", f"--python={mode}"]
        native = Suite(interpreter, module, tmp_path / f"{name}-native")
        measured = Suite(interpreter, module, tmp_path / f"{name}-measured", *prefix)
        return native.outcomes(), measured.outcomes()

    native, measured = both("first")
    assert len(native) > 1, "the tests of this module do not run here"
    different = differences(native, measured)
    if different and mode == "hooks" and module in AS_WITH_ANY_HOOK:
        different &= differences(with_any_hook(interpreter, module), measured)
    if different:
        # Some tests depend on what else the machine does: what ended once as on the other side is no difference.
        native_again, measured_again = both("second")
        different &= differences(native_again, measured_again)
        different -= differences(native, native_again) | differences(measured, measured_again)
    assert {name: (native[name], measured[name]) for name in different} == {}


FREES = """
import ctypes, sys
freed = []
free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
name = "PyUnstable_Eval_RequestCodeExtraIndex" if sys.version_info >= (3, 12) else "_PyEval_RequestCodeExtraIndex"
getattr(ctypes.pythonapi, name)(free)
for i in range(3):
    eval("lambda: %d" % i)()
print(freed)
"""


@pytest.mark.parametrize("interpreter", interpreters(), ids=str)
def test_hooks_leave_the_words_of_other_tools_alone(measure, interpreter):
    """A tool's function that frees its word of a code object is not called for those that have none."""
    if not interpreter.has_module("ctypes"):
        pytest.skip("has no ctypes")
    experiment = measure(interpreter.path, "-c", FREES, options=["--python=hooks"])
    assert (experiment.returncode, experiment.stdout) == (0, "[]\n")


@pytest.mark.parametrize("interpreter", [i for i in interpreters() if i.minor >= (3, 12)], ids=str)
def test_hooks_leave_perf_support_alone(measure, interpreter):
    """With -X perf the interpreter sets a function that evaluates frames, and asks later whether it is still there."""
    script = "import sys; print(sys.is_stack_trampoline_active())"
    alone = run(interpreter.path, "-X", "perf", "-c", script)
    experiment = measure(interpreter.path, "-X", "perf", "-c", script, options=["--python=hooks"])
    assert (experiment.returncode, experiment.stdout) == (alone.returncode, alone.stdout)
