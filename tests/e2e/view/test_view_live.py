"""What hybrid-view opens: runs that go on, end, are killed or vanish; damaged files; several experiments, archives, a base."""

import os
import pty
import shutil
import signal
import subprocess

import pytest

from conftest import HYBRID_CONVERT, HYBRID_REPORT, HYBRID_RUN, run, wait_until
from terminal import HYBRID_VIEW, Terminal
from test_view_tree import table


@pytest.fixture(scope="module")
def growing(compile_c):
    return compile_c("growing.c")


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, compile_c):
    path = tmp_path_factory.mktemp("view") / "experiment"
    result = run(HYBRID_RUN, "--trace", "-o", path, compile_c("phases.c", "-lm"))
    assert result.returncode == 0, result.stderr
    return path


@pytest.fixture
def terminal(tmp_path):
    (tmp_path / "terminal").mkdir()
    with Terminal(tmp_path / "terminal", 120, 30) as made:
        yield made


class Run:
    """A program under hybrid-run that goes on until end()."""

    def __init__(self, folder, program):
        self.path, self.flag = folder / "run", folder / "flag"
        self.flag.touch()
        self.process = subprocess.Popen([HYBRID_RUN, "-o", self.path, program, self.flag], text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_begun(self):
        wait_until(lambda: self.path.exists() and run(HYBRID_REPORT, "--flat", self.path).stdout.count("early"))

    def program(self):
        """Its process id, as the name of its file says."""
        name, = self.path.glob("*.hyb")
        return int(name.name.split(".")[0].rsplit("-", 1)[1])

    def late(self):
        self.flag.with_name("flag.late").touch()

    def end(self):
        self.flag.unlink(missing_ok=True)
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out


@pytest.fixture
def going(tmp_path, growing):
    made = Run(tmp_path, growing)
    yield made
    made.end()


def is_live(screen):
    return screen.splitlines()[0].endswith("live")


# --------------------------------------------------------------- live


def test_grows_in_place_and_ends(terminal, going):
    going.wait_begun()
    terminal.view(going.path)
    terminal.wait(is_live, "a live run")
    terminal.keys("3")
    screen = terminal.wait_for("early")
    assert "late" not in screen
    going.late()
    screen = terminal.wait_for("late")
    assert is_live(screen) and "damage" not in screen
    assert going.end() == (0, "done\n")
    screen = terminal.wait(lambda text: not is_live(text), "the end of the run")
    assert "late" in screen and "killed" not in screen
    terminal.keys("q")
    terminal.wait_ended(0)


def rates(screen):
    """The column "now" of a table, by function; blank: it did not grow since the last reading."""
    columns, rows = table(screen)
    return {row["label"].split()[0].split(":")[0]: row["now"] for row in rows} if "now" in columns else {}


def test_what_is_hot_now(terminal, going):
    """early() has most of the time in all, late() what was added last."""
    going.wait_begun()
    terminal.view("--view", "flat", going.path, until="function (")
    screen = terminal.wait(lambda text: rates(text).get("early"), "early() grows")
    assert "late" not in rates(screen)
    going.late()
    screen = terminal.wait(lambda text: rates(text).get("late") and not rates(text)["early"], "late() grows alone")
    assert float(rates(screen)["late"]) > 0
    order = table(screen)[0].index("now") - table(screen)[0].index("cpu")
    terminal.keys(*[">" if order > 0 else "<"] * abs(order))
    terminal.wait_for("▼now")
    terminal.wait(lambda text: [name for name in rates(text) if name in ("early", "late")] == ["late", "early"], "late() on top")
    going.end()
    terminal.wait(lambda text: not is_live(text) and "now" not in table(text)[0], "the end of the column")


def test_80_columns_have_room_for_the_word(terminal, going):
    going.wait_begun()
    terminal.resize(80, 24)
    terminal.view(going.path)
    screen = terminal.wait(is_live, "a live run")
    assert "8quality " in screen.splitlines()[0]


def test_says_that_it_was_killed(terminal, going):
    going.wait_begun()
    terminal.view(going.path)
    terminal.wait(is_live, "a live run")
    os.kill(going.program(), signal.SIGKILL)
    screen = terminal.wait_for("1 process ended ")
    assert not is_live(screen) and "damage" not in screen
    assert going.end()[0] == -signal.SIGKILL  # hybrid-run ends as its program


def test_keeps_what_was_read_of_what_vanished(terminal, going):
    going.wait_begun()
    terminal.view(going.path)
    terminal.wait(is_live, "a live run")
    terminal.keys("3")
    terminal.wait_for("early")
    shutil.rmtree(going.path)
    screen = terminal.wait_for(f"{going.path}: cannot be opened")
    assert "early" in screen
    terminal.keys("q")
    terminal.wait_ended(0)


def test_waits_for_a_run(terminal, tmp_path, growing):
    terminal.command(HYBRID_VIEW, "--live", tmp_path / "run")
    terminal.wait_for("waits for the run to begin: q leaves")
    assert f"not yet: {tmp_path}/run" in terminal.screen()
    made = Run(tmp_path, growing)
    try:
        terminal.wait(is_live, "a live run")
    finally:
        made.end()
    terminal.wait(lambda text: not is_live(text), "the end of the run")


def test_reading_does_not_touch_the_program(terminal, going):
    """Nobody stops it or sends it anything: what the kernel counted of its signals is what its own sampling sent."""
    going.wait_begun()
    terminal.view(going.path)
    terminal.wait(is_live, "a live run")
    status = dict(line.split(":", 1) for line in open(f"/proc/{going.program()}/status").read().splitlines())
    assert status["TracerPid"].strip() == "0" and not status["State"].strip().startswith(("T", "t"))
    maps = open(f"/proc/{terminal.processes()[-1]}/maps").read()
    assert ".hyb" not in maps  # nothing of it is mapped: it may vanish


# ------------------------------------------------------------- damage


def test_damage_is_a_message(terminal, experiment, tmp_path):
    path = tmp_path / "damaged"
    shutil.copytree(experiment, path)
    for name in path.glob("*.hyb"):
        with open(name, "r+b") as file:
            file.truncate(name.stat().st_size // 2 + 100)
    screen = terminal.view(path)
    terminal.wait_for("damage: ")
    terminal.keys("8")
    terminal.wait_for("damage: ")
    terminal.keys("q")
    terminal.wait_ended(0)
    assert screen


@pytest.mark.parametrize("content", [b"", bytes(65536), b"not a measurement\n" * 400], ids=["empty", "zeros", "text"])
def test_what_is_none_is_told_as_hybrid_report_does(tmp_path, content):
    path = tmp_path / "none"
    path.mkdir()
    (path / "host-1.0.hyb").write_bytes(content)
    same_error([path])


def test_what_is_missing_is_told_as_hybrid_report_does(experiment, tmp_path):
    same_error([tmp_path / "nowhere"])
    same_error([tmp_path])
    same_error(["--thread", "1", experiment])
    same_error(["--ranks", "3", experiment])
    same_error(["--diff", tmp_path / "nowhere", experiment])


def same_error(arguments):
    """The viewer's, which wants a terminal for all but its errors, is hybrid-report's."""
    report = run(HYBRID_REPORT, *arguments)
    terminal, other = pty.openpty()
    try:
        view = subprocess.run([HYBRID_VIEW, *arguments], text=True, timeout=60, env={**os.environ, "TERM": "xterm"},
                              stdin=other, stdout=other, stderr=subprocess.PIPE)
    finally:
        os.close(terminal)
        os.close(other)
    assert (view.returncode, report.returncode) == (1, 1)
    assert view.stderr.replace("hybrid-view", "hybrid-report") == report.stderr


# --------------------------------------------- several, archives, a base


def test_several_are_merged(terminal, experiment, tmp_path):
    copy = tmp_path / "again"
    shutil.copytree(experiment, copy)
    terminal.view(experiment, copy)
    terminal.keys("8")
    terminal.wait_for("2 experiments")


def test_one_file_and_one_thread(terminal, experiment):
    name = next(iter(experiment.glob("*.hyb")))
    pid = name.name.split(".")[0].rsplit("-", 1)[1]
    terminal.view("--process", pid, "--thread", pid, name)
    terminal.keys("8")
    terminal.wait_for("1 process, 1 thread")


def test_an_archive(terminal, experiment, tmp_path):
    result = run(HYBRID_CONVERT, experiment, "--to", "otf2", "-o", tmp_path / "archive")
    if "without OTF2" in result.stderr:
        pytest.skip("built without OTF2")
    assert result.returncode == 0, result.stderr
    before = sorted((tmp_path / "archive").rglob("*"))
    terminal.view(tmp_path / "archive")
    terminal.keys("8")
    terminal.wait_for("1 process, 1 thread")
    terminal.keys("q")
    terminal.wait_ended(0)
    assert sorted((tmp_path / "archive").rglob("*")) == before


def test_a_base(terminal, experiment, tmp_path):
    terminal.view("--diff", experiment, experiment, until="change")  # its pane is the first that shows
    terminal.keys("8")
    screen = terminal.wait_for("after:")
    assert "before:" in screen
