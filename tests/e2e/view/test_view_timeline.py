"""The timeline of hybrid-view: whole screens of an archive of which everything is known, and runs of programs."""

import re

import pytest

from conftest import report_json
from terminal import Terminal

NAMES = 18  # columns left of the bands; one for a millisecond where the terminal is 118 wide
# Milliseconds at which each rank enters (+) and leaves (-): bands are to be as they stand here.
FIRST = ("0+main 10+compute 20+inner 30-inner 40-compute 40+MPI_Send 50-MPI_Send 50+compute 90-compute 100-main").split()
SECOND = "0+main 10+compute 30-compute 30+MPI_Recv 55-MPI_Recv 60+write 80-write 100-main".split()
FILES = {"main": "main.c", "compute": "compute.c", "inner": "compute.c", "write": "output.c"}


def write_rank(otf2, d, writer, events, world, temperature, regions):
    for word in events:
        time, what, name = re.match(r"(\d+)([+-])(.*)", word).groups()
        tick = 1000000 + int(time) * 1000
        if (what, name) == ("-", "MPI_Recv"):
            writer.mpi_recv(tick, 0, world, 5, 100)
        (writer.enter if what == "+" else writer.leave)(tick, regions[name])
        if (what, name) == ("+", "MPI_Send"):
            writer.mpi_send(tick, 1, world, 5, 100)
        if (what, name) == ("+", "compute") and events is FIRST:
            writer.metric(tick, temperature, 100.0 if time == "10" else 50.0)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Two ranks, 100 ms, a message from 40 to 55, a temperature of 100 K from 10 on, of 50 K from 50 on."""
    otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")
    e = otf2.enums
    path = tmp_path_factory.mktemp("timeline") / "archive"
    with otf2.writer.open(str(path), timer_resolution=10**6) as trace:
        d = trace.definitions
        node = d.system_tree_node("nodeA", "node", parent=d.system_tree_node("machine"))
        regions = {name: d.region(name, source_file=file, begin_line_number=10) for name, file in FILES.items()}
        for name in ("MPI_Send", "MPI_Recv"):
            regions[name] = d.region(name, paradigm=e.Paradigm.MPI)
        groups = [d.location_group(f"rank {i}", system_tree_parent=node) for i in range(2)]
        locations = [d.location("main", group=group) for group in groups]
        d.group("ranks", group_type=e.GroupType.COMM_LOCATIONS, paradigm=e.Paradigm.MPI, members=locations)
        everybody = d.group("all", group_type=e.GroupType.COMM_GROUP, paradigm=e.Paradigm.MPI, members=[0, 1])
        world = d.comm("MPI_COMM_WORLD", group=everybody)
        temperature = d.metric("temperature", unit="K", metric_mode=e.MetricMode.ABSOLUTE_POINT)
        for location, events in zip(locations, (FIRST, SECOND)):
            writer = trace.event_writer_from_location(location)
            write_rank(otf2, d, writer, events, world, temperature, regions)
    return path / "traces.otf2"


def band(letter, name, columns):
    """A band as it stands in ASCII, with room for its name."""
    if columns < 5:
        return letter + "-" * (columns - 1)
    text = f"{letter} {name}"
    return text + " " * (columns - len(text) > 1) + "-" * (columns - len(text) - (columns - len(text) > 1))


def rows(screen, first, count):
    """Bands of the rows from that line of the screen on."""
    return [line[NAMES:] for line in screen.splitlines()[first : first + count]]


@pytest.fixture
def terminal(tmp_path):
    with Terminal(tmp_path, 118, 24) as terminal:
        yield terminal


def timeline(terminal, *arguments):
    """Bands by file: two functions of a file have one colour."""
    terminal.view("--view", "timeline", *arguments, until=" %")
    terminal.wait_for("by function, innermost")
    terminal.keys("g")
    terminal.wait_for("by file, innermost")
    return terminal


def test_bands(terminal, archive):
    """All of time, a column a millisecond, messages not drawn over the bands."""
    timeline(terminal, "--ascii", archive)
    terminal.wait_for("1 message")
    terminal.keys("l")
    screen = terminal.wait_gone("1 message")
    assert "2 locations: 100.0 ms, by file, innermost" in screen
    ticks = screen.splitlines()[2][NAMES:]
    assert [ticks.index(f"|{text}") for text in ("0 ms", "20 ms", "40 ms", "60 ms", "80 ms")] == [0, 20, 40, 60, 80]
    assert rows(screen, 4, 2) == [
        band("B", "main", 10) + band("A", "compute", 10) + band("A", "inner", 10) + band("A", "compute", 10)
        + band("C", "MPI_Send", 10) + band("A", "compute", 40) + band("B", "main", 10),
        band("B", "main", 10) + band("A", "compute", 20) + band("C", "MPI_Recv", 25) + "B m~n"
        + band("D", "write", 20) + band("B", "main", 20),
    ]
    # of 200 ms: compute 70 and 20, main 20 and 35, MPI 10 and 25, write 20
    assert "A compute.c 45.0 %  B main.c 27.5 %  C [MPI] 17.5 %  D output.c 10.0 %" in screen


def test_message(terminal, archive):
    """From the begin of the call that sent to the end of the one that received."""
    screen = timeline(terminal, "--ascii", archive).wait_for("1 message")
    first, second = rows(screen, 4, 2)
    assert first[40] == "o" and second[55] == "v"
    assert set(first[41:48]) == {"\\"} and "o" not in second[31:]


def test_window(terminal, archive):
    """Zoomed in, the tree shows what was in the window: of rank 0 alone all of its 50 ms."""
    timeline(terminal, archive)
    terminal.keys("+")
    screen = terminal.wait_for("50.0 ms of 100.0 ms")
    terminal.wait_for("A compute.c 50.0 %  C [MPI] 30.0 %  B main.c 20.0 %")
    terminal.keys("Enter")
    screen = terminal.wait_for("A compute.c 60.0 %  B main.c 20.0 %  C [MPI] 20.0 %")
    lines = [line[:4].strip() for line in screen.splitlines()[4:8]]
    assert lines == ["1", "2", "3", ""]
    terminal.keys("1")
    screen = terminal.wait_for("50.0 ms of the timeline")
    total = next(line for line in screen.splitlines() if "[total]" in line)
    assert "50.000" in total
    assert {"main": "50.000", "compute": "30.000", "MPI_Send": "10.000"} == {
        name: next(line for line in screen.splitlines() if re.search(rf"\b{name}\b", line)).split()[0]
        for name in ("main", "compute", "MPI_Send")}
    terminal.keys("5", "0", "BSpace")
    terminal.wait_for("2 locations: 100.0 ms,")
    terminal.wait_for("A compute.c 45.0 %")
    terminal.keys("1")
    terminal.wait(lambda screen: "200.000" in screen and "of the timeline" not in screen, "all of time")


def test_window_stays(terminal, archive):
    """Read again, or in another mode, the window and the cursor are where they were, and so is what trees show."""
    timeline(terminal, archive)
    terminal.keys("+", "Down", *")))))")
    terminal.wait_for("50.0 ms of 100.0 ms")
    terminal.wait_for("A compute.c 50.0 %")
    before = terminal.wait_for("25.0 ms  compute")  # of rank 1: rank 0 is in inner then
    terminal.keys("1")
    terminal.wait(lambda screen: "50.0 ms of the timeline" in screen and "100.000" in screen, "the window")
    terminal.keys("r", "R")
    terminal.wait(lambda screen: "50.0 ms of the timeline" in screen and "100.000" in screen and "line" in screen, "it again")
    terminal.keys("5")
    terminal.wait(lambda screen: screen == before, "what was there before")


def test_cursor(terminal, archive):
    """Steps, bands, pans; the last line says what is there."""
    timeline(terminal, archive)
    terminal.wait_for("0 ms  main (main.c:10)  for about 10.0 ms")
    terminal.keys(">")
    terminal.wait_for("10 ms  compute (compute.c:10)  for about 10.0 ms")
    terminal.keys("Right", "Down")
    terminal.wait_for("11 ms  compute (compute.c:10)  for about 20.0 ms")
    terminal.keys(")", ")", ")")
    terminal.wait_for("41 ms  MPI_Recv  for about 25.0 ms")
    terminal.keys("<")
    terminal.wait_for("29 ms  compute (compute.c:10)")
    terminal.type("/write")
    terminal.keys("Enter")
    terminal.wait_for("60 ms  write (output.c:10)  for about 20.0 ms")
    terminal.keys("+", "+")
    terminal.wait_for("25.0 ms of 100.0 ms")
    terminal.keys("]")
    terminal.wait_for("85.0 ms  main")
    terminal.keys("0")
    terminal.wait_for("locations: 100.0 ms,")


def test_groups_and_depth(terminal, archive):
    timeline(terminal, "--ascii", archive)
    terminal.keys("l", "g", "g")
    screen = terminal.wait_for("by function")
    # compute 80 ms, main 55, MPI_Recv 25, write 20, inner 10, MPI_Send 10
    assert "A compute 40.0 %  B main 27.5 %  C MPI_Recv 12.5 %  D write 10.0 %" in screen
    terminal.keys("d", "d")
    screen = terminal.wait_for("level 1")
    assert rows(screen, 4, 2) == [band("B", "main", 100)] * 2
    terminal.keys("d")
    screen = terminal.wait_for("level 2")
    assert rows(screen, 4, 1)[0].startswith(band("B", "main", 10) + band("A", "compute", 30))


def test_counter(terminal, archive):
    """Three rows of bars: none up to 10, full up to 50, then half as high."""
    timeline(terminal, "--ascii", archive)
    terminal.keys("c")
    screen = terminal.wait_for("temperature")
    bars = rows(screen, 17, 3)
    assert bars[0] == " " * 10 + "#" * 40
    assert bars[1] == " " * 10 + "#" * 40 + ":" * 50
    assert bars[2] == " " * 10 + "#" * 90
    assert "100 K" in screen
    terminal.keys("c")
    terminal.wait_gone("temperature")


def test_no_colours(tmp_path, archive):
    """What colours say can be read without them: letters, and a legend."""
    with Terminal(tmp_path, 80, 24, NO_COLOR="1") as terminal:
        screen = timeline(terminal, archive).wait_for("A compute.c 45.0 %")
        assert "B main" in screen and "38;5" not in terminal.screen(colours=True)


def test_no_trace(terminal, measure):
    experiment = measure("/bin/true", options=["-r", "0"])
    terminal.view("--view", "timeline", experiment.path, until="no trace: measure with samples")


def test_busy_thread(terminal, measure, compile_c):
    """A program that only computes: bands to its end, and the sum of a window is the window's length."""
    experiment = measure(compile_c(SPIN, "-O1", "-g"))
    report = report_json(experiment.path)
    timeline(terminal, experiment.path)
    terminal.keys(")", ")", ")", "+", "+")
    screen = terminal.wait(lambda screen: re.search(r"location: \S+ m?s of ", screen), "the zoom")
    length = re.search(r"location: (\S+) (m?s) of (\S+) (m?s)", screen)
    assert float(length[3]) == pytest.approx(report["nodes"][0]["inclusive_ns"] / (1e9 if length[4] == "s" else 1e6), 0.02)
    terminal.keys("1")
    screen = terminal.wait_for("of the timeline")
    unit = re.search(r"call tree \((\w+)\)", screen)[1]
    total = next(line for line in screen.splitlines() if "[total]" in line).split()[0]
    scale = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6}[unit]
    wanted = float(length[1]) * (1.0 if length[2] == "s" else 1e-3)
    assert float(total) * scale == pytest.approx(wanted, 0.005)
    spin = next(line for line in screen.splitlines() if "spin" in line).split()[0]
    assert float(spin) == pytest.approx(float(total), 0.02)


SPIN = """
#include <stdint.h>
volatile uint64_t sink;
__attribute__((noinline)) void spin(void) { for (uint64_t i = 0; i < 400000000u; i++) sink = i; }
int main(void) { spin(); return 0; }
"""
