"""hybrid-view's screens as a whole, at 80x24 and 200x60, against the texts in screens/.

HYBRID_WRITE_SCREENS=1 writes those texts anew; look at what became different.
"""

import os
import platform
import re
import shutil
from pathlib import Path

import pytest

from conftest import HYBRID_RUN, run
from terminal import Terminal

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")

SCREENS = Path(__file__).with_name("screens")
WRITE = os.environ.get("HYBRID_WRITE_SCREENS") == "1"
SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=["80x24", "200x60"])

# What each location does, as words: ms, + enter, - leave, > send to that rank : bytes, < receive from it.
PLACES = {
    "main": ("main.c", 12), "read_input": ("input.c", 30), "solve": ("solve.c", 21), "iterate": ("solve.c", 54),
    "exchange": ("exchange.c", 8), "norm": ("solve.c", 90), "write_output": ("output.c", 17),
    "matrix::sparse<double, matrix::aligned_allocator<double, 64>>::multiply(vector const&)": ("include/matrix/sparse.hpp", 318),
}
NAMES = {"multiply": next(name for name in PLACES if name.startswith("matrix"))}
BEFORE = {
    (0, "main"): "0+main 2+read_input 12-read_input 12+solve 14+iterate 16+multiply 46-multiply 46+exchange 47+MPI_Send 47>1:4096 "
                 "49-MPI_Send 49+MPI_Recv 56<1:4096 56-MPI_Recv 57-exchange 57+norm 62-norm 64-iterate 66-solve 66+write_output "
                 "92-write_output 100-main",
    (1, "main"): "0+main 4+solve 6+iterate 8+multiply 50-multiply 50+exchange 51+MPI_Recv 52<0:4096 52-MPI_Recv 52+MPI_Send 52>0:4096 "
                 "54-MPI_Send 54+MPI_Send 54>2:80 55-MPI_Send 55-exchange 55+norm 60-norm 62-iterate 66-solve 100-main",
    (2, "main"): "0+main 3+solve 5+iterate 7+multiply 22-multiply 22+exchange 23+MPI_Recv 58<1:80 58-MPI_Recv 59-exchange 59+norm "
                 "61-norm 62-iterate 64-solve 100-main",
    (2, "worker"): "10+multiply 40-multiply",
}
# The matrix product became quicker, the output is gone.
AFTER = {
    (0, "main"): "0+main 2+read_input 12-read_input 12+solve 14+iterate 16+multiply 30-multiply 30+exchange 31+MPI_Send 31>1:4096 "
                 "33-MPI_Send 33+MPI_Recv 40<1:4096 40-MPI_Recv 41-exchange 41+norm 46-norm 48-iterate 50-solve 60-main",
    (1, "main"): "0+main 4+solve 6+iterate 8+multiply 28-multiply 28+exchange 29+MPI_Recv 34<0:4096 34-MPI_Recv 34+MPI_Send 34>0:4096 "
                 "38-MPI_Send 38+MPI_Send 38>2:80 39-MPI_Send 39-exchange 39+norm 44-norm 46-iterate 50-solve 60-main",
    (2, "main"): "0+main 3+solve 5+iterate 7+multiply 15-multiply 15+exchange 16+MPI_Recv 42<1:80 42-MPI_Recv 43-exchange 43+norm "
                 "45-norm 46-iterate 48-solve 60-main",
    (2, "worker"): "10+multiply 30-multiply",
}


def write_events(writer, words, regions, world, steps):
    for word in words.split():
        time, what, rest = re.fullmatch(r"(\d+)([-+<>])(.*)", word).groups()
        tick = 1000000 + int(time) * 1000
        if what in "<>":
            peer, size = map(int, rest.split(":"))
            (writer.mpi_send if what == ">" else writer.mpi_recv)(tick, peer, world, 5, size)
        else:
            writer.metric(tick, steps, [int(time) * 7])
            (writer.enter if what == "+" else writer.leave)(tick, regions[NAMES.get(rest, rest)])


def write_archive(path, locations):
    otf2 = pytest.importorskip("otf2", reason="python3-otf2 is not installed")
    e = otf2.enums
    with otf2.writer.open(str(path), timer_resolution=10**6) as trace:
        d = trace.definitions
        node = d.system_tree_node("nodeA", "node", parent=d.system_tree_node("machine"))
        regions = {name: d.region(name, source_file=f"src/{file}", begin_line_number=line)
                   for name, (file, line) in PLACES.items()}
        for name in ("MPI_Send", "MPI_Recv"):
            regions[name] = d.region(name, paradigm=e.Paradigm.MPI)
        groups = {rank: d.location_group(f"rank {rank}", system_tree_parent=node) for rank, _ in locations}
        made = {key: d.location(key[1], group=groups[key[0]]) for key in locations}
        d.group("ranks", group_type=e.GroupType.COMM_LOCATIONS, paradigm=e.Paradigm.MPI,
                members=[location for (_, name), location in made.items() if name == "main"])
        everybody = d.group("all", group_type=e.GroupType.COMM_GROUP, paradigm=e.Paradigm.MPI, members=sorted(groups))
        world = d.comm("MPI_COMM_WORLD", group=everybody)
        steps = d.metric_class([d.metric_member("steps", metric_mode=e.MetricMode.ACCUMULATED_START, value_type=e.Type.UINT64)],
                               occurrence=e.MetricOccurrence.SYNCHRONOUS_STRICT)
        for key, words in locations.items():
            write_events(trace.event_writer_from_location(made[key]), words, regions, world, steps)


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """A folder with two runs of three ranks: before and after."""
    folder = tmp_path_factory.mktemp("screens")
    write_archive(folder / "before", BEFORE)
    write_archive(folder / "after", AFTER)
    return folder


