"""hybrid-view as a program of a terminal: how it starts and ends, its screen, its keys. Panes have tests of their own."""

import os
import pty
import re
import signal

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, run, wait_until
from terminal import HYBRID_VIEW, Terminal


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, compile_c):
    path = tmp_path_factory.mktemp("view") / "experiment"
    program = compile_c("phases.c", "-lm")
    result = run(HYBRID_RUN, "-o", path, program)
    assert result.returncode == 0, result.stderr
    return path


@pytest.fixture
def terminal(tmp_path):
    with Terminal(tmp_path) as made:
        yield made


# A key of each pane, and what then is on the screen of a run without MPI and without a base.
PANES = {"2": "called by", "3": "function (", "4": "imbalance", "5": " %", "6": "no calls of MPI", "7": "nothing to compare",
         "8": " command ", "?": "Everywhere", "1": "call tree"}


def all_panes(terminal, **options):
    """The screens of all of them."""
    for key, text in PANES.items():
        terminal.keys(key)
        terminal.wait_for(text)
        yield terminal.screen(**options)


def sgr(screen):
    """The numbers of all colour codes on a screen, in groups as they were sent."""
    return re.findall(r"\x1b\[([0-9;:]*)m", screen)


# ------------------------------------------------------------ start and end


def test_starts_and_quits(terminal, experiment):
    modes = terminal.modes()
    before = terminal.screen()
    terminal.view(experiment, until="call tree")
    assert terminal.state("alternate_on") == "1"
    terminal.keys("q")
    terminal.wait_ended(0)
    assert terminal.modes() == modes
    assert (terminal.state("alternate_on"), terminal.state("cursor_flag"), terminal.state("mouse_any_flag")) == ("0", "1", "0")
    assert terminal.lines()[0].startswith(before.splitlines()[0])


@pytest.mark.parametrize("number, guard, status", [
    *((name, False, 128 + getattr(signal, name)) for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGSEGV", "SIGABRT", "SIGKILL")),
    *((name, True, 128 + getattr(signal, name)) for name in ("SIGTERM", "SIGHUP", "SIGINT"))])
def test_leaves_the_terminal_as_it_was(terminal, experiment, number, guard, status):
    modes = terminal.modes()
    terminal.view(experiment, until="call tree")
    terminal.kill(number, guard)
    terminal.wait_ended(status)
    assert not terminal.processes()
    assert terminal.modes() == modes
    assert terminal.state("alternate_on") == "0"
    assert (terminal.state("cursor_flag"), terminal.state("mouse_any_flag")) == ("1", "0")
    terminal.command("echo", "the shell works")
    terminal.wait_for("\nthe shell works")


def test_killed_guard(terminal, experiment):
    """Then the viewer ends in order by itself, though the shell may be back before it."""
    modes = terminal.modes()
    terminal.view(experiment, until="call tree")
    terminal.kill("SIGKILL", guard=True)
    wait_until(lambda: not terminal.processes())
    wait_until(lambda: terminal.modes() == modes and terminal.state("alternate_on") == "0")
    terminal.command("echo", "the shell works")
    terminal.wait_for("\nthe shell works")
    assert (terminal.state("cursor_flag"), terminal.state("mouse_any_flag")) == ("1", "0")


def test_interrupt_key(terminal, experiment):
    terminal.view(experiment, until="call tree")
    terminal.keys("C-c")
    terminal.wait_ended(130)


def test_stops_and_goes_on(terminal, experiment):
    modes = terminal.modes()
    screen = terminal.view(experiment, until="call tree")
    terminal.keys("C-z")
    terminal.wait_for("Stopped")
    assert terminal.modes() == modes
    assert terminal.state("alternate_on") == "0"
    terminal.type("fg\n")
    terminal.wait(lambda now: now == screen, "the screen before")
    terminal.keys("?")
    terminal.wait_for("Everywhere")
    terminal.keys("q", "q")
    terminal.wait_for("$")
    assert terminal.modes() == modes


def test_terminal_goes_away(terminal, experiment):
    terminal.view(experiment, until="call tree")
    pids = terminal.processes()
    terminal.tmux("kill-server")
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


# ------------------------------------------------------------------- errors


def in_terminal(*command, **environment):
    """Status and output of a command that has a terminal, which is thrown away."""
    pid, fd = pty.fork()
    if not pid:
        os.execve(str(command[0]), [str(word) for word in command], {**os.environ, "TERM": "xterm", **environment})
    output = b""
    while True:
        try:
            part = os.read(fd, 4096)
        except OSError:
            part = b""
        if not part:
            break
        output += part
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode()


def test_missing_experiment_is_one_line(tmp_path):
    status, output = in_terminal(HYBRID_VIEW, tmp_path / "nothing")
    assert status == 1
    assert re.fullmatch(r"hybrid-view: .*nothing: [^\n]*\r\n", output)


@pytest.mark.parametrize("term, word", [("", "TERM is not set"), ("of-no-kind", "not known"), ("dumb", "cannot move its cursor")])
def test_terminal_that_will_not_do(experiment, term, word):
    status, output = in_terminal(HYBRID_VIEW, experiment, TERM=term)
    assert status == 1
    assert word in output and output.count("\n") == 1


def test_no_terminal(experiment):
    result = run(HYBRID_VIEW, experiment)
    assert result.returncode == 1
    assert "terminal" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [
    [], ["--nothing"], ["--view", "nothing", "x"], ["--threshold", "101", "x"], ["--ranks", "3-1", "x"], ["--map", "x", "x"],
    ["--color=blue", "x"], ["--process", "0", "x"]])
