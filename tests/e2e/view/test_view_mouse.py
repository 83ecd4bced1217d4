"""The mouse in hybrid-view: clicks, double clicks and the wheel, as old terminals send them and as new ones do (SGR)."""

import re
import shutil

import pytest

from terminal import Terminal
from test_view_screens import AFTER, BEFORE, write_archive

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mouse")
    write_archive(folder / "before", BEFORE)
    write_archive(folder / "after", AFTER)
    return folder


@pytest.fixture(params=["screen-256color", "xterm-256color"], ids=["X10", "SGR"])
def terminal(tmp_path, request, archives):
    with Terminal(tmp_path, 80, 24, term=request.param) as made:
        made.type(f"cd {archives}\n")
        yield made


def place(terminal, text, after=None):
    """Line and column of a text on the screen, of the first one below a line that has `after`."""
    lines = terminal.lines()
    first = next(y for y, line in enumerate(lines) if after in line) + 1 if after else 0
    return next((y, line.index(text)) for y, line in enumerate(lines) if y >= first and text in line)


def click(terminal, text, after=None):
    terminal.mouse(*place(terminal, text, after))


def double_click(terminal, text, after=None):
    """Both clicks in one write, so that no time passes between them."""
    y, x = place(terminal, text, after)
    if terminal.state("mouse_sgr_flag") == "1":
        terminal.type(f"\033[<0;{x + 1};{y + 1}M\033[<0;{x + 1};{y + 1}m" * 2)
    else:
        terminal.type(f"\033[M {chr(33 + x)}{chr(33 + y)}\033[M#{chr(33 + x)}{chr(33 + y)}" * 2)


def reversed_line(terminal):
    """The text of the line that the cursor is on."""
    line = next(line for line in terminal.screen(colours=True).splitlines()[2:-2] if re.search(r"\x1b\[[0-9;]*\b7m", line))
    return re.sub(r"\x1b\[[0-9;]*m", "", line)


def test_encoding(terminal):
    terminal.view("after/traces.otf2", until="norm")
    assert terminal.state("mouse_any_flag") == "1"
    assert terminal.state("mouse_sgr_flag") == ("1" if terminal.environment["TERM"].startswith("xterm") else "0")


def test_rows_of_a_tree(terminal):
    terminal.view("after/traces.otf2", until="iterate")
    click(terminal, "iterate (")
    terminal.wait(lambda _: "iterate (" in reversed_line(terminal), "the cursor")
    assert "norm (" in terminal.screen()  # one click opens and closes nothing
    double_click(terminal, "iterate (")
    terminal.wait_gone("norm (")
    double_click(terminal, "iterate (")
    terminal.wait_for("norm (")
    click(terminal, "▾ solve")
    terminal.wait_gone("iterate (")
    click(terminal, "▸ solve")
    terminal.wait_for("iterate (")
    line = reversed_line(terminal)
    terminal.mouse(20, 40)  # below all rows
    terminal.keys("C-l")
    terminal.wait(lambda _: reversed_line(terminal) == line, "the same line")


def test_headings_order(terminal):
    terminal.view("--view", "flat", "after/traces.otf2", until="▼excl")
    first = terminal.lines()[2]
    click(terminal, "incl")
    terminal.wait(lambda screen: "▼incl" in screen and screen.splitlines()[2] != first and "main" in screen.splitlines()[2], "by incl")
    click(terminal, "incl")
    terminal.wait(lambda screen: "▲incl" in screen, "turned round")
    click(terminal, "calls")
    terminal.wait(lambda screen: "▼calls" in screen, "by calls")


def test_names_of_panes_and_keys(terminal):
    terminal.view("after/traces.otf2", until="call tree")
    for name, until in (("3flat", "function ("), ("4locations", "imbalance"), ("6communication", "from 0 to 0"), ("1tree", "call tree")):
        click(terminal, name)
        terminal.wait_for(until)
    screen = terminal.screen()
    terminal.mouse(0, 79)  # behind the last of them
    click(terminal, "F1Help")
    terminal.wait_for("open or close a line")
    click(terminal, "qBack")
    terminal.wait(lambda now: now == screen, "the tree")
    click(terminal, "solve (")
    click(terminal, "F7Zoom")
    terminal.wait_for("below solve")


def test_the_wheel(terminal):
    terminal.view("after/traces.otf2", until="norm")
    terminal.keys("Home")
    terminal.mouse(20, 20, button=65)
    terminal.wait(lambda _: "solve (" not in reversed_line(terminal) and "iterate (" in reversed_line(terminal), "three down")
    terminal.mouse(20, 20, button=64)
    terminal.wait(lambda _: "[total]" in reversed_line(terminal), "three up")
    terminal.mouse(0, 5, button=65)  # on the names of panes: nothing
    terminal.mouse(23, 5, button=64)
    terminal.keys("j")
    terminal.wait(lambda _: "main (" in reversed_line(terminal), "one down")


def test_locations(terminal):
    terminal.view("--view", "locations", "after/traces.otf2", until="rank 2 thread 2")
    click(terminal, "rank 1", after="of the largest")
    terminal.wait(lambda _: "rank 1" in reversed_line(terminal), "the cursor")
    terminal.mouse(15, 5)  # below the last one
    terminal.keys("C-l")
    terminal.wait(lambda _: "rank 1" in reversed_line(terminal), "the same line")
    double_click(terminal, "rank 2 ", after="of the largest")
    terminal.wait(lambda screen: screen.count("not selected") == 3, "one alone")


def test_timeline(terminal):
    terminal.view("--view", "timeline", "after/traces.otf2", until="A matrix::sparse")
    y, _ = place(terminal, "rank 1")
    terminal.mouse(y, place(terminal, "main ──")[1] + 3)
    terminal.wait_for("main (main.c:12)  for about 9.7 ms")
    terminal.mouse(15, place(terminal, "main ──")[1] + 4)  # below the rows: the same row, a column on
    terminal.wait_for("56.1 ms  main")
    double_click(terminal, "rank 2 t")
    terminal.wait_for("rank 2 thread 2 worker")


def test_communication(terminal):
    terminal.view("--view", "communication", "after/traces.otf2", until="from 0 to 0")
    y, x = place(terminal, "1       .       1")
    terminal.mouse(y, x + 16)
    terminal.wait_for("from 1 to 2: 1 message")
    terminal.mouse(15, x)  # below all ranks
    terminal.keys("Left")
    terminal.wait_for("from 1 to 1: 0 messages")


def test_both_panes(tmp_path, archives):
    """Beside each other: a click goes to a pane, the wheel moves what is below it."""
    with Terminal(tmp_path, 160, 30, term="xterm-256color") as terminal:
        terminal.type(f"cd {archives}\n")
        terminal.view("after/traces.otf2", until="norm")
        click(terminal, "solve (")
        terminal.keys("s")
        terminal.wait_for("What is known of its lines")
        tree = reversed_line(terminal)[:80]
        click(terminal, "iterate", after="What is known of its lines")
        terminal.wait_for("PPath")
        terminal.wait_for("11.0 ms exclusive")
        terminal.mouse(8, 100, button=65)
        terminal.wait_for("12.0 ms exclusive")
        assert reversed_line(terminal)[:80] == tree
        click(terminal, "[total]")
        terminal.wait_for("F7Zoom")


def test_no_mouse(tmp_path, archives):
    with Terminal(tmp_path) as terminal:
        terminal.view("--no-mouse", archives / "after/traces.otf2", until="call tree")
        assert terminal.state("mouse_any_flag") == "0"
