"""hybrid-run: signals, descriptors and the terminal."""

import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import HYBRID_RUN, children, process_state, run, wait_until

# Prints each signal with its value; ends by SIGQUIT's default.
LISTENER = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void on_signal(int number, siginfo_t *info, void *context)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%d %d\n", number,
		info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);

	if (write(1, line, (size_t)length) != length)
		_exit(1);
}
int main(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGURG, 40};
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	if (write(1, "up\n", 3) != 3)
		return 1;
	for (;;)
		pause();
}
"""


@pytest.fixture(params=[{}, {"PMI_FD": "99"}], ids=["", "under hydra"])
def listener(request, compile_c, tmp_path):
    """Under hydra another process of ours traces hybrid-run."""
    program = compile_c(LISTENER)
    # In a group of its own: in an orphaned one, as a test runner's may be, SIGTSTP does nothing.
    process = subprocess.Popen([HYBRID_RUN, "-q", "-o", tmp_path / "x", program], stdout=subprocess.PIPE, text=True,
                               preexec_fn=os.setpgrp, env={**os.environ, **request.param})
    assert process.stdout.readline() == "up\n"
    if request.param:
        wait_until(lambda: "TracerPid:\t0\n" not in Path(f"/proc/{process.pid}/status").read_text())
    yield process
    process.send_signal(signal.SIGQUIT)
    assert process.wait(20) == -signal.SIGQUIT


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT", "SIGURG"])
def test_signals_are_handed_on(listener, name):
    listener.send_signal(getattr(signal, name))
    assert listener.stdout.readline() == f"{int(getattr(signal, name))} 0\n"


def test_queued_signals_keep_their_values(listener, compile_c):
    sender = compile_c(r"""
#include <signal.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	for (int i = 1; i <= 3; i++)
		sigqueue(atoi(argv[1]), 40, (union sigval){.sival_int = 100 + i});
	return 0;
}
""")
    run(sender, listener.pid)
    assert [listener.stdout.readline() for _ in range(3)] == ["40 101\n", "40 102\n", "40 103\n"]


def test_signal_of_the_program_to_its_group_arrives_once(measure, compile_c):
    program = compile_c(r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int seen;
static void count(int number)
{
	seen += number == SIGTERM;
}
int main(void)
{
	signal(SIGTERM, count);
	kill(0, SIGTERM);
	for (int i = 0; i < 20; i++)
		usleep(10000);
	printf("%d\n", seen);
	return 0;
}
""")
    assert measure(program, preexec_fn=os.setpgrp).stdout == "1\n"


def test_stop_and_continue(listener):
    program = children(listener.pid)[0]
    os.kill(program, signal.SIGSTOP)
    wait_until(lambda: process_state(listener.pid) in "Tt")  # t: traced
    listener.send_signal(signal.SIGCONT)
    assert listener.stdout.readline() == f"{int(signal.SIGCONT)} 0\n"
    wait_until(lambda: process_state(listener.pid) == process_state(program) == "S")
    listener.send_signal(signal.SIGTSTP)
    wait_until(lambda: process_state(listener.pid) in "Tt" and process_state(program) == "T")
    listener.send_signal(signal.SIGCONT)
    wait_until(lambda: process_state(listener.pid) == process_state(program) == "S")
    listener.stdout.readline()


def test_continued_by_another(tmp_path):
    """Who continues the program does not know of hybrid-run, which stopped with it."""
    script = "(sleep 0.3; kill -CONT $$) & kill -STOP $$; echo on; exit 23"
    result = run(HYBRID_RUN, "-q", "-o", tmp_path / "x", "sh", "-c", script, timeout=30)
    assert (result.stdout, result.stderr, result.returncode) == ("on\n", "", 23)


def test_killed_hybrid_run_leaves_the_program(compile_c, tmp_path):
    process = subprocess.Popen([HYBRID_RUN, "-o", tmp_path / "x", "sh", "-c", "echo up; read line; echo end"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    process.kill()
    process.wait()
    process.stdin.write("\n")
    process.stdin.close()
    assert process.stdout.readline() == "end\n"
    process.stdout.close()


def signal_lines(text):
    return {m[0]: int(m[1], 16) for m in re.findall(r"^(SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt):\s(\S+)", text, re.M)}


def test_mask_and_dispositions_are_inherited(measure):
    def prepare():
        for number in signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR2, signal.SIGTSTP, 50:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD, 45])

    alone = signal_lines(run("cat", "/proc/self/status", preexec_fn=prepare).stdout)
    below = signal_lines(measure("cat", "/proc/self/status", preexec_fn=prepare).stdout)
    below["SigCgt"] &= ~(1 << 16 - 1)  # the samples'
    below["SigBlk"] &= ~(1 << 16 - 1)  # while it is in read(), so that no sample cuts that short
    assert below == alone


def test_ignored_child_signal_does_not_lose_the_status(measure):
    assert measure("sh", "-c", "exit 9", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)).returncode == 9


