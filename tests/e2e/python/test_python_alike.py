"""A Python program behaves under hybrid-run as without: what it prints, how it ends, what it can find out.

In all modes, on each interpreter of the machine, with four times the usual samples. Runs are compared byte by byte."""

import ast
import os
import re
import signal
import sysconfig
import time
from pathlib import Path

import pytest

from conftest import HYBRID_RUN, run
from interpreters import interpreters
from test_run_signals import Terminal

MODES = ["off", "frames", "hooks"]
OPTIONS = ["-q", "--rate", "1000", "--source", "timer"]


@pytest.fixture(params=interpreters(), ids=str)
def python(request):
    return request.param


@pytest.fixture
def alike(measure, tmp_path):
    """alike(command ...): runs it alone and in all modes, compares, returns the experiment of frames.

    mask: a pattern for what differs from run to run."""

    def function(*command, mask=r"(?!)", **more):
        more.setdefault("cwd", tmp_path)

        def seen(result):
            streams = {"stdout": result.stdout, "stderr": result.stderr}
            if more.get("text", True):
                streams = {name: re.sub(mask, "MASK", text).splitlines() for name, text in streams.items()}
            return {"status": result.returncode, **streams}

        native, experiments = seen(run(*command, **more)), {}
        for mode in MODES:
            e = experiments[mode] = measure(*command, options=[*OPTIONS, "--python", mode], **more)
            assert {"mode": mode, **seen(e)} == {"mode": mode, **native}
            assert e.files
        return experiments["frames"]

    return function


# -------------------------------------------------------------------- ends

ENDS = {
    "exit": ("import sys; sys.exit(3)", 3),
    "text": ("import sys; sys.exit('a text')", 1),
    "none": ("import sys; sys.exit(None)", 0),
    "large": ("import sys; sys.exit(256 + 7)", 7),
    "_exit": ("import os; print('lost'); os._exit(9)", 9),
    "abort": ("import os; os.abort()", -signal.SIGABRT),
    "exception": ("def f(n):\n    return f(n - 1) if n else 1 / 0\nf(3)", 1),
    "interrupt": ("raise KeyboardInterrupt", -signal.SIGINT),
    "null": ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
    "null in a thread": ("import ctypes, threading\nt = threading.Thread(target=ctypes.string_at, args=(0,))\n"
                         "t.start()\nt.join()", -signal.SIGSEGV),
    "kill": ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    "SIGTERM": ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
    "atexit": ("import atexit, os\natexit.register(print, 'end')\natexit.register(lambda: 1 / 0)\nprint('begin')", 0),
    "thread": ("import threading, sys\nt = threading.Thread(target=sys.exit, args=(4,))\nt.start()\nt.join()\nprint('on')", 0),
    "daemon": ("import threading, time\nt = threading.Thread(target=time.sleep, args=(60,), daemon=True)\nt.start()", 0),
    "busy daemon": ("import threading\ndef f():\n    while True:\n        sum(range(9))\n"
                    "for _ in range(3):\n    threading.Thread(target=f, daemon=True).start()\nsum(range(10 ** 6))", 0),
    "faulthandler": ("import ctypes, faulthandler\nfaulthandler.enable()\ndef f():\n    ctypes.string_at(0)\nf()", -signal.SIGSEGV),
    "recursion": ("def f():\n    f()\nf()", 1),
    "syntax": ("def f(:\n", 1),
}


@pytest.mark.parametrize("case", ENDS)
def test_end(alike, python, case):
    code, status = ENDS[case]
    try:
        e = alike(python.path, "-c", code, mask=r"0x[0-9a-f]{8,}")
    except AssertionError as error:
        # CPython 3.10 itself dies of that in 2 of 500 runs.
        if case != "busy daemon" or python.minor != (3, 10) or str(-signal.SIGSEGV) not in str(error):
            raise
        e = alike(python.path, "-c", code, mask=r"0x[0-9a-f]{8,}")
    assert e.returncode == status
    assert e.values["status"].startswith("exit" if status >= 0 else "signal")


def test_script_that_is_missing_or_does_not_parse(alike, python, tmp_path):
    (tmp_path / "app.py").write_text("print('never')\nif 1\n    pass\n")
    (tmp_path / "bytes.py").write_bytes(b"print('\xff')\n")
    assert alike(python.path, "gone.py").returncode == 2
    assert "SyntaxError" in alike(python.path, "app.py").stderr
    assert "SyntaxError" in alike(python.path, "bytes.py").stderr
    assert alike(python.path, "-m", "gone").returncode == 1
    assert alike(python.path, "--no-such-option").returncode == 2


