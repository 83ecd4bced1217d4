"""Names of threads and processes: what threading calls them stands in the file, and so wherever threads are named."""

import gzip
import json
import os
import textwrap

import pytest

from conftest import BUILD, HYBRID_CONVERT, run
from interpreters import interpreters

ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(BUILD / "python")}

every_interpreter = pytest.mark.parametrize(
    "python", [python for python in interpreters() if not python.free_threaded], ids=str
)
both_modes = pytest.mark.parametrize("mode", ["frames", "hooks"])

NAMES = """
import concurrent.futures, sys, threading, time

def work(seconds=0.05):
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        pass

class Many(threading.Thread):
    '''Its attributes are too many for one table of keys.'''
    def __init__(self):
        super().__init__(name="many attributes")
        for i in range(40):
            setattr(self, "field%d" % i, i)
    def run(self):
        work()

def rename():
    time.sleep(0.02)
    threading.current_thread().name = "renamed"
    work(0.3)

def sleeps():
    time.sleep(0.2)

ended = [
    threading.Thread(target=work, name="caf\\u00e9 \\u65e5"),
    threading.Thread(target=work),
    threading.Thread(target=sleeps, name="only sleeps"),
    threading.Thread(target=rename, name="first name"),
    threading.Thread(target=work, name="x" * 100),
    Many(),
]
for thread in ended:
    thread.start()
with concurrent.futures.ThreadPoolExecutor(2, "pool") as pool:
    list(pool.map(work, [0.05, 0.05]))
for thread in ended:
    thread.join()
threading.Thread(target=work, args=(1e9,), daemon=True, name="still runs").start()
time.sleep(0.2)
print(repr(sorted(thread.name[:60] for thread in ended)))
"""


def names(experiment):
    """Of all threads but each process's first, as the file has them."""
    rows = experiment.report("--by-thread")["tree"]["children"]
    return sorted(row["name"].partition(" thread ")[2].partition(" ")[2] for row in rows if " thread " in row["name"])


@both_modes
@every_interpreter
def test_names_of_threading(python, measure, tmp_path, mode):
    (tmp_path / "program.py").write_text(NAMES)
    e = measure(python.path, "program.py", options=[f"--python={mode}"], cwd=tmp_path, env=ENVIRONMENT)
    assert e.returncode == 0, e.stderr
    expected = eval(e.stdout) + ["pool_0", "still runs"]  # a second worker is made if the first is busy
    found = [name for name in names(e) if name != "pool_1"]
    assert found == sorted(expected)


@both_modes
def test_threads_of_others_are_not_named(measure, tmp_path, mode):
    """Where Python knows no name the kernel's stands."""
    python = interpreters()[-1]
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import _thread, threading, time
        def work():
            begun = time.thread_time()
            while time.thread_time() - begun < 0.1:
                pass
            done.release()
        done = _thread.allocate_lock()
        done.acquire()
        _thread.start_new_thread(work, ())
        done.acquire()
        time.sleep(0.1)
        """)
    )
    e = measure(python.path, "program.py", options=[f"--python={mode}"], cwd=tmp_path)
    assert e.returncode == 0, e.stderr
    assert names(e) == [python.path.name[:15]]


def test_the_program_has_the_last_word(measure, tmp_path):
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import hybrid, threading, time
        def work():
            hybrid.thread_name("as the program says")
            begun = time.thread_time()
            while time.thread_time() - begun < 0.1:
                time.sleep(0.001)
        thread = threading.Thread(target=work, name="as threading says")
        thread.start()
        thread.join()
        """)
    )
    e = measure("/usr/bin/python3", "program.py", cwd=tmp_path, env=ENVIRONMENT)
    assert e.returncode == 0, e.stderr
    assert names(e) == ["as the program says"]


@pytest.mark.parametrize("to", ["chrome", "perfetto", "firefox", "otf2", "speedscope"])
def test_names_in_other_formats(measure, tmp_path, to):
    (tmp_path / "program.py").write_text(NAMES)
    e = measure("/usr/bin/python3", "program.py", options=["--trace"], cwd=tmp_path, env=ENVIRONMENT)
    assert e.returncode == 0, e.stderr
    out = tmp_path / "out"
    converted = run(HYBRID_CONVERT, e.path, "--to", to, "-o", out)
    assert converted.returncode == 0, converted.stderr
    files = [out] if out.is_file() else sorted(out.rglob("*"))
    content = b"".join(file.read_bytes() for file in files if file.is_file())
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    for name in ("only sleeps", "renamed", "still runs", "café 日"):
        assert name.encode() in content or json.dumps(name)[1:-1].encode() in content, name


NATIVE = """
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static void *work(void *name)
{
	struct timespec now;
	pthread_setname_np(pthread_self(), name);
	for (;;)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}
int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, "a worker");
	usleep(300000);
	if (argc > 1)
		raise(SIGKILL);
	return 0;
}
"""


@pytest.mark.parametrize("arguments", [[], ["killed"]])
def test_native_threads_that_do_not_end(measure, compile_c, arguments):
    """The kernel's name is read while they run: at the process's end nobody could."""
    e = measure(compile_c(NATIVE), *arguments)
    assert names(e) == ["a worker"]


CHILDREN = """
import multiprocessing, os, subprocess, sys

def spin():
    for i in range(300000):
        pass

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=spin)
        process.start()
        process.join()
    subprocess.run([sys.executable, "-c", "sum(range(1000))\\n# \\u00e9" + "\\u00e9" * 40])
    subprocess.run([sys.executable, os.path.abspath("other.py"), "with", "arguments"])
"""


@every_interpreter
def test_processes_are_told_apart_by_what_they_run(python, measure, tmp_path):
    (tmp_path / "children.py").write_text(CHILDREN)
    (tmp_path / "other.py").write_text("sum(range(1000))\n")
    e = measure(python.path, "-X", "utf8", "children.py", "10", env=ENVIRONMENT)
    assert e.returncode == 0, e.stderr
    rows = e.report("--by-thread")["tree"]["children"]
    own = [row["name"].split(" ", 2)[2] for row in rows if " thread " not in row["name"] and "(rest)" not in row["name"]]
    own = [words for words in own if "resource_tracker" not in words]
    spawned = [words for words in own if "multiprocessing.spawn import spawn_main" in words]
    assert len(spawned) == 1
    rest = {"-X utf8 children.py 10", "-c sum(range(1000)) # " + "é" * 21, "other.py with arguments"}
    assert set(own) == {*spawned, *rest}  # a fork before an exec is a row of its own
    assert own.count("-X utf8 children.py 10") >= 2
