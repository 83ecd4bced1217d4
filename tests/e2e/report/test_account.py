"""All CPU time of the measured command has a name: against the kernel's accounting, and what programs say of themselves."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, run

# Burns CPU time, tells how much the process used, and ends without exit handlers if asked to.
BURN = """
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long end = atol(argv[1]) * 1000000;

	while (now() < end)
		;
	if (argc > 2)
		syscall(SYS_exit_group, atoi(argv[2]));
	return 0;
}
"""
PARTS = ("threads_ns", "before_ns", "beginning_ns", "others_ns", "after_ns", "unmeasured_ns", "unseen_ns")


@pytest.fixture(scope="module")
def burn(compile_c):
    return compile_c(BURN, "-O1")


@pytest.fixture(scope="module")
def static_burn(compile_c):
    return compile_c(BURN, "-O1", "-static")


def account_of(e):
    account = e.report()["quality"]["account"]
    assert account["cpu_ns"] == int(e.values["user_ns"]) + int(e.values["system_ns"])
    # The kernel's sums of user and system time are rounded by child.
    assert abs(sum(account[part] for part in PARTS) - account["cpu_ns"]) <= 0.02 * account["cpu_ns"]
    return account


def missing(account):
    return {(os.path.basename(program["program"] or "?"), program["why"]): program for program in account["unmeasured"]}


def test_children_that_cannot_be_measured(measure, burn, static_burn):
    script = f"{static_burn} 100; {burn} 100; env -i {burn} 100; {static_burn} 50"
    e = measure("sh", "-c", script)
    account = account_of(e)
    found = missing(account)
    static, bare = found[(static_burn.name, "static")], found[(burn.name, "environment")]
    assert (static["processes"], bare["processes"]) == (2, 1) and len(found) == 2
    assert static["cpu_ns"] == pytest.approx(150e6, rel=0.1) and bare["cpu_ns"] == pytest.approx(100e6, rel=0.1)
    assert account["threads_ns"] == pytest.approx(100e6, rel=0.2) # and what the shell did
    assert account["unseen_ns"] <= 0.02 * account["cpu_ns"]
    text = " ".join(run(HYBRID_REPORT, e.path).stdout.split())
    assert "in 2 processes of" in text and "it is static" in text


@pytest.mark.parametrize("how", ["['{}', '100']", "['{}', '100'], env={{}}", "['{}', '100'], preexec_fn=lambda: 0"])
def test_children_of_python(measure, burn, static_burn, how):
    program = burn if "env" in how else static_burn
    e = measure("python3", "-S", "-c", f"import subprocess; subprocess.run({how.format(program)})")
    (one,) = missing(account_of(e)).values()
    assert one["why"] == ("environment" if "env" in how else "static") and os.path.samefile(one["program"], program)
    assert one["cpu_ns"] == pytest.approx(100e6, rel=0.1)


def test_child_with_other_rights(measure, burn, tmp_path):
    if os.getuid():
        pytest.skip("needs root to make one")
    other = tmp_path / "other"
    shutil.copy(burn, other)
    os.chown(other, 65534, 65534)
    other.chmod(0o4755)
    os.chmod(tmp_path, 0o755)
    found = missing(account_of(measure("sh", "-c", f"{other} 50; true")))
    assert found[("other", "rights")]["cpu_ns"] == pytest.approx(50e6, rel=0.1)


def test_static_program_itself(measure, static_burn):
    """No process was measured: hybrid-run says what ran, and the time."""
    e = measure(static_burn, 50)
    assert "only its total time was measured" in e.stderr
    assert f"{e.values['command']} ended by exit 0" in run(HYBRID_REPORT, e.path).stderr


def test_static_command_with_measured_children(measure, compile_c, burn, tmp_path):
    """hybrid-run saw why the command is not measured; a program that was removed is gone, and not changed."""
    command = compile_c("#include <stdlib.h>\nint main(int c, char **v) { return c < 2 || system(v[1]); }\n", "-static")
    gone = tmp_path / "gone"
    shutil.copy(burn, gone)
    e = measure(command, f"{gone} 50; true", options=["-q"])
    gone.unlink()
    found = missing(account_of(e))
    assert list(found) == [(command.name, "static")] and e.values["unmeasured"] == "static"
    quality = e.report()["quality"]
    assert (quality["changed"], quality["gone"]) == ([], [str(gone)])
    text = " ".join(run(HYBRID_REPORT, e.path).stdout.split())
    assert "not measured: it is static" in text and "gone since the run, names may be missing: " in text
    assert "changed since the run" not in text
    shutil.copy("/bin/true", gone)
    quality = e.report()["quality"]
    assert (quality["changed"], quality["gone"]) == ([str(gone)], [])


def test_many_short_processes(measure):
    """Most of their time is that before and around their measurement."""
    e = measure("sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done")
    account = account_of(e)
    assert account["unseen_ns"] <= 0.02 * account["cpu_ns"] and not account["unmeasured"]
    assert account["after_ns"] > 0
    report = e.report()
    outside = {n["name"]: n["inclusive_ns"] for n in report["tree"]["children"] if n["name"].startswith("[")}
    assert outside["[before-measurement]"] > 0 and outside["[measurement-start]"] > 0
    assert report["quality"]["cost"]["processes_ns"] >= outside["[measurement-start]"]
    text = " ".join(run(HYBRID_REPORT, e.path).stdout.split())
    assert " of CPU that the kernel counts: " in text and "beginning and ending processes" in text


def test_waits_in_all_ways(measure, compile_c):
    """Each child by another call; who waits gets what it would get alone."""
    program = compile_c("""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child(int status)
{
	pid_t pid = fork();

	if (!pid) {
		if (status < 0)
			abort();
		for (volatile long i = 0; i < 20000000; i++)
			;
		_exit(status);
	}
	return pid;
}

