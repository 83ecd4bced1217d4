"""What can go wrong around a run: killed, no space, no rights, no descriptors. The program never notices."""

import os
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, report_json, run, wait_until
from known import calls, check_sums, native, program

STEADY_MS = 400


def steady(path, *options, ms=STEADY_MS, command=(), **more):
    """Runs the program that enters 5000 regions by turns, prints PASS and exits with 25."""
    return run(HYBRID_RUN, "-q", "-o", path, *options, *command, program("processes"), "steady", ms, **more)


def notes(report):
    return " ".join(note["text"] for note in report["quality"]["notes"])


def check_passed(result):
    assert (result.stdout, result.returncode) == ("PASS\n", 25), result


def our_lines(result):
    return [line for line in result.stderr.splitlines() if line.startswith("hybrid:")]


def check_one_clear_line(result):
    assert result.stderr.splitlines() == our_lines(result) and len(our_lines(result)) == 1, result.stderr
    assert len(our_lines(result)[0]) > 20


# ---------------------------------------------------------------- killed


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_a_random_moment(tmp_path, seed):
    """Everything up to the last instants is there."""
    path = tmp_path / "killed"
    with subprocess.Popen(
        [HYBRID_RUN, "-q", "-r", "1000", "--source", "timer", "-o", path, program("processes"), "forever"],
        stdout=subprocess.PIPE,
        text=True,
    ) as hybrid:
        assert hybrid.stdout.readline() == "running\n"
        pid = int(wait_until(lambda: open(f"/proc/{hybrid.pid}/task/{hybrid.pid}/children").read().strip()))
        alive = random.Random(seed).uniform(0.05, 0.7)
        time.sleep(alive)
        cpu = sum(int(f) for f in open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[11:13])
        cpu /= os.sysconf("SC_CLK_TCK")
        os.kill(pid, signal.SIGKILL)
        assert hybrid.wait(20) == -signal.SIGKILL
    report = report_json(path)
    quality = report["quality"]
    assert quality["damage"] == 0 and quality["killed"] == 1
    assert quality["cpu_ns"] >= (cpu - 0.06) * 1e9 * 0.9
    assert quality["samples"] >= (cpu - 0.06) * 1000 * 0.4
    assert calls(report["tree"], "forever") >= 1
    check_sums(report["tree"])


