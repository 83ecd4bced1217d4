"""Signals: each program prints the same bytes and ends alike, measured or not, in all ways of sampling."""

import pytest

from known import MODES, program, same_as_native

CASES = [
    "initial",
    "block_all",
    "install_all",
    "none_strays",
    "altstack",
    "small_altstack",
    "stack_overflow",
    "stack_end",
    "realtime",
    "signalfd",
    "sigwait_all",
    "own_timers",
    "handlers",
    "from_child",
    "inherit",
    "keeps_errno",
    "suspend",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_same_as_native(measure, case, mode):
    e = same_as_native(measure, MODES[mode], "signals", case)
    assert "FAIL" not in e.stdout


@pytest.mark.parametrize("mode", MODES)
def test_calls_are_interrupted_as_without(measure, mode):
    """Twenty-two waiting calls, alone, in a thread, with a signal of the program's, and with SA_RESTART."""
    e = same_as_native(measure, MODES[mode], "interrupted")
    assert "quiet nanosleep: ok" in e.stdout and "signal nanosleep: EINTR" in e.stdout


@pytest.mark.parametrize(
    "options",
    [[], ["--source", "perf"], ["--source", "timer"], ["-e", "perf::CONTEXT-SWITCHES@1"]],
    ids=["auto", "perf", "timer", "event"],
)
def test_calls_are_whole(measure, options):
    """Thousands of small reads, writes and waits, and signals of the program's that end each read they find waiting."""
    e = measure(program("cut"), options=["--rate", "10000", "--budget", "100", *options])
    assert (e.returncode, e.stdout) == (0, "PASS\n"), e.stdout


SMALL = """
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);

int main(void)
{
	char byte = 0;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	for (int i = 0; i < 1000; i++) {
		struct pollfd one = {ends[0], POLLIN, 0};

		if (write(ends[1], &byte, 1) != 1 || CALL != 1)
			return 1;
		recv(ends[0], &byte, 1, MSG_DONTWAIT); /* what poll() left */
	}
	return 0;
}
"""


@pytest.mark.parametrize("call", [
    "read(ends[0], &byte, 1)", "__read_chk(ends[0], &byte, 1, 1)", "__recv_chk(ends[0], &byte, 1, 1, 0)",
    "__recvfrom_chk(ends[0], &byte, 1, 1, 0, NULL, NULL)", "poll(&one, 1, 5)", "__poll_chk(&one, 1, 5, sizeof(one))"],
    ids=lambda call: call.split("(")[0])
def test_small_calls_are_watched(measure, compile_c, needs, call, tmp_path):
    """No system call stands beside them, also where _FORTIFY_SOURCE made something else of them."""
    needs("strace")
    program = compile_c(SMALL.replace("CALL", call), "-O1")
    strace = ["strace", "-f", "-o", tmp_path / "calls", "-e", "trace=rt_sigprocmask"]
    e = measure(*strace, program)
    assert e.returncode == 0
    assert len((tmp_path / "calls").read_text().splitlines()) < 300


@pytest.mark.parametrize("case", ["wait", "io_uring", "actions"])
@pytest.mark.parametrize("options", [["--wall"], ["--rate", "10000", "--budget", "100"], []], ids=["wall", "many", "auto"])
def test_calls_by_syscall(measure, case, options):
    """Not by the C library's function for each: they end as they do without us, and set no action of ours."""
    same_as_native(measure, options, "system_calls", case)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", [1, 2, 10, 13, 14, 15, 16, 24, 26, 27, 29, 34, 64])
def test_default_action(measure, number, mode):
    """A signal that nobody handles ends the program; also the one that samples use."""
    same_as_native(measure, MODES[mode], "signals", "default_action", number)


@pytest.mark.parametrize("number", [27, 10, 40])
def test_other_signal_for_samples(measure, number):
    e = same_as_native(
        measure, ["--signal", number, "--rate", "1000", "--source", "timer"], "signals", "install_all"
    )
    assert "PASS" in e.stdout