def test_wrong_usage(arguments):
    result = run(HYBRID_VIEW, *arguments)
    assert result.returncode == 2
    assert result.stderr.startswith("hybrid-view: ") and result.stderr.count("\n") == 1


# ------------------------------------------------------------------- screen


def test_any_size(terminal, experiment):
    terminal.view(experiment, until="call tree")
    terminal.keys("s")
    for width, height in [(20, 5), (1, 1), (200, 60), (2, 60), (200, 2), (80, 3), (80, 4), (139, 39), (140, 40), (40, 12)]:
        terminal.resize(width, height)
        for key in "12345678?":
            terminal.keys(key)
        terminal.keys("q", "1")
    terminal.resize(80, 24)
    terminal.wait(lambda screen: screen.splitlines()[0].startswith(" 1tree 2reverse") and screen.endswith("F10Quit"), "80x24")
    terminal.keys("q")
    terminal.wait_ended(0)


def test_lines_fit(terminal, experiment):
    """At 80 columns the last line has the keys of everywhere, whatever the pane."""
    terminal.view(experiment, until="call tree")
    for key, title in zip("12345678", ("tree", "reverse", "flat", "locations", "timeline", "communication", "diff", "quality")):
        terminal.keys(key)
        assert f" {key}{title}" in terminal.lines()[0]
        terminal.wait(lambda screen: screen.splitlines()[-1].endswith("F1Help /Search F10Quit"), "the key line")


def test_256_colours_8_and_none(tmp_path, experiment):
    def codes(name, *options, **environment):
        folder = tmp_path / name
        folder.mkdir()
        with Terminal(folder, **environment) as terminal:
            terminal.view(*options, experiment, until="call tree")
            return [code for screen in all_panes(terminal, colours=True) for code in sgr(screen)]

    def coloured(found):
        return [code for group in found for code in group.split(";") if re.fullmatch(r"[349][0-7]|10[0-7]", code)]

    assert any("38;5;" in code for code in codes("many"))
    few = codes("few", term="screen")
    assert not any("38;5;" in code or "48;5;" in code for code in few) and coloured(few)
    for found in (codes("none", NO_COLOR="1"), codes("never", "--color=never"), codes("mono", term="vt100")):
        assert not any("38;5;" in code for code in found) and not coloured(found)
        assert any("7" in code.split(";") for code in found), "the cursor is seen without colours, too"
    assert any("38;5;" in code for code in codes("always", "--colour=always", NO_COLOR="1"))