# ------------------------------------------------------------------ options

ABOUT = """
import sys
print(sys.flags, sys.path, sys.argv, sorted(sys.modules), sys.warnoptions, sys._xoptions)
print(sys.getprofile(), sys.gettrace(), sys.getrecursionlimit(), sys.getswitchinterval(), sys.dont_write_bytecode)
"""


@pytest.mark.parametrize("flags", ["-I", "-S", "-E", "-s", "-B", "-u", "-OO", "-b", "-IS", "-X dev", "-X utf8", "-W error"])
def test_flags(alike, python, flags):
    env = {**os.environ, "PYTHONPATH": "/somewhere", "PYTHONDONTWRITEBYTECODE": "1"}
    alike(python.path, *flags.split(), "-c", ABOUT, "a", env=env)


@pytest.mark.parametrize("home", ["/proc", "/no/such/folder", None])
def test_home_that_cannot_be_written(alike, python, home):
    env = {name: value for name, value in os.environ.items() if name != "HOME"}
    alike(python.path, "-c", ABOUT, env={**env, "HOME": home} if home else env)


def test_program_from_stdin(alike, python):
    alike(python.path, "-", "a", input=ABOUT)
    alike(python.path, input=ABOUT + "\nsys.exit(7)\n")
    alike(python.path, "-i", input="def f(n):\n    return n * 2\n\nf(21)\n1 / 0\nexit(6)\n")
    alike(python.path, "-i", "-c", "x = 1", input="x + 1\n")
    alike(python.path, "-q", "-i", input="import sys\nsys.ps1\n")


def test_streams(alike, python):
    code = ("import sys\ndata = sys.stdin.buffer.read()\nfor n in range(0, len(data), 4099):\n"
            "    sys.stdout.buffer.write(data[n:n + 4099])\nsys.stderr.buffer.write(data[::-1])")
    alike(python.path, "-c", code, input=os.urandom(1 << 20), text=False)


def test_closed_streams(alike, python):
    code = "import os, sys\nprint(sys.stdin, sys.stdout)\nos.write(2, repr([sys.stdin, sys.stdout]).encode())"
    for closed in "<&-", ">&-", "<&- >&-":
        alike("sh", "-c", f'exec "$@" {closed}', "sh", python.path, "-c", code)


# -------------------------------------------------- what a program finds out


def test_environment(measure, python):
    code = "import os; print(dict(os.environ))"
    env = {"PATH": os.environ["PATH"], "A": "1", "PYTHONHASHSEED": "0"}
    native = ast.literal_eval(run(python.path, "-c", code, env=env).stdout)
    for mode in MODES:
        e = measure(python.path, "-c", code, options=["--python", mode], env=env)
        below = ast.literal_eval(e.stdout)
        assert set(below) - set(native) == {"HYBRID_DIR", "HYBRID_OPTIONS", "LD_PRELOAD"}
        assert {name: value for name, value in below.items() if name in native} == native


SURROUNDINGS = """
import gc, locale, os, resource, signal, sys, threading, traceback, warnings
print({n: os.readlink(f'/proc/self/fd/{n}') for n in range(10) if os.path.exists(f'/proc/self/fd/{n}')})
print([signal.getsignal(n) for n in (1, 2, 13, 15)], signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(threading.enumerate()[0].name, threading.active_count(), os.listdir('/proc/self/task') == [str(os.getpid())])
print(sys.executable, sys.prefix, sys.base_prefix, sys.orig_argv if hasattr(sys, 'orig_argv') else None)
print(open('/proc/self/cmdline').read().split(chr(0)), gc.isenabled(), gc.get_threshold(), locale.getlocale())
print([resource.getrlimit(n) for n in range(10)], os.umask(0), warnings.filters)
print(sys.getrefcount(threading), sys.getsizeof(threading), len(gc.get_objects()) > 1000)
print([f.name for f in traceback.extract_stack()], sys._getframe().f_back, sys.getallocatedblocks() > 0)
def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        return n
print(deep(0))
try:
    print([sys.monitoring.get_tool(n) for n in range(4)])
except AttributeError:
    pass
"""