int main(void)
{
	struct rusage usage = {0};
	siginfo_t info = {0};
	int status = 0;
	pid_t got, pid = child(1);

	got = wait(&status);
	printf("%d %d\\n", got == pid, status);
	pid = child(2);
	got = waitpid(pid, NULL, 0);
	printf("%d %d\\n", got == pid, waitpid(pid, &status, WNOHANG));
	pid = child(3);
	got = wait3(&status, 0, &usage);
	printf("%d %d %d\\n", got == pid, status, usage.ru_utime.tv_usec > 0);
	pid = child(-1);
	got = wait4(pid, &status, 0, NULL);
	printf("%d %d\\n", got == pid, status & 0x7f);
	pid = child(5);
	got = waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	printf("%d %d ", got, info.si_status);
	got = waitid(P_PID, pid, &info, WEXITED);
	printf("%d %d %d\\n", got, info.si_status, info.si_pid == pid);
	printf("%d\\n", waitpid(-1, &status, WNOHANG));
	return 0;
}
""")
    alone = run(program)
    e = measure(program)
    assert e.stdout == alone.stdout == "1 256\n1 -1\n1 768 1\n1 6\n0 5 0 5 1\n-1\n"
    records = map(json.loads, e.dump("--json").splitlines())
    ended = [record for record in records if record["record"] == "def" and record["type"] == "ended"]
    assert [r["status"] for r in ended] == [256, 512, 768, ended[3]["status"], 1280] and ended[3]["status"] & 0x7f == 6
    assert all(r["cpu"] > 0 for r in ended)
    assert account_of(e)["unseen_ns"] <= 0.02 * int(e.values["user_ns"]) + 2e6


SHELLS = """
#include <stdio.h>
#include <stdlib.h>

static void through(const char *command)
{
	FILE *file = popen(command, "r");
	char line[100];

	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	printf("%d\\n", pclose(file));
}