def test_killed_threads_and_children(tmp_path):
    """The whole group at once, while threads begin and processes fork."""
    for seed in range(4):
        path = tmp_path / f"group{seed}"
        case = ["many", "100000"] if seed % 2 else ["fork_busy"]
        with subprocess.Popen(
            [HYBRID_RUN, "-q", "-o", path, program("threads"), *case],
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as hybrid:
            time.sleep(0.05 + 0.04 * seed)
            try:
                os.killpg(hybrid.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not list(path.glob("*.hyb")):
            continue
        report = report_json(path)
        assert report["quality"]["damage"] == 0, report["quality"]["damage_texts"]
        check_sums(report["tree"])


# ---------------------------------------------------------------- no space


@pytest.mark.parametrize("size", ["64k", "200k", "500k", "1m"])
def test_disk_full(small_disk, size):
    """The program runs on to its own end; one line says what happened; what was measured stays."""
    disk = small_disk(f"size={size}")
    result = steady(disk / "experiment", "--trace", "-r", "1000", ms=600)
    check_passed(result)
    if size != "64k":
        check_one_clear_line(result)
        report = report_json(disk / "experiment")
        assert report["quality"]["probe_calls"] > 0
        check_sums(report["tree"])


def test_disk_full_for_children(small_disk):
    """Each child wants a file of its own: no room is no reason to fail."""
    disk = small_disk("size=300k")
    result = run(HYBRID_RUN, "-q", "-o", disk / "experiment", program("processes"), "children", 40)
    assert (result.stdout, result.returncode) == (native("processes", "children", 40).stdout, 0)


def test_no_inodes(small_disk):
    disk = small_disk("nr_inodes=6")
    result = run(HYBRID_RUN, "-q", "-o", disk / "experiment", program("processes"), "children", 20)
    assert (result.stdout, result.returncode) == (native("processes", "children", 20).stdout, 0)


def test_file_size_limit(tmp_path):
    """RLIMIT_FSIZE: no SIGXFSZ for the program."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300 * 1024, 300 * 1024))

    result = steady(tmp_path / "experiment", "--trace", "-r", "1000", ms=600, preexec_fn=limit)
    check_passed(result)
    check_one_clear_line(result)


@pytest.mark.parametrize("megabytes", [12, 24, 60])
def test_address_space_limit(tmp_path, megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    result = steady(tmp_path / "experiment", "--trace", preexec_fn=limit)
    check_passed(result)
    assert result.stderr.splitlines() == our_lines(result)


@pytest.mark.parametrize("count", [4, 5, 8, 20])
def test_few_descriptors(tmp_path, count):
    """sh lowers the limit for the program alone; descriptors 3 and up are the program's."""
    script = f'ulimit -n {count}; exec "$0" "$@"'
    result = steady(tmp_path / "experiment", command=["sh", "-c", script])
    check_passed(result)
    assert result.stderr.splitlines() == our_lines(result)


# ---------------------------------------------------------------- the directory


@pytest.mark.parametrize("what", ["remove", "read-only", "rename", "replace"])
def test_directory_changes_while_running(tmp_path, what):
    path = tmp_path / "experiment"
    with subprocess.Popen(
        [HYBRID_RUN, "-q", "-o", path, program("processes"), "steady", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as hybrid:
        wait_until(lambda: list(path.glob("*.hyb")))
        time.sleep(0.1)
        if what == "remove":
            shutil.rmtree(path)
        elif what == "read-only":
            path.chmod(0o500)
        elif what == "rename":
            path.rename(tmp_path / "elsewhere")
        else:
            path.rename(tmp_path / "elsewhere")
            path.write_text("a file now")
        stdout, stderr = hybrid.communicate(timeout=20)
    assert (stdout, hybrid.returncode) == ("PASS\n", 25)
    assert len(stderr.splitlines()) <= 2, stderr
    if what in ("rename", "replace"):
            assert report_json(tmp_path / "elsewhere")["quality"]["probe_calls"] > 1000


def test_file_is_truncated_by_somebody(tmp_path):
    """Nothing can be promised but that the reader says so; the program may be hit by SIGBUS as any mapping is."""
    path = tmp_path / "experiment"
    steady(path)
    file = next(path.glob("*.hyb"))
    for size in (0, 100, 4096, 5000, file.stat().st_size // 2):
        with open(file, "r+b") as f:
            f.truncate(size)
        result = run(HYBRID_REPORT, path)
        assert result.returncode in (0, 1) and len(result.stderr.splitlines()) <= 1


# ---------------------------------------------------------------- no rights


def test_without_proc(tmp_path):
    script = 'umount -l /proc 2>/dev/null || exit 77; exec "$0" "$@"'
    if run("unshare", "-m", "sh", "-c", "umount -l /proc").returncode:
        pytest.skip("may not unmount /proc here")
    # hybrid-run wants /proc itself, the program loses it.
    inner = ["unshare", "-m", "sh", "-c", script]
    result = steady(tmp_path / "experiment", "-r", "1000", "--source", "timer", command=inner)
    check_passed(result)
    assert len(our_lines(result)) <= 1


@pytest.mark.parametrize("error", [1, 13, 38])
def test_perf_is_forbidden(tmp_path, error):
    """As in a container: the timer takes over, the program is measured, one line at most."""
    path = tmp_path / "experiment"
    result = run(program("refuse"), "perf", error, "--", HYBRID_RUN, "-q", "-r", "1000", "-o", path, program("shares"), 400)
    if result.returncode == 77:
        pytest.skip("no seccomp here")
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) <= 1
    report = report_json(path)
    assert report["quality"]["samples"] >= 250
    assert report["quality"]["sources"] and "task" not in report["quality"]["sources"][0]
    said = result.stderr + notes(report)
    assert "perf" in said, "nobody says why another source was taken"


def test_perf_was_asked_for_and_is_forbidden(tmp_path):
    path = tmp_path / "experiment"
    result = run(
        program("refuse"), "perf", 1, "--", HYBRID_RUN, "-q", "-r", "1000", "--source", "perf", "-o", path,
        program("shares"), 300,
    ) # fmt: skip
    if result.returncode == 77:
        pytest.skip("no seccomp here")
    assert result.returncode == 0
    report = report_json(path)
    said = result.stderr + notes(report)
    assert "perf" in said
    assert report["quality"]["samples"] >= 150


def test_all_sources_are_forbidden(tmp_path):
    """Probes go on without samples, and the report says that there are none."""
    path = tmp_path / "experiment"
    result = run(
        program("refuse"), "perf", 1, "timer", 1, "--", HYBRID_RUN, "-q", "-o", path, program("probes"), "good"
    )
    if result.returncode == 77:
        pytest.skip("no seccomp here")
    assert result.returncode == 0 and result.stdout == ""
    report = report_json(path)
    assert report["quality"]["samples"] == 0
    assert calls(report["tree"], "inner") == 1000
    assert result.stderr + notes(report)


@pytest.mark.parametrize("call, name", [(310, "process_vm_readv"), (319, "memfd_create"), (285, "fallocate"), (332, "statx")])
def test_system_calls_are_forbidden(tmp_path, call, name):
    path = tmp_path / "experiment"
    result = run(
        program("refuse"), call, 1, "--", HYBRID_RUN, "-q", "-r", "1000", "--source", "timer", "-o", path,
        program("shares"), 200,
    ) # fmt: skip
    if result.returncode == 77:
        pytest.skip("no seccomp here")
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 4
    assert result.stderr.splitlines() == our_lines(result) and len(our_lines(result)) <= 1


def test_unprivileged_user(tmp_path):
    """nobody, who may not write where the program runs, writes the experiment elsewhere."""
    if os.getuid():
        pytest.skip("only root can become another")
    place = tmp_path / "open"
    place.mkdir()
    for parent in (place, *place.parents):
        if parent == parent.parent or not str(parent).startswith("/tmp/"):
            break
        parent.chmod(0o777)
    if run("setpriv", "--reuid=65534", "--clear-groups", "test", "-x", HYBRID_RUN).returncode:
        pytest.skip("another user cannot reach the build")
    result = run(
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", HYBRID_RUN, "-q", "-r", "1000", "-o",
        place / "experiment", program("shares"), 300,
    ) # fmt: skip
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 4, result.stderr
    assert report_json(place / "experiment")["quality"]["samples"] >= 150


# ---------------------------------------------------------------- the environment


def test_other_library_is_preloaded(tmp_path):
    """The user's LD_PRELOAD stays behind ours, in the program and in what it starts."""
    environment = {**os.environ, "LD_PRELOAD": str(program("libpreloaded.so"))}
    result = run(
        HYBRID_RUN, "-q", "-o", tmp_path / "e", "sh", "-c", "echo $PRELOADED; env | grep ^PRELOADED", env=environment
    )
    assert (result.stdout, result.stderr, result.returncode) == ("yes\nPRELOADED=yes\n", "", 0)


@pytest.mark.parametrize(
    "options",
    ["", "rate=", "rate=abc", "nonsense", "rate=99999999999999999999", ",,,,", "signal=0", "signal=9", "x" * 5000],
)
def test_runtime_survives_strange_options(tmp_path, options):
    """HYBRID_OPTIONS by hand: the program runs, measured or not."""
    library = HYBRID_RUN.parent.parent / "runtime/libhybrid.so"
    environment = {**os.environ, "LD_PRELOAD": str(library), "HYBRID_DIR": str(tmp_path), "HYBRID_OPTIONS": options}
    result = run(program("processes"), "steady", 50, env=environment)
    check_passed(result)


@pytest.mark.parametrize("directory", ["/nowhere", "relative", "", "/proc/self", "x" * 5000])
def test_runtime_survives_strange_directories(directory):
    library = HYBRID_RUN.parent.parent / "runtime/libhybrid.so"
    environment = {**os.environ, "LD_PRELOAD": str(library), "HYBRID_DIR": directory}
    result = run(program("processes"), "steady", 50, env=environment)
    check_passed(result)
    assert len(result.stderr.splitlines()) <= 1


def test_runtime_without_hybrid_run_does_nothing():
    library = HYBRID_RUN.parent.parent / "runtime/libhybrid.so"
    result = run(program("probes"), "good", env={**os.environ, "LD_PRELOAD": str(library)})
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def test_closed_standard_streams(tmp_path):
    script = f'exec "{program("processes")}" steady 100 <&- >&- 2>&-'
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "e", "sh", "-c", script)
    assert result.returncode == 25 and result.stderr == ""


# ---------------------------------------------------------------- looking at it while it runs


def test_report_of_a_running_program(tmp_path):
    """Another process reads the file again and again while it is written."""
    path = tmp_path / "live"
    with subprocess.Popen(
        [HYBRID_RUN, "-q", "-r", "1000", "--source", "timer", "--trace", "-o", path, program("processes"), "steady", "20000"],
        stdout=subprocess.PIPE,
    ) as hybrid:
        wait_until(lambda: list(path.glob("*.hyb")))
        seen = []
        while len(seen) < 6:
            time.sleep(0.15)
            report = report_json(path)
            assert report["quality"]["damage"] == 0, report["quality"]["damage_texts"]
            check_sums(report["tree"])
            seen.append(report["quality"]["probe_calls"])
        assert hybrid.poll() is None
        hybrid.terminate()
        hybrid.wait(20)
    assert seen == sorted(seen) and seen[-1] > seen[0]