DESCRIPTORS = """
import os
for name in os.listdir("/proc/self/fd"):
    try:
        print(name, os.readlink(f"/proc/self/fd/{name}").rstrip("0123456789[]"))
    except FileNotFoundError:
        pass  # that of listdir itself
"""


@pytest.mark.parametrize("closed", ["", "<&-", "2>&-", "<&- 2>&-"])
def test_descriptors_are_as_without(tmp_path, closed):
    """Those of the runtime are high."""

    def low(before):
        command = f"exec {before} {sys.executable} {script} {closed} 7</dev/zero 9>/dev/null"
        return sorted(line for line in run("sh", "-c", command).stdout.splitlines() if int(line.split()[0]) < 256)

    script = tmp_path / "list.py"
    script.write_text(DESCRIPTORS)
    alone = low("")
    assert "7 /dev/zero" in alone
    assert low(f"{HYBRID_RUN} -q -o {tmp_path}/x") == alone


@pytest.mark.parametrize("limit", [29, 1024])
def test_no_descriptor_more_among_those_a_program_can_have(measure, limit):
    """A program that looks at each number up to its limit finds none of ours, if the limit could be raised."""
    numbers = range(max(limit, 256))
    script = f"import os; print([n for n in {numbers} if os.path.exists(f'/proc/self/fd/{{n}}')])"

    def prepare():
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard <= limit:
        pytest.skip(f"no limit above {limit} descriptors here")
    experiment = measure(sys.executable, "-c", script, preexec_fn=prepare)
    assert experiment.stdout == run(sys.executable, "-c", script, preexec_fn=prepare).stdout


def test_process_group_and_session_are_the_same(measure):
    script = "import os; print(os.getpgrp(), os.getsid(0))"
    e = measure(sys.executable, "-c", script)
    assert e.stdout == run(sys.executable, "-c", script).stdout


def test_limits_are_the_same(measure):
    assert measure("sh", "-c", "ulimit -a").stdout == run("sh", "-c", "ulimit -a").stdout


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *command, env=None):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(str(command[0]), [str(word) for word in command], env or os.environ)

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        """What comes within this time; None at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return ""
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return None
        self.text += data.decode(errors="replace")
        return data

    def expect(self, pattern, seconds=20):
        """Waits for the pattern, and forgets the text up to its end."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern, self.text)
            if match:
                self.text = self.text[match.end():]
                return match
            if time.monotonic() > end or self.read(0.1) is None:
                pytest.fail(f"no {pattern!r} in {self.text!r}")

    def wait(self):
        while self.read(20):
            pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return status


def test_ctrl_c_arrives_once(compile_c, tmp_path):
    terminal = Terminal(HYBRID_RUN, "-o", tmp_path / "x", compile_c(LISTENER))
    terminal.expect("up")
    terminal.type("\x03")
    terminal.expect(r"2 0\r\n")
    time.sleep(0.3)
    terminal.type("\x1c")
    status = terminal.wait()
    assert "2 0" not in terminal.text
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGQUIT
    assert "hybrid-run: next:" in terminal.text


def test_ctrl_c_ends_the_program_not_the_measurement(compile_c, tmp_path):
    program = compile_c('#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts("up"); fflush(stdout); return pause(); }\n')
    terminal = Terminal(HYBRID_RUN, "-o", tmp_path / "x", program)
    terminal.expect("up")
    terminal.type("\x03")
    status = terminal.wait()
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT
    assert "hybrid-run: next:" in terminal.text


def test_hang_up_arrives(compile_c, tmp_path):
    """hybrid-run leads the session of this terminal: only it hears of the end."""
    out = tmp_path / "out"
    terminal = Terminal("sh", "-c", f"exec {HYBRID_RUN} -q -o {tmp_path}/x {compile_c(LISTENER)} >{out}")
    wait_until(lambda: out.exists() and out.read_text() == "up\n")
    (program,) = children(terminal.pid)
    os.close(terminal.fd)
    wait_until(lambda: "1 0\n" in out.read_text())
    os.kill(program, signal.SIGQUIT)
    assert os.WTERMSIG(os.waitpid(terminal.pid, 0)[1]) == signal.SIGQUIT


def test_job_control(compile_c, tmp_path, needs):
    needs("bash")
    terminal = Terminal("bash", "--norc", "--noprofile", "-i", env={**os.environ, "PS1": "% ", "HISTFILE": "", "TERM": "dumb"})
    terminal.expect("% ")
    terminal.type(f"{HYBRID_RUN} -q -o {tmp_path}/x {compile_c(LISTENER)}\n")
    terminal.expect(r"\nup\r")
    (run_pid,) = children(terminal.pid)
    (program,) = children(run_pid)
    terminal.type("\x1a")
    terminal.expect("Stopped")
    assert process_state(run_pid) == process_state(program) == "T"
    terminal.type("fg\n")
    terminal.expect(r"18 0\r\n")
    wait_until(lambda: process_state(run_pid) == process_state(program) == "S")
    terminal.type("\x1c")
    terminal.expect("Quit")
    terminal.type("echo status $?\n")
    terminal.expect("status 131")
    terminal.type("exit\n")
    terminal.wait()
