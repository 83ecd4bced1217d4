"""Processes that begin and end in every way: same output, same status, and nothing lost."""

import subprocess

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, children, process_state, run, wait_until
from known import MODES, calls, check_sums, same_as_native, the, walk

CASES = [
    "fork",
    "fork_exec",
    "vfork",
    "spawn",
    "clone",
    "raw_fork",
    "system",
    "daemon",
    "double_fork",
    "exec_chain",
    "exec_static",
    "exec_fails",
    "exec_bare",
    "exit",
    "_exit",
    "quick_exit",
    "abort",
    "segv",
    "kill",
    "exit_group",
    "term",
    "oom",
    "stack_overflow",
    "descriptors",
    "reused",
]


@pytest.mark.parametrize("mode", ["default", "timer", "wall"])
@pytest.mark.parametrize("case", CASES)
def test_same_as_native(measure, case, mode):
    e = same_as_native(measure, MODES[mode], "processes", case)
    report = e.report()
    assert report["quality"]["damage"] == 0, report["quality"]["damage_texts"]
    check_sums(report["tree"])


@pytest.mark.parametrize(
    "case, region, count",
    [
        ("fork", "child work", 1),
        ("fork_exec", "child work", 1),
        ("vfork", "child work", 1),
        ("spawn", "child work", 1),
        ("raw_fork", "child work", 1),
        ("daemon", "child work", 1),
        ("double_fork", "child work", 1),
        ("exec_chain", "link", 6),
        ("exit", "child work", 1),
        ("_exit", "child work", 1),
        ("quick_exit", "child work", 1),
        ("abort", "child work", 1),
        ("segv", "child work", 1),
        ("kill", "child work", 1),
        ("exit_group", "child work", 1),
        ("term", "child work", 1),
        ("oom", "child work", 1),
    ],
)
def test_regions_are_there(measure, case, region, count):
    """However the process ended, its regions are in the experiment, with the 30 ms that they took."""
    report = same_as_native(measure, [], "processes", case).report()
    nodes = [node for _, node in walk(report["tree"]) if node["name"] == region]
    assert sum(node["calls"] for node in nodes) == count
    assert sum(node["inclusive_ns"] for node in nodes) >= 0.9 * count * (10e6 if region == "link" else 30e6)


def test_child_works_below_the_regions_that_were_open_at_the_fork(measure):
    report = same_as_native(measure, [], "processes", "fork").report()
    assert report["quality"]["processes"] == 2
    assert the(report["tree"], "child work") in the(report["tree"], "before")["children"]
    assert report["quality"]["faults"]["not_left"] == 0


def test_many_children(measure):
    report = same_as_native(measure, [], "processes", "children").report()
    assert report["quality"]["processes"] == 301
    assert calls(report["tree"], "short") == 300


def test_exec_chain_is_six_images(measure):
    e = same_as_native(measure, [], "processes", "exec_chain")
    assert len(e.files) == 6
    assert e.dump("--header").count("state exec ") == 5


def test_image_without_the_runtime_is_named(measure):
    e = same_as_native(measure, [], "processes", "exec_static")
    assert e.report("--quality")["quality"]["replaced"] == 1


def test_killed_is_counted(measure):
    quality = same_as_native(measure, [], "processes", "kill").report("--quality")["quality"]
    assert quality["killed"] == 1 and quality["running"] == 0


def test_leaves_the_programs_descriptors(measure):
    """Closing all descriptors, or putting others in their place, ends no more than the growth of the file."""
    e = same_as_native(measure, ["--rate", "1000", "--source", "timer"], "processes", "descriptors")
    assert e.report("--quality")["quality"]["samples"] > 50


def test_programs_of_one_file_have_their_names(measure, compile_c, tmp_path):
    """By argv[0], and the file's name where it is another one; a version behind the name makes no other program."""
    program = compile_c("""
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 2)
		execv(argv[1], argv + 2);
	return 0;
}
""")
    multi = tmp_path / "redis-check-1.0"
    multi.write_bytes(program.read_bytes())
    multi.chmod(0o755)
    (tmp_path / "redis-server").symlink_to(multi.name)
    (tmp_path / "redis-check").symlink_to(multi.name)
    (tmp_path / "hard").hardlink_to(multi)
    e = measure("./redis-server", "./redis-check", "./redis-check", "./hard", "./some/where/hard", multi, "-login")
    rows = [node["name"] for node in e.report("--by-thread")["tree"]["children"]]
    pid = e.values["pid"]
    assert sorted(rows) == sorted([f"redis-server (redis-check-1.0) {pid}", f"redis-check-1.0 {pid}.1", f"hard {pid}.2",
                                   f"login (redis-check-1.0) {pid}.3"])


def test_threads_are_counted_once(measure, compile_c):
    """A program that executes another one goes on in the same thread; short threads share a location."""
    program = compile_c("""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *nothing(void *data) { return data; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, nothing, NULL);
		pthread_join(thread, NULL);
	}
	if (argc > 1)
		execl(argv[0], argv[0], NULL);
	return 0;
}
""")
    e = measure(program, "again")
    quality = e.report("--quality")["quality"]
    assert (quality["processes"], quality["programs"], quality["threads"]) == (1, 2, 201)
    assert " of 1 process, 201 threads;" in e.stderr


def test_first_thread_ends_first(measure, compile_c, tmp_path):
    """The kernel shows such a process as a zombie; its other threads run."""
    program = compile_c("""
#include <pthread.h>
#include <unistd.h>
static void *wait(void *data) { return read(0, data, 1) < 0 ? data : NULL; }
int main(int argc, char **argv)
{
	static char byte;
	pthread_t thread;
	pthread_create(&thread, NULL, wait, &byte);
	write(1, "\\n", 1);
	pthread_exit(NULL);
}
""")
    path = tmp_path / "e"
    process = subprocess.Popen([HYBRID_RUN, "-q", "-o", path, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"\n"
        wait_until(lambda: process_state(children(process.pid)[0]) == "Z")
        text = run(HYBRID_REPORT, path).stdout
        assert "1 process is still running" in text and "in an unknown way" not in text
    finally:
        process.communicate(b"\n")
