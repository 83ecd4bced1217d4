"""hybrid-view under AddressSanitizer, with random keys: for some seconds, with HYBRID_SLOW=1 for ten minutes.

HYBRID_SEED repeats a run; HYBRID_ASAN names another build with sanitizers than build-asan.
"""

import os
import random
import re
import subprocess
import time
from pathlib import Path

import pytest

import terminal as terminals
from conftest import HYBRID_RUN, SOURCE, run, wait_until
from terminal import Terminal

ASAN = Path(os.environ.get("HYBRID_ASAN", SOURCE / "build-asan")) / "viewer/hybrid-view"
SECONDS = 600 if os.environ.get("HYBRID_SLOW") else 20
# Not among them: what leaves (q F10 C-c C-z C-\), and w, which writes files.
PLAIN = [chr(c) for c in range(33, 127) if chr(c) not in "qw"]
NAMED = ["Up", "Down", "Left", "Right", "PPage", "NPage", "Home", "End", "Enter", "Tab", "BTab", "BSpace", "Escape", "Space",
         "DC", "IC", "C-l", "C-u", "C-w", "C-a", "C-e", "C-k", *(f"F{n}" for n in range(1, 10))]
SIZES = [(80, 24), (200, 60), (140, 40), (20, 5), (1, 1), (40, 12), (100, 80), (250, 10)]
# Not clicked on: F10Quit stands in one of them, of this size or of that before.
KEY_LINES = {height - 1 for _, height in SIZES if height >= 5}


@pytest.fixture(scope="module")
def experiments(tmp_path_factory, compile_c):
    """One that was traced, with threads; one of another run of the program, to compare with."""
    folder = tmp_path_factory.mktemp("keys")
    program = compile_c("threads.c")
    for name in ("first", "second"):
        result = run(HYBRID_RUN, "--trace", "-o", folder / name, program, "unequal")
        assert result.returncode == 0, result.stderr
    return folder


def act(terminal, chance):
    """Something that a user could do."""
    what = chance.random()
    if what < 0.01:
        terminal.resize(*chance.choice(SIZES))
    elif what < 0.05:
        line = chance.choice([y for y in range(min(terminal.height, 90)) if y not in KEY_LINES])
        terminal.mouse(line, chance.randrange(min(terminal.width, 90)), chance.choice([0, 64, 65]))
    elif what < 0.5:
        terminal.keys(*(chance.choice(NAMED) for _ in range(chance.randrange(1, 20))))
    else:
        for _ in range(chance.randrange(1, 8)):
            terminal.type("".join(chance.choice(PLAIN) for _ in range(chance.randrange(1, 12))).replace(";", ","))


@pytest.fixture
def growing(tmp_path, compile_c):
    """A run that goes on, and has more threads each moment."""
    with subprocess.Popen([HYBRID_RUN, "-q", "-o", tmp_path / "growing", compile_c("starts_threads.c"), str(4 * SECONDS)]) as hybrid:
        wait_until(lambda: list((tmp_path / "growing").glob("*.hyb")))
        yield tmp_path / "growing"
        hybrid.terminate()
        hybrid.wait(20)


@pytest.mark.parametrize("options", [[], ["--diff"], ["--callsites", "--ascii"]], ids=["one", "diff", "callsites"])
def test_random_keys(tmp_path, experiments, options, monkeypatch):
    options = [*options, experiments / "second"] if "--diff" in options else options
    drive(tmp_path, monkeypatch, *options, experiments / "first")


def test_random_keys_of_ranks(tmp_path, mpi, ranks, monkeypatch):
    measured = ranks(2, mpi.compile("traffic.c"), options=["--trace"])
    assert measured.returncode == 0, measured.stderr
    drive(tmp_path, monkeypatch, measured.path)


def test_random_keys_while_it_grows(tmp_path, growing, monkeypatch):
    drive(tmp_path, monkeypatch, growing)


def drive(tmp_path, monkeypatch, *options):
    if not ASAN.exists():
        pytest.skip(f"no build with sanitizers: {ASAN}")
    monkeypatch.setattr(terminals, "HYBRID_VIEW", ASAN)
    # ncurses keeps what it has read of the terminal until the end.
    (tmp_path / "leaks").write_text("leak:libtinfo\nleak:libncursesw\n")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=1")
    monkeypatch.setenv("LSAN_OPTIONS", f"print_suppressions=0:suppressions={tmp_path}/leaks")
    seed = int(os.environ.get("HYBRID_SEED", time.time_ns() % 10**9))
    print(f"HYBRID_SEED={seed}")
    chance = random.Random(seed)
    with Terminal(tmp_path, UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1") as terminal:
        terminal.view(*options, until="call tree")
        end = time.monotonic() + SECONDS / 3
        while time.monotonic() < end:
            act(terminal, chance)
            assert terminal.processes(), f"HYBRID_SEED={seed}:\n{terminal.tmux('capture-pane', '-p', '-S', '-200', '-t', 'test').stdout}"
        terminal.resize(80, 24)
        terminal.keys("Escape", "Escape")
        terminal.keys("F10")
        # What the sanitizers have to say stands in front of the status.
        screen = terminal.wait(lambda now: re.search(r"^status \d+$", now, re.M), "the end")
        assert "status 0" in screen.splitlines(), f"HYBRID_SEED={seed}:\n{screen}"