SORTS = """
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
	for (volatile int i = 0; i < 300; i++);
	return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static int caller(void)
{
	static int numbers[100000];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 100000; i++)
			numbers[i] = rand();
		qsort(numbers, 100000, sizeof(int), compare);
	}
	return numbers[7];
}
int main(void)
{
	return caller() == 1;
}
"""


def test_callers_of_the_program_are_not_dim(tmp_path, measure, compile_c):
    """What only calls is in brackets; dim alone if it is a library's: qsort of the C library."""
    path = measure(compile_c(SORTS)).path
    (tmp_path / "t").mkdir()
    with Terminal(tmp_path / "t", 120, 30) as terminal:
        terminal.view(path, until="qsort")
        terminal.keys("Home")
        terminal.wait_for("[total]")
        lines = terminal.screen(colours=True).splitlines()
        caller = next(line for line in lines if "[caller" in line)
        library = next(line for line in lines if re.search(r"\[\w*sort", line))
        assert re.search(r"38;5;244m\[\w*sort", library) and not re.search(r"38;5;244m\[caller", caller)


@pytest.mark.parametrize("options, locale", [(["--ascii"], "C.UTF-8"), ([], "C")])
def test_ascii(tmp_path, experiment, options, locale):
    with Terminal(tmp_path, locale=locale) as terminal:
        screen = terminal.view(*options, experiment, until="call tree")
        assert screen.isascii()
        assert all(screen.isascii() for screen in all_panes(terminal))


def test_utf8(terminal, experiment):
    assert "▾" in terminal.view(experiment, until="call tree")


# --------------------------------------------------------------------- keys


def test_help_names_every_key_of_the_last_line(terminal, experiment):
    """Help and key line are made of one table."""
    terminal.resize(200, 60)
    terminal.view(experiment, until="call tree")
    labels = terminal.lines()[-1].split()
    terminal.keys("?")
    screen = terminal.wait_for("Everywhere")
    keys = [line[2:18].split() for line in screen.splitlines() if line.startswith("  ")]
    for label in labels:
        assert any(label.startswith(key) for row in keys for key in row), label
    for title in ("Call tree", "Panes", "Source"):
        assert f"\n{title}" in screen or f"  {title}" in screen
    terminal.keys("q")
    terminal.wait_for("call tree")


def test_help_scrolls(tmp_path, experiment):
    with Terminal(tmp_path, 80, 12) as terminal:
        terminal.view(experiment, until="call tree")
        terminal.keys("F1")
        terminal.wait_for("\nCall tree")
        terminal.keys("End")
        terminal.wait_for("back to where help was asked for")
        terminal.keys("Home")
        terminal.wait_for("\nCall tree")


def test_help_fits_into_80_columns(terminal, experiment):
    terminal.resize(80, 70)
    terminal.view(experiment, until="call tree")
    for keys in "1", "2", "3", "4", "5", "6", "7", "8", "1s", "1sa":
        terminal.keys(*keys, "?")
        narrow = terminal.wait(lambda screen: "back to where help was asked for" in screen, "all of the help")
        assert "^M" not in narrow  # it is Enter
        terminal.resize(200, 70)
        wide = terminal.wait(lambda screen: "1tree  2reverse" in screen, "the wide screen")
        assert narrow.splitlines()[1:] == wide.splitlines()[1:]
        terminal.resize(80, 70)
        terminal.keys("q")
        terminal.wait(lambda screen: "1tree 2reverse" in screen and "back to where" not in screen, "the pane")


def test_search(terminal, experiment):
    terminal.view(experiment, until="call tree")
    terminal.keys("?")
    terminal.wait_for("Everywhere")
    terminal.keys("/")
    terminal.wait_for("Search:")
    terminal.type("what is on the screen")
    terminal.wait(lambda screen: "write what is on the screen" in screen, "the row")
    terminal.keys("Enter")
    terminal.wait_gone("Search:")
    terminal.keys("/")
    terminal.type("(")
    terminal.keys("Enter")
    terminal.wait_for("no regular expression")
    terminal.keys("/")
    terminal.type("of no such words")
    terminal.keys("Enter")
    terminal.wait_for("not found")