class Screens:
    """Compares what a terminal shows with the stored texts; volatile: makes of a screen what is the same each time."""

    def __init__(self, terminal, volatile=lambda screen: screen):
        self.terminal, self.volatile = terminal, volatile

    def check(self, name, *keys, until):
        path = SCREENS / f"{name}-{self.terminal.width}x{self.terminal.height}.txt"
        if keys:
            self.terminal.keys(*keys)
        if WRITE:
            count = [0, ""]

            def still(screen):
                count[:] = [count[0] + 1 if screen == count[1] else 0, screen]
                return count[0] > 20 and until in screen

            path.write_text(self.volatile(self.terminal.wait(still, until)) + "\n", encoding="utf-8")
        else:
            stored = path.read_text(encoding="utf-8")
            self.terminal.wait(lambda screen: self.volatile(screen) + "\n" == stored, f"{path.name}:\n{stored}\n")


@SIZES
def test_panes(archives, tmp_path, size):
    with Terminal(tmp_path, *size) as terminal:
        terminal.type(f"cd {archives}\n")
        terminal.view("--threshold", "0", "-m", "steps", "--diff", "before/traces.otf2", "after/traces.otf2", "--view", "tree", until="call tree")
        screens = Screens(terminal)
        screens.check("tree", until="[total]")
        screens.check("tree-open", "+", until="norm")
        screens.check("help-tree", "?", until="Everywhere")
        if size[1] < 60:  # else it was all of it
            screens.check("help-tree-end", "End", until="back to where")
        terminal.keys("q")
        screens.check("source-missing", "j", "j", "s", until="The source is not")
        screens.check("assembly-missing", "s", "a", until="no machine code")
        terminal.keys("a")
        screens.check("reverse", "2", "+", until="called by")
        screens.check("flat-function", "3", until="function (")
        screens.check("flat-line", "f", until="line (")
        screens.check("flat-file", "f", until="file (")
        screens.check("flat-module", "f", until="module (")
        screens.check("locations", "1", "Home", "Down", "Down", "4", until="imbalance")
        screens.check("locations-processes", "p", "o", "c", until="largest first")
        screens.check("timeline", "5", until=" %")
        screens.check("timeline-counter", "c", "g", until="by file")
        screens.check("communication", "6", until="messages from")
        screens.check("communication-sizes", "v", until="sizes of")
        screens.check("communication-pairs", "v", until="largest pairs")
        screens.check("diff", "7", "+", until="change")
        screens.check("quality", "8", until="command")
        screens.check("help", "?", until="Everywhere")


# Each instruction and each line is what it is whatever the compiler; the loop has all of the time.
PROGRAM = r"""/* Adds up for a while. */
static volatile long sum;

__attribute__((naked, noinline)) long spin(long rounds)
{
	__asm__("xor %eax, %eax\n"
		"1: add %rdi, %rax\n\timul $3, %rax, %rax\n\tdec %rdi\n\tjnz 1b\n"
		"ret");
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		sum += spin(100000000);	/* tab and umlaut: ä */
	return 0;
}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    if platform.machine() != "x86_64":
        pytest.skip("the program is of x86_64's instructions")
    folder = tmp_path_factory.mktemp("code")
    (folder / "spin.c").write_text(PROGRAM, encoding="utf-8")
    result = run("gcc", "-O1", "-g", "spin.c", "-o", "spin", cwd=folder)
    assert result.returncode == 0, result.stderr
    result = run(HYBRID_RUN, "-q", "-o", "run", "./spin", cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder


def without_figures(folder, heading, mark):
    """Of a side pane: marks for figures in front of the column of that heading, no bars, addresses, name of the folder."""

    def line_without(line, column):
        if re.search(r"\d+ samples", line):
            return re.sub(r"\d[\d.]*( [mun]?s\b)?", "#", line)
        line = re.sub(r"[█-▏]", " ", line)
        figures = re.sub(r"\S+( [mun]?s\b)?", lambda match: mark.rjust(len(match[0])), line[:column])
        return (figures + re.sub(r"\b(0x)?1[0-9a-f]{3}\b", r"\1ADDR", line[column:])).rstrip()

    def volatile(screen):
        lines = screen.replace(f"{folder}/", "").splitlines()
        left = 101 if "│" in lines[1] else 0
        side = [line[left:] for line in lines[1:-2]]
        head = next((number for number, line in enumerate(side) if heading in line), len(side))
        column = side[head].index(heading) if head < len(side) else 0
        shown = [line_without(line, column if number > head else 0) for number, line in enumerate(side)]
        return "\n".join(lines[:1] + shown + lines[-2:])

    return volatile


@SIZES
def test_source_and_assembly(measured, tmp_path, size):
    with Terminal(tmp_path, *size) as terminal:
        terminal.type(f"cd {measured}\n")
        terminal.view("run", until="call tree")
        terminal.keys("3")
        terminal.wait_for("spin:spin.c")
        Screens(terminal, without_figures(measured, " line", "#")).check("source", "Home", "s", until="imul")
        Screens(terminal, without_figures(measured, "addr", "")).check("assembly", "s", "a", until="imul")