def test_surroundings(alike, python):
    alike(python.path, "-c", SURROUNDINGS, mask=r"pipe:\[\d+\]")


# -------------------------------------------------- tools of the program's own

WORK = """
import sys
class Type:
    def method(self, n):
        return [x * x for x in range(n)]
def numbers(n):
    for i in range(n):
        yield i
def fail():
    raise ValueError('x')
def work():
    total = 0
    for i in numbers(20):
        total += len(Type().method(i)) + (lambda: 1)()
        try:
            fail()
        except ValueError:
            total += max(1, 2)
    return total
"""

OWN_TOOLS = {
    "setprofile": "events = []\n"
                  "sys.setprofile(lambda f, e, a: events.append((f.f_code.co_name, e, getattr(a, '__name__', None))))\n"
                  "work()\nsys.setprofile(None)\nprint(len(events), events)",
    "settrace": "events = []\n"
                "def trace(f, e, a):\n    events.append((f.f_code.co_name, f.f_lineno, e))\n    return trace\n"
                "sys.settrace(trace)\nwork()\nsys.settrace(None)\nprint(len(events), events)",
    "profile of threads": "import threading\nevents = []\n"
                          "threading.setprofile(lambda f, e, a: events.append((f.f_code.co_name, e)))\n"
                          "t = threading.Thread(target=work)\nt.start()\nt.join()\n"
                          "print([e for e in events if e[0] in ('work', 'fail', 'method', 'numbers')])",
    "cProfile": "import cProfile, pstats\np = cProfile.Profile()\np.runcall(work)\n"
                "for key, (calls, primitive, *times) in sorted(pstats.Stats(p).stats.items()):\n    print(key, calls, primitive)",
    "trace": "import trace\nt = trace.Trace(count=1, trace=0)\nt.runfunc(work)\nprint(sorted(t.results().counts.items()))",
    "tracemalloc": "import tracemalloc\ntracemalloc.start()\nx = work()\nprint(tracemalloc.is_tracing(), x)",
    "monitoring": "m = getattr(sys, 'monitoring', None)\nseen = []\n"
                  "for tool in range(3) if m else ():\n"
                  "    m.use_tool_id(tool, f'tool {tool}')\n"
                  "    m.register_callback(tool, m.events.PY_START, lambda code, at: seen.append(code.co_name))\n"
                  "    m.set_events(tool, m.events.PY_START)\n"
                  "x = work()\nfor tool in range(3) if m else ():\n    m.set_events(tool, 0)\n    m.free_tool_id(tool)\n"
                  "print(x, len(seen), seen)",
    "setprofile and an exception": "def broken(f, e, a):\n    raise RuntimeError('profile')\n"
                                   "sys.setprofile(broken)\nwork()",
}


@pytest.mark.parametrize("tool", OWN_TOOLS)
def test_tools_of_its_own(alike, python, tmp_path, tool):
    (tmp_path / "app.py").write_text(WORK + OWN_TOOLS[tool])
    alike(python.path, "app.py")


def test_pdb(alike, python, tmp_path):
    (tmp_path / "app.py").write_text(WORK + "print(work())\n")
    commands = "b Type.method\nc\nwhere\np n\nb fail\nc\ns\nn\nup\np i\nclear 1\ncl 2\nc\nq\n"
    alike(python.path, "-m", "pdb", "app.py", input=commands)
    (tmp_path / "stop.py").write_text(WORK + "breakpoint()\nprint(work())\n")
    alike(python.path, "stop.py", input="s\nn\nw\nc\n")


def test_coverage(alike, python, tmp_path):
    if not python.has_module("coverage"):
        pytest.skip("this interpreter has no coverage")
    (tmp_path / "app.py").write_text(WORK + "print(work())\n")
    alike(python.path, "-m", "coverage", "run", "app.py")
    alike(python.path, "-m", "coverage", "report", "-m")


def test_pytest(alike, python, tmp_path):
    if not python.has_module("pytest"):
        pytest.skip("this interpreter has no pytest")
    (tmp_path / "test_it.py").write_text(WORK + "def test_good():\n    assert work() == 250\n"
                                         "def test_bad():\n    assert work() == 0\n")
    e = alike(python.path, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "test_it.py", mask=r"in \d+\.\d+s")
    assert e.returncode == 1 and "1 failed, 1 passed" in e.stdout


# ------------------------------------------------------ threads and processes