int main(int argc, char **argv)
{
	printf("%d\\n", system(argv[1]));
	printf("%d\\n", system(argv[2]));
	through(argv[3]);
	fflush(stdout);
	if (argc > 4) {
		clearenv();
		printf("%d\\n", system(argv[4]));
	}
	return 0;
}
"""


def test_children_of_the_c_library(measure, compile_c, burn, static_burn):
    """It waits for those of system() and popen() by itself: they have names all the same, and their ends are known."""
    program = compile_c(SHELLS)
    commands = [f"{static_burn} 100", f"{burn} 30 3; exit 7", f"echo {burn}; exec {static_burn} 50", f"{burn} 40"]
    alone = run(program, *commands)
    e = measure(program, *commands)
    assert e.stdout == alone.stdout and alone.stdout.startswith("0\n1792\n")
    account = account_of(e)
    found = missing(account)
    static, shell = found[(static_burn.name, "static")], found[("sh", "environment")]
    assert (static["processes"], shell["processes"]) == (2, 1) and len(found) == 2
    assert static["cpu_ns"] == pytest.approx(150e6, rel=0.1) and shell["cpu_ns"] == pytest.approx(40e6, rel=0.2)
    assert account["unseen_ns"] <= 0.02 * account["cpu_ns"]
    assert "in an unknown way" not in run(HYBRID_REPORT, e.path).stdout


def test_killed_shell(measure, compile_c):
    e = measure(compile_c(SHELLS), "kill -9 $$", "true", "true")
    assert e.stdout.splitlines()[0] == "9"
    assert "1 process ended by signal SIGKILL" in run(HYBRID_REPORT, e.path).stdout


@pytest.mark.parametrize("shell", [(), ("sh", "-c", '(exec "$0" "$@"); true')], ids=["command", "became"])
def test_starter_that_is_not_measured(measure, burn, tmp_path, shell):
    """What it starts is: hybrid-run waits for a process that has no file, a shell for one that was measured before it became that."""
    launcher = tmp_path / "launcher"
    run("gcc", "-static", "-O1", "-o", launcher, "-x", "c", "-", input="""
#include <stdlib.h>
int main(int argc, char **argv) { for (volatile long i = 0; i < 100000000; i++); return system(argv[1]); }
""")
    account = account_of(measure(*shell, launcher, f"{burn} 100; true"))
    (one,) = account["unmeasured"]
    assert one["program"] == str(launcher) and 20e6 < one["cpu_ns"] < 0.02 * account["cpu_ns"] + account["cpu_ns"] - account["threads_ns"]
    assert account["unwaited_ns"] == 0
    assert 100e6 <= account["threads_ns"] <= 130e6 and account["unseen_ns"] <= 0.02 * account["cpu_ns"]


def test_first_process_of_a_namespace(measure, burn):
    """Who waits for it knows it by another number."""
    if os.getuid() or run("unshare", "--pid", "--fork", "true").returncode:
        pytest.skip("PID namespaces are not permitted here")
    account = account_of(measure("unshare", "--pid", "--fork", "sh", "-c", f"{burn} 100; true"))
    assert not account["unmeasured"] and account["unseen_ns"] <= 0.02 * account["cpu_ns"]


KIDS = """
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char stack[1 << 20] __attribute__((aligned(64)));

static int work(void *data)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_nsec < 100000000);
	return 0;
}