@pytest.mark.parametrize("expression, why", [
    (r"(.*)(.*)(.*)\3\2\1x", "nothing can refer back"), ("(((x{1,99}){1,99}){1,99}){1,99}", "it repeats too much"),
    ("(" * 14 + "a" + "+)" * 14 + "+", "it repeats too much"), (r"\\1|qx{3,}", None)])
def test_search_that_would_take_for_ever(terminal, experiment, expression, why):
    terminal.view(experiment, until="call tree")
    terminal.keys("/")
    terminal.wait_for("Search:")
    terminal.type(expression)
    terminal.wait_for(expression)
    terminal.keys("Enter")
    terminal.wait_for(f"no regular expression: {why}" if why else "not found")


def test_editing_of_the_prompt(terminal, experiment, tmp_path):
    terminal.view(experiment, until="call tree")
    terminal.keys("w")
    terminal.wait_for("hybrid-view.txt")
    terminal.keys("C-u")
    terminal.type("one two")
    terminal.keys("C-w")
    terminal.type("drei")
    terminal.keys("Home", "Delete", "BSpace", "End", "Left", "BSpace")
    terminal.type("ü")
    terminal.wait_for("Write the screen to: ne drüi")
    terminal.keys("Escape")
    terminal.wait_gone("Write the screen")


def test_writes_the_screen(terminal, experiment, tmp_path):
    path = tmp_path / "screen.txt"
    terminal.view(experiment, until="call tree")
    terminal.keys("8")
    screen = terminal.wait_for(" command ")
    terminal.keys("w")
    terminal.wait_for("Write the screen to:")
    terminal.keys("C-u")
    terminal.type(str(path))
    terminal.keys("Enter")
    terminal.wait_for("written to")
    assert path.read_text().rstrip("\n") == screen.rstrip("\n")
    path.write_text("mine")
    for answer, left in (("n", True), ("y", False)):
        terminal.keys("w")
        terminal.wait_for("Write the screen to:")
        terminal.keys("C-u")
        terminal.type(str(path))
        terminal.keys("Enter")
        terminal.wait_for("Write over it?")
        terminal.type(answer)
        terminal.keys("Enter")
        terminal.wait_for("not written" if left else "written to")
        assert (path.read_text() == "mine") is left
    terminal.keys("w")
    terminal.wait_for("Write the screen to:")
    terminal.keys("C-u")
    terminal.type("/nowhere/at/all")
    terminal.keys("Enter")
    terminal.wait_for("cannot write /nowhere/at/all: ")


def test_mouse(terminal, experiment):
    screen = terminal.view(experiment, until="call tree")
    terminal.mouse(0, screen.splitlines()[0].index("8quality"))
    terminal.wait_for(" command ")
    terminal.mouse(23, terminal.lines()[-1].index("F1Help"))
    terminal.wait_for("Everywhere")
    top = terminal.lines()[1]
    for _ in range(20):
        terminal.mouse(5, 5, button=65)
    terminal.wait(lambda now: now.splitlines()[1] != top, "the rows below")
    for _ in range(20):
        terminal.mouse(5, 5, button=64)
    terminal.wait(lambda now: now.splitlines()[1] == top, "the rows above")


def test_quality_is_that_of_the_report(terminal, experiment):
    """All words and figures of the block, wherever its lines break."""
    terminal.view("--view", "quality", experiment, until=" command ")
    shown = " ".join(" ".join(terminal.wait_for(" cost ").splitlines()[1:-2]).split())
    printed = run(HYBRID_REPORT, "--quality", experiment, env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
    assert shown == " ".join(printed.split())


def test_nothing_is_written_on_the_screen(terminal, experiment):
    """stderr waits until the screen is gone."""
    screen = terminal.view(experiment, until="call tree")
    viewer = terminal.processes()[1]
    with open(f"/proc/{viewer}/fd/2", "w") as words:
        words.write("a word of a library\n")
    terminal.keys("C-l")
    terminal.wait(lambda now: now == screen, "the same screen")
    terminal.keys("q")
    terminal.wait_for("a word of a library")