PROGRAMS = {
    "threads": """
import threading
from concurrent.futures import ThreadPoolExecutor
print(list(ThreadPoolExecutor(8).map(lambda n: sum(range(n * 1000)), range(40))))
lock, done = threading.Lock(), []
def work(n):
    for _ in range(200):
        with lock:
            done.append(n)
for _ in range(20):
    group = [threading.Thread(target=work, args=(n,)) for n in range(10)]
    [t.start() for t in group]
    [t.join() for t in group]
print(len(done), threading.active_count())
""",
    "asyncio": """
import asyncio
async def child(n):
    await asyncio.sleep(0.001 * (n % 3))
    return n
async def numbers():
    for n in range(5):
        yield await child(n)
async def main():
    print(await asyncio.gather(*(child(n) for n in range(50))))
    print([n async for n in numbers()])
    try:
        await asyncio.wait_for(asyncio.sleep(9), 0.01)
    except asyncio.TimeoutError:
        print('timeout')
    p = await asyncio.create_subprocess_exec('echo', 'child', stdout=-1)
    print(await p.communicate())
asyncio.run(main())
""",
    "generators": """
import sys
def g(n):
    try:
        x = yield from range(n)
        while True:
            x = yield x
    except GeneratorExit:
        print('closed', n)
    finally:
        print(sys.exc_info()[0])
gs = [g(n) for n in range(3)]
for it in gs:
    print([next(it, None) for _ in range(2)])
try:
    gs[1].throw(KeyError('k'))
except KeyError as e:
    print(repr(e))
del gs, it
class C:
    f = [i for i in range(3)]
    exec('y = 3')
    def __del__(self):
        print('gone')
C()
print(eval('sum(x for x in range(10))'), sorted([3, 1, 2], key=lambda v: -v), C.y)
""",
    "subprocess": """
import subprocess, sys
print(subprocess.check_output([sys.executable, '-c', 'import sys; print(sys.argv)', 'a b']))
print(subprocess.run('echo $0; exit 3', shell=True, stdout=-1))
print(subprocess.run([sys.executable, '-c', 'import os; os.abort()']).returncode)
print(subprocess.run([sys.executable], input=b'print(6 * 7)', stdout=-1, close_fds=True, env={}).stdout)
p = subprocess.Popen(['cat'], stdin=-1, stdout=-1, preexec_fn=lambda: None)
print(p.communicate(b'x' * 100000)[0] == b'x' * 100000)
try:
    subprocess.run(['/no/such/program'])
except OSError as e:
    print(e)
""",
    "fork": """
import os, sys, threading, time
sys.stdout.flush()
pid = os.fork()
if not pid:
    print('child', sum(range(100000)), flush=True)
    os._exit(3)
print(os.waitpid(pid, 0)[1] >> 8, flush=True)
stop = threading.Event()
busy = threading.Thread(target=lambda: [sum(range(100)) for _ in iter(stop.is_set, True)])
busy.start()
for n in range(20):
    pid = os.fork()
    if not pid:
        t = threading.Thread(target=sum, args=(range(1000),))
        t.start()
        t.join()
        os._exit(n)
    print(os.waitpid(pid, 0)[1] >> 8)
stop.set()
busy.join()
""",
    "exec": """
import os, sys
n = int(sys.argv[1]) if len(sys.argv) > 1 else 3
print(n, flush=True)
if n:
    os.execv(sys.executable, [sys.executable, '-W', 'ignore', __file__, str(n - 1)])
pid = os.posix_spawn('/bin/echo', ['echo', 'spawned'], os.environ)
os.waitpid(pid, 0)
os.execvp('sh', ['sh', '-c', 'echo last; exit 4'])
""",
    "signals": """
import faulthandler, os, signal, threading, time
seen = []
for n in signal.SIGALRM, signal.SIGUSR1, signal.SIGPROF, signal.SIGVTALRM, signal.SIGCHLD:
    signal.signal(n, lambda n, f: seen.append((n, f.f_code.co_name)))
def work(end):
    while not end():
        sum(range(1000))
for which, n in (0, signal.SIGALRM), (1, signal.SIGVTALRM), (2, signal.SIGPROF):
    signal.setitimer(which, 0.01)
    work(lambda: n in [s[0] for s in seen])
os.kill(os.getpid(), signal.SIGUSR1)
work(lambda: len(seen) == 4)
print(sorted(set(int(n) for n, _ in seen)))
signal.signal(signal.SIGUSR2, lambda n, f: 1 / 0)
try:
    os.kill(os.getpid(), signal.SIGUSR2)
    time.sleep(1)
except ZeroDivisionError:
    print('from the handler')
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
print(signal.sigpending(), signal.sigwait([signal.SIGUSR1]))
t = time.monotonic()
time.sleep(0.05)
print(time.monotonic() - t >= 0.05, signal.getsignal(16), signal.getsignal(2))
""",
    "ctypes": """
import ctypes, ctypes.util
libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(a, b):
    return (a[0] > b[0]) - (a[0] < b[0])
numbers = (ctypes.c_int * 3000)(*((n * 7919) % 3001 for n in range(3000)))
libc.qsort(numbers, 3000, 4, COMPARE(compare))
print(list(numbers) == sorted(numbers), libc.abs(-3))
ctypes.pythonapi.PyErr_SetString.argtypes = [ctypes.py_object, ctypes.c_char_p]
try:
    ctypes.pythonapi.PyErr_SetString(KeyError, b'k')
except KeyError as e:
    print(repr(e))
""",
    "recursion": """
import sys, threading, re, json, copy
def f(n):
    return n if not n else 1 + f(n - 1)
sys.setrecursionlimit(20000)
threading.stack_size(256 << 20)
t = threading.Thread(target=lambda: print(f(15000)))
t.start()
t.join()
sys.setrecursionlimit(1000)
nested = []
for _ in range(100000):
    nested = [nested]
for call in (lambda: repr(nested)), (lambda: json.dumps(nested)), (lambda: copy.deepcopy(nested)), (lambda: f(10 ** 6)):
    try:
        call()
    except RecursionError as e:
        print('RecursionError', e)
while nested:
    nested = nested[0]
""",
    "small stacks": """
import threading
threading.stack_size(65536)
def work(n):
    return n if not n else 1 + work(n - 1)
out = []
group = [threading.Thread(target=lambda: out.append([work(20) for _ in range(300)][0])) for _ in range(20)]
[t.start() for t in group]
[t.join() for t in group]
print(out)
""",
    "modules": """
import importlib, sys, types, json, re, decimal, datetime, sqlite3, random
random.seed(1)
m = types.ModuleType('made')
exec(compile('def f():\\n    return 1 / 0', '<made>', 'exec'), m.__dict__)
try:
    m.f()
except ZeroDivisionError:
    import traceback
    traceback.print_exc()
importlib.reload(json)
db = sqlite3.connect(':memory:')
db.create_function('twice', 1, lambda x: x * 2)
print(db.execute('select twice(21)').fetchall(), decimal.Decimal(2).sqrt(), re.sub('b', lambda m: 'x', 'abc'), random.random())
del sys.modules['json']
import json
print(json.loads('[1, {\"a\": 2}]'))
""",
    "sub-interpreters": """
try:
    import _interpreters as x
except ImportError:
    try:
        import _xxsubinterpreters as x
    except ImportError:
        x = None
if x:
    ids = [x.create() for _ in range(3)]
    for i in ids:
        x.run_string(i, "def f(n):\\n    return sum(range(n))\\nprint(f(10 ** 5), flush=True)")
        x.destroy(i)
print('end')
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(alike, python, tmp_path, name):
    (tmp_path / "app.py").write_text(PROGRAMS[name])
    alike(python.path, "-W", "ignore", "app.py", mask=r"0x[0-9a-f]{8,}")


POOL = """
import multiprocessing, os, sys, time
def square(n):
    sum(range(20000))
    return n * n
def put(queue, n):
    queue.put(n)
def fail():
    sys.exit(7)
if __name__ == '__main__':
    m = multiprocessing.get_context(sys.argv[1])
    with m.Pool(3) as pool:
        print(pool.map(square, range(20)))
        pool.close()
        pool.join()
    queue = m.Queue()
    group = [m.Process(target=put, args=(queue, n)) for n in range(3)] + [m.Process(target=fail)]
    [p.start() for p in group]
    print(sorted(queue.get() for _ in range(3)))
    [p.join() for p in group]
    print([p.exitcode for p in group])
    p = m.Process(target=time.sleep, args=(60,))
    p.start()
    p.terminate()
    p.join()
    print(p.exitcode)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(alike, python, tmp_path, method):
    (tmp_path / "app.py").write_text(POOL)
    e = alike(python.path, "-W", "ignore", "app.py", method)
    assert len(e.files) >= 8  # itself, three of the pool, four processes and more; one may end before it begins


# ------------------------------------------------------------------ signals

WAIT = """
import sys, time
def work():
    print('ready', flush=True)
    while True:
        {}
try:
    work()
finally:
    print('finally', flush=True)
"""


def interrupted(*command):
    """Ctrl-C on its terminal, which goes to the whole group. Where in the loop it struck does not matter."""
    terminal = Terminal(*command)
    terminal.expect("ready")
    time.sleep(0.2)  # Python itself sleeps on when a signal comes just before the system call
    terminal.type("\x03")
    status = terminal.wait()
    text = terminal.text.replace("^C", "").replace("\r\n", "\n")
    return status, re.sub(r"line \d+, in work\n.*\n(\s+[~^]+\n)?", "in work\n", text)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("busy", ["time.sleep(60)", "pass"])
def test_interrupt_from_the_terminal(python, tmp_path, mode, busy):
    app = tmp_path / "app.py"
    app.write_text(WAIT.format(busy))
    native = interrupted(python.path, app)
    assert os.WTERMSIG(native[0]) == signal.SIGINT and "finally" in native[1] and "KeyboardInterrupt" in native[1]
    assert interrupted(HYBRID_RUN, "-o", tmp_path / "e", *OPTIONS, "--python", mode, python.path, app) == native


# ----------------------------------------------- an interpreter in a C program

EMBED = """
#include <Python.h>
#include <pthread.h>

static const char text[] = "import sys\\ndef f(n):\\n    return sum(range(n))\\n"
	"print(f(10 ** 6), sys.argv if hasattr(sys, 'argv') else None, __name__, flush=True)\\n";

static void *in_thread(void *unused)
{
	PyGILState_STATE state = PyGILState_Ensure();

	PyRun_SimpleString("print(f(100), flush=True)");
	PyGILState_Release(state);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int result = 0;

	for (int i = 0; i < 2; i++) {
		Py_InitializeEx(argc > 1);
		result |= PyRun_SimpleString(text);
		Py_BEGIN_ALLOW_THREADS
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
		Py_END_ALLOW_THREADS
		result |= PyRun_SimpleString("1 / 0") != -1;
		result |= Py_FinalizeEx();
	}
	puts("main ends");
	return result ? 1 : 11;
}
"""

LOADED = """
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *python = dlopen(argv[1], RTLD_NOW | (argc > 2 ? RTLD_GLOBAL : RTLD_LOCAL));
	void (*init)(int);
	int (*run)(const char *), (*end)(void);

	if (!python)
		return puts(dlerror()), 1;
	*(void **)&init = dlsym(python, "Py_InitializeEx");
	*(void **)&run = dlsym(python, "PyRun_SimpleString");
	*(void **)&end = dlsym(python, "Py_FinalizeEx");
	init(0);
	if (run("def f(n):\\n    return sum(range(n))\\nprint(f(10 ** 6), flush=True)\\n") || end())
		return 2;
	dlclose(python);
	return 12;
}
"""


@pytest.fixture
def library(python):
    """libpython as a program would link it; with the flags for that."""
    question = "import sysconfig as s; print(s.get_config_var('LIBDIR'), s.get_config_var('LDVERSION'), sep='\\n')"
    folder, version = run(python.path, "-c", question).stdout.split()
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    for place in Path(folder), Path(folder) / multiarch:
        found = place / f"libpython{version}.so"
        if found.exists():
            return found
    pytest.skip("no shared libpython")


def test_embedded(alike, python, library, compile_c):
    if not python.has_headers():
        pytest.skip("no Python.h")
    program = compile_c(EMBED, f"-I{python.include}", f"-L{library.parent}", f"-Wl,-rpath,{library.parent}",
                        f"-l{library.stem[3:]}", "-Wno-unused-parameter")
    for arguments in [], ["handlers"]:
        e = alike(program, *arguments)
        assert e.returncode == 11 and e.stdout.count("499999500000") == 2


def test_loaded(alike, library, compile_c):
    program = compile_c(LOADED)
    for arguments in [library], [library, "global"]:
        e = alike(program, *arguments)
        assert (e.returncode, e.stdout) == (12, "499999500000\n")
