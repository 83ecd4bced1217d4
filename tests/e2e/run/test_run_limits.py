"""Where the system gives little: the program runs as it would alone, and what is not measured is said."""

import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, Experiment, run

BUSY = """
#include <stdio.h>
#include <time.h>

int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 20;

	while (clock() < end)
		;
	puts("done");
	return 5;
}
"""

# A signal before any constructor runs.
EARLY = """
#include <signal.h>
#include <unistd.h>

static void end(void)
{
	kill(getpid(), SIGKILL);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(void) = end;

int main(void)
{
	return 0;
}
"""


@pytest.mark.parametrize("limit, value, line", [
    (resource.RLIMIT_STACK, 64 << 10, " samples of 1 process"),
    (resource.RLIMIT_FSIZE, 0, "files may not grow here (ulimit -f): nothing is measured"),
    (resource.RLIMIT_SIGPENDING, 0, "a thread is not sampled: the kernel gave no timer for it"),
    (resource.RLIMIT_NOFILE, 4, " samples of 1 process"),
])
def test_limits(measure, compile_c, limit, value, line):
    program = compile_c(BUSY)
    options = {"preexec_fn": lambda: resource.setrlimit(limit, (value, value))}
    alone = run(program, **options)
    e = measure(program, **options)
    assert (e.returncode, e.stdout) == (alone.returncode, alone.stdout) == (5, "done\n")
    assert line in e.stderr and "did not load the runtime" not in e.stderr


def test_words_into_a_file_that_may_not_grow(tmp_path):
    with open(tmp_path / "words", "w") as words:
        result = subprocess.run([HYBRID_RUN, "-o", tmp_path / "e", "sh", "-c", "exit 5"], stderr=words,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert result.returncode == 5


def test_killed_before_anything_was_measured(measure, compile_c):
    e = measure(compile_c(EARLY))
    assert e.returncode == -9 and "was killed before its measurement began: only its total time was measured" in e.stderr
    result = run(HYBRID_REPORT, e.path)
    assert result.returncode == 1 and result.stdout == ""
    assert f"{e.values['command']} ended by signal SIGKILL after " in result.stderr
    assert f"{int(e.values['wall_ns']) / 1e9:.3f} s wall" in result.stderr


THREADS = """
#include <pthread.h>
#include <time.h>

static pthread_barrier_t all;

static void *burn(void *data)
{
	struct timespec t;

	pthread_barrier_wait(&all);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_nsec < 20000000);
	pthread_barrier_wait(&all);
	return data;
}

int main(void)
{
	pthread_t threads[24];

	pthread_barrier_init(&all, NULL, 24);
	for (int i = 0; i < 24; i++)
		if (pthread_create(&threads[i], NULL, burn, NULL))
			return 1;
	for (int i = 0; i < 24; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


def test_timers_where_descriptors_are_out(measure, compile_c):
    program = compile_c(THREADS)
    limit = (20, 20)
    e = measure(program, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
    assert e.returncode == 0, e.stderr
    quality = e.report()["quality"]
    if "timer" not in str(quality["sources"]):
        pytest.skip("descriptors can be had above the limit, or there is no task clock")
    assert any("the kernel gave no task clock to some threads" in note["text"] for note in quality["notes"])
    assert not any("the kernel gave no task clock" in note["text"] for note in measure(program).report()["quality"]["notes"])


def test_another_user_may_not_write_there():
    """What root's program executes as another user is named, by one line, and measured where the directory is for all."""
    if os.getuid() or not shutil.which("setpriv"):
        pytest.skip("no root, or no setpriv")
    busy = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; echo done; exit 6"
    words = ["sh", "-c", '(setpriv --reuid=65534 --clear-groups sh -c "$0"); setpriv --reuid=65534 --clear-groups sh -c "$0"', busy]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        e = Experiment(Path(folder, "e"), run(HYBRID_RUN, "-o", folder + "/e", *words, cwd=folder))
        assert (e.returncode, e.stdout) == (6, "done\ndone\n")
        assert all(line.startswith("hybrid-run: ") for line in e.stderr.splitlines())
        assert "could make no file here, so that only their CPU time is known: 2; if other users" in e.stderr
        (row,) = e.report()["quality"]["account"]["unmeasured"]
        assert row["why"] == "file" and row["processes"] == 2 and row["cpu_ns"] > 30e6
        os.mkdir(folder + "/all")
        os.chmod(folder + "/all", 0o1777)
        e = Experiment(Path(folder, "all"), run(HYBRID_RUN, "-o", folder + "/all", *words, cwd=folder))
        assert e.returncode == 6 and "no file" not in e.stderr
        assert e.report()["quality"]["account"]["unmeasured"] == []
