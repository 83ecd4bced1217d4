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
