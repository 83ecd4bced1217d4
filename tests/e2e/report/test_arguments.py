"""Wrong options of all commands: one line that says what is wrong, and exit status 2."""

import os
import signal
import subprocess

import pytest

from conftest import BUILD, HYBRID_CONVERT, HYBRID_DUMP, HYBRID_REPORT, HYBRID_RUN, run

COMMANDS = [HYBRID_RUN, HYBRID_REPORT, HYBRID_CONVERT, HYBRID_DUMP, BUILD / "viewer/hybrid-view"]


@pytest.mark.parametrize("arguments, says", [
    ([HYBRID_RUN, "-o", "", "true"], "--output: its value is empty"),
    ([HYBRID_RUN, "--filter=", "true"], "--filter: its value is empty"),
    ([HYBRID_CONVERT, "x", "--to", "dot", "-o", ""], "--output: its value is empty"),
    ([HYBRID_REPORT, "--diff", "", "x"], "--diff: its value is empty"),
    ([HYBRID_REPORT, "--flat=", "x"], "--flat: its value is empty"),
    ([BUILD / "viewer/hybrid-view", "--map=", "x"], "--map: its value is empty"),
    ([HYBRID_REPORT, "--json", "--csv", "x"], "--json and --csv exclude each other"),
    ([HYBRID_REPORT, "--csv", "--json", "x"], "--json and --csv exclude each other"),
    ([HYBRID_CONVERT, "x", "--to", "chrome", "-o", "y", "--from", "5", "--until", "2"], "--from 5s --until 2s: nothing lies between"),
    *[([command, "--versoin"], "--versoin: no such option; similar: --version; see " + command.name) for command in COMMANDS],
])
def test_one_line(arguments, says):
    result = run(*arguments)
    assert result.returncode == 2 and result.stdout == ""
    assert says in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [[HYBRID_CONVERT, "--to", "csv", "-o", "-"], [HYBRID_DUMP], [HYBRID_REPORT]])
@pytest.mark.parametrize("inherited", [signal.SIG_DFL, signal.SIG_IGN])
def test_closed_pipe(measure, compile_c, command, inherited):
    """Who no longer reads is no error: the command ends as others do, by SIGPIPE and without a word."""
    e = measure(compile_c("shares.c"), 20, options=["-q"])
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run([*map(str, command), str(e.path)], stdout=write, stderr=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGPIPE, inherited), restore_signals=False, check=False)
    os.close(write)
    assert (result.returncode, result.stderr) == (-signal.SIGPIPE, b"")