static void in_child(void)
{
	if (fork())
		_exit(0);
	usleep(20000); /* it is somebody else's child meanwhile */
	_exit(work(NULL));
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (!strcmp(argv[1], "memory")) {
		pid = clone(work, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		return waitpid(pid, NULL, 0) != pid;
	}
	prctl(PR_SET_CHILD_SUBREAPER, !strcmp(argv[1], "subreaper"));
	if (!strcmp(argv[1], "ignored"))
		signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (!pid && !strcmp(argv[1], "ignored"))
		_exit(work(NULL));
	if (!pid)
		in_child();
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


@pytest.mark.parametrize("how", ["subreaper", "orphan", "ignored"])
def test_children_of_nobody(measure, compile_c, how):
    """Their CPU time is in the report, and where the kernel counts it for none it says so."""
    e = measure("sh", "-c", f"{compile_c(KIDS)} {how} | cat")  # which ends behind the last who could write
    account = e.report()["quality"]["account"]
    assert 100e6 <= account["threads_ns"] <= 120e6
    left = sum(account[part] for part in PARTS) - account["cpu_ns"]
    assert abs(left - account["unwaited_ns"]) <= 2e6
    assert (account["unwaited_ns"] > 99e6) == (how != "subreaper")
    assert ("nobody waited" in run(HYBRID_REPORT, e.path).stdout) == (how != "subreaper")


def test_child_in_its_parents_memory(measure, compile_c):
    (one,) = account_of(measure(compile_c(KIDS), "memory"))["unmeasured"]
    assert one["why"] == "memory" and "program" in one["program"] and one["cpu_ns"] == pytest.approx(100e6, rel=0.1)


JAILED = """
#include <grp.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec t = {0, 0};
	int gives_up = !strcmp(argv[1], "rights") ? setgroups(0, NULL) || setgid(65534) || setuid(65534) : chroot(argv[2]);

	if (gives_up)
		return 1;
	if (fork())
		return wait(NULL) < 0;
	while (t.tv_nsec < 100000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return 0;
}
"""


@pytest.mark.parametrize("how", ["rights", "chroot"])
def test_children_without_a_file(measure, compile_c, tmp_path, how):
    """Who has given up its rights can make no file for its children; they have their program's name all the same."""
    if os.getuid():
        pytest.skip("needs root to give something up")
    (tmp_path / "empty").mkdir()
    program = compile_c(JAILED)
    e = measure(program, how, tmp_path / "empty")
    assert e.returncode == 0 and e.stderr.count("not measured: ") == 1
    (one,) = account_of(e)["unmeasured"]
    assert (one["program"], one["why"]) == (str(program), "file")
    assert one["cpu_ns"] == pytest.approx(100e6, rel=0.1)


@pytest.mark.parametrize("command, killed, by", [
    ("{} 30 3", 0, ""), ("sh -c '{} 30 3; exit 1'", 0, ""), ("sh -c 'kill -9 $$'", 1, "SIGKILL"), ("kill -SEGV $$", 1, "SIGSEGV"),
    ("sh -c 'sh -c \"kill -9 \\$\\$\"; exit 1'", 1, "SIGKILL"), ("sh -c 'kill -TERM $$'; kill -TERM $$", 2, "SIGTERM"),
    ("sh -c 'kill -ABRT $$'; kill -TERM $$", 2, "several")])
def test_how_processes_ended(measure, burn, command, killed, by):
    """exit_group() runs no handlers, and is no kill. A signal is named where somebody saw it."""
    e = measure("sh", "-c", command.format(burn))
    text, quality = " ".join(run(HYBRID_REPORT, e.path).stdout.split()), e.report()["quality"]
    assert (quality["killed"], quality["killed_by"]) == (killed, f"signal {by}" if by.startswith("SIG") else "")
    assert (f"ended by signal {by}: all" in text) == by.startswith("SIG")
    assert ("ended by signals or in an unknown way: all" in text) == (by == "several")
    assert "killed?" not in text


def test_process_of_another_namespace(tmp_path):
    """Its number is another process's here: number 1 runs everywhere."""
    if os.getuid() or run("unshare", "--pid", "--fork", "true").returncode:
        pytest.skip("PID namespaces are not permitted here")
    path = tmp_path / "e"
    process = subprocess.Popen([HYBRID_RUN, "-q", "-o", path, "unshare", "--pid", "--fork", "--kill-child",
                                "python3", "-S", "-c", "import os; print(1, flush=True); os.read(0, 1)"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"1\n"
    assert "2 processes are still running" in run(HYBRID_REPORT, path).stdout
    outer = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    os.kill(int(outer[0]), signal.SIGKILL)
    process.wait()
    text = " ".join(run(HYBRID_REPORT, path).stdout.split())
    assert "still running" not in text and "2 processes ended by signals or in an unknown way" in text
