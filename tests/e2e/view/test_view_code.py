"""hybrid-view's source and assembly panes: against hybrid-report --json, objdump, nm and the files themselves."""

import os
import re
import shutil
import time

import pytest

from conftest import BUILD, HYBRID_RUN, SOURCE, report_json, run
from terminal import Terminal

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="no tmux")

PROGRAM = r"""#include <stdio.h>

static inline __attribute__((always_inline)) double step(double x, int i)
{
	return x * 0.999 + 1.0 / (i + 1);
}

__attribute__((noinline)) double hot(int n)
{
	double x = 0;

	for (int i = 0; i < n; i++)
		x = step(x, i);
	return x;
}

__attribute__((noinline)) double cold(int n)
{
	double x = hot(n / 4);	/* tab\tand umlaut ä */

	for (int i = 0; i < n; i++)
		x += x / (i + 3);
	return x;
}

int main(void)
{
	double sum = 0;

	for (int r = 0; r < 400; r++)
		sum += hot(300000 + r) + cold(300000 + r);
	printf("%g\n", sum);
	return 0;
}
"""
HOT_CALL = PROGRAM.splitlines().index("\t\tx = step(x, i);") + 1
COLD_LINE = PROGRAM.splitlines().index("\t\tx += x / (i + 3);") + 1


class Measured:
    def __init__(self, folder):
        self.folder = folder
        self.source, self.program, self.path = folder / "code.c", folder / "code", folder / "experiment"
        self.source.write_text(PROGRAM)
        assert run("gcc", "-O2", "-g", self.source, "-o", self.program).returncode == 0
        assert run(HYBRID_RUN, "-q", "-o", self.path, self.program).returncode == 0

    def flat(self, by, *options):
        report = report_json(f"--flat={by}", "--threshold=0", *options, self.path)
        return report["rows"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    return Measured(tmp_path_factory.mktemp("code"))


@pytest.fixture
def own(tmp_path):
    """One whose files a test may change."""
    return Measured(tmp_path)


@pytest.fixture
def open_view(tmp_path):
    """open_view(width, height): a terminal."""
    opened = []

    def function(width, height, **environment):
        folder = tmp_path / f"terminal{len(opened)}"
        folder.mkdir()
        terminal = Terminal(folder, width, height, **environment)
        opened.append(terminal)
        return terminal.__enter__()

    yield function
    for terminal in opened:
        terminal.__exit__()


def choose(terminal, name):
    """Puts the cursor of the flat pane on a function."""
    terminal.keys("3")
    terminal.wait_for("function (")
    terminal.keys("/")
    terminal.type(f"^{name}")
    terminal.keys("Enter")


def whole(rows):
    """What is 100 %: all but what waited outside of probes."""
    root = next(row for row in rows if row["kind"] == "root")
    return root["inclusive_ns"] - root["idle_ns"]



def source_rows(screen, inclusive=False):
    """By line what the source pane says: shares, samples, whether it is marked, text."""
    rows = {}
    for line in screen.splitlines():
        match = re.match((r"( {6}| *\d+\.\d) " if inclusive else "()") +
                         r"( {6}| *\d+\.\d) (?:(?: {9}| *[\d.]+ [mun]?s) )?( {7}| *\d+) .{8} +(\d+)([ ▸])(?: (.*))?$", line.ljust(40))
        if match:
            rows[int(match[4])] = {"incl": match[1].strip(), "share": match[2].strip(), "samples": int(match[3].strip() or 0),
                                   "mark": match[5] == "▸", "text": (match[6] or "").rstrip()}
    return rows


def test_lines_are_those_of_the_report(measured, open_view):
    terminal = open_view(80, 60)
    terminal.view(measured.path, until="main")
    choose(terminal, "cold")
    terminal.keys("s")
    screen = terminal.wait_for("double x = hot(n / 4);")
    below = screen.split("Source", 1)[1]
    rows = source_rows(below)
    flat = measured.flat("line")
    expected = {}
    for row in flat:
        if row["file"] == str(measured.source) and row["line"]:
            line = expected.setdefault(row["line"], [0, 0])
            line[0] += row["samples"]
            line[1] += row["exclusive_ns"]
    assert str(measured.source) in below
    assert [line for line, row in rows.items() if row["mark"]] == [COLD_LINE]
    shown = 0
    for line, row in rows.items():
        samples, exclusive = expected.get(line, (0, 0))
        assert row["samples"] == samples, line
        assert row["share"] == ("%.1f" % (100 * exclusive / whole(flat)) if exclusive else ""), line
        assert " ".join(PROGRAM.splitlines()[line - 1].split()).startswith(" ".join(row["text"].split()))
        shown += samples > 0
    assert shown >= 2


def test_follows_the_cursor(measured, open_view):
    """Beside the main pane, the line of what its cursor is on is marked."""
    terminal = open_view(200, 60)
    terminal.view(measured.path, until="main")
    choose(terminal, "cold")
    terminal.keys("s")

    def marked(screen):
        beside = "\n".join(line.partition("│")[2] for line in screen.splitlines())
        return [line for line, row in source_rows(beside).items() if row["mark"]]

    lines = [(row["line"], row["exclusive_ns"], row["name"]) for row in measured.flat("line") if row["line"]]
    for name in ("cold", "hot", "step"):
        choose(terminal, name)
        hottest = max((row for row in lines if row[2] == name), key=lambda row: row[1])[0]
        terminal.wait(lambda screen: marked(screen) == [hottest], f"line {hottest} of {name}")


def test_calling_lines(measured, open_view):
    """In the mode of call sites a line has what it called, too; the whole file is on a screen of its own."""
    terminal = open_view(80, 24)
    terminal.view("--callsites", measured.path, until="main")
    choose(terminal, "main")
    terminal.keys("s")
    terminal.wait_for("sum += hot")
    rows = source_rows(terminal.screen(), inclusive=True)
    flat = measured.flat("line", "--callsites")
    lines = {row["line"]: row for row in flat if row["file"] == str(measured.source)}
    seen = 0
    for line, row in rows.items():
        if line in lines and row["incl"]:
            assert row["incl"] == "%.1f" % (100 * (lines[line]["inclusive_ns"] - lines[line]["idle_ns"]) / whole(flat)), line
            seen += 1
    assert seen >= 2
    calls = next(line for line, text in enumerate(PROGRAM.splitlines(), 1) if "sum += hot" in text)
    assert float(rows[calls]["incl"]) > 90


def test_hot_lines_by_key(measured, open_view):
    terminal = open_view(80, 24)
    terminal.view(measured.path, until="main")
    choose(terminal, "cold")
    terminal.keys("s")
    terminal.wait_for("x += x / (i + 3);")
    lines = {row["line"]: row["exclusive_ns"] for row in measured.flat("line") if row["file"] == str(measured.source)}
    hottest = max(lines.values())
    order = sorted(line for line, time_ in lines.items() if time_ >= hottest // 10)
    assert COLD_LINE in order and len(order) >= 2
    terminal.keys("Home")
    for line in order:
        terminal.keys("]")
        samples = [row["samples"] for row in measured.flat("line")
                   if row["file"] == str(measured.source) and row["line"] == line]
        terminal.wait_for(f"{sum(samples)} samples")
    terminal.keys("]")
    terminal.wait_for("no hot line below")
    terminal.keys("H")
    terminal.wait_for(", in cold")


def test_source_elsewhere(own, open_view, tmp_path):
    moved = tmp_path / "elsewhere" / own.folder.name
    moved.mkdir(parents=True)
    shutil.copy2(own.source, moved / "code.c")
    own.source.unlink()
    terminal = open_view(100, 30)
    terminal.view(own.path, until="main")
    choose(terminal, "cold")
    terminal.keys("s")
    screen = terminal.wait_for("is not where it was compiled")
    assert f"{own.source}: No such file" in screen
    assert "--map" in screen and "P asks" in screen
    # Not empty: the lines that are known.
    samples = sum(row["samples"] for row in own.flat("line") if row["line"] == COLD_LINE)
    assert re.search(rf"{samples} .* {COLD_LINE}▸ cold", screen)
    terminal.keys("P")
    terminal.wait_for("OLD=NEW")
    terminal.type(str(tmp_path / "elsewhere"))
    terminal.keys("Enter")
    screen = terminal.wait_for("x += x / (i + 3);")
    assert str(moved / "code.c") in screen
    terminal.keys("P")
    terminal.type("=nothing")
    terminal.keys("Enter")
    terminal.wait_for("neither OLD=NEW nor a folder")


def test_map_option(own, open_view, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    own.source.rename(other / "code.c")
    terminal = open_view(100, 30)
    terminal.view("--map", "/nowhere=/else", "--map", f"{own.folder}={other}", own.path, until="main")
    choose(terminal, "hot")
    terminal.keys("s")
    assert str(other / "code.c") in terminal.wait_for("x = step(x, i);")


def test_file_that_changed(own, open_view):
    terminal = open_view(100, 30)
    later = time.time() + 100
    os.utime(own.source, (later, later))
    terminal.view(own.path, until="main")
    choose(terminal, "cold")
    terminal.keys("s")
    terminal.wait_for("changed after what was measured was built")
    own.source.write_text("int nothing;\n")
    terminal.keys("r")
    terminal.wait_for("fewer lines than were measured")
    assert "int nothing;" in terminal.screen()
    own.source.unlink()
    terminal.keys("r")
    terminal.wait_for("is not where it was compiled")


def test_files_of_all_kinds(own, open_view):
    """Junk, tabs, other ends of lines, huge ones, what is no file: shown or said, and no crash."""
    terminal = open_view(100, 30)
    junk = bytes(range(256)) * 400
    with own.source.open("wb") as file:
        file.write(b"\xef\xbb\xbfone\r\n\ttab\r\n\xff\xfe broken\n" + b"x" * 300000 + b"\n" + junk)
        file.truncate(100 << 20)
    terminal.view(own.path, until="main")
    choose(terminal, "cold")
    terminal.keys("s")
    terminal.wait_for("? !")
    terminal.keys("Home")
    screen = terminal.wait_for("?? broken")
    assert " one" in screen and "         tab" in screen
    assert "\r" not in screen
    terminal.keys("s", "s", "End")
    for _ in range(20):
        terminal.keys("Right")
    terminal.keys("Home")
    own.source.unlink()
    own.source.mkdir()
    terminal.keys("r")
    terminal.wait_for("Is a directory")
    own.source.rmdir()
    os.mkfifo(own.source)
    terminal.keys("r")
    terminal.wait_for("Invalid argument")
    own.source.unlink()
    own.source.write_text("")
    terminal.keys("r")
    terminal.wait_for("fewer lines than were measured")
    terminal.keys("Down", "]", "[", "H", "Enter", "q")
    terminal.wait_ended()


def test_python_lines(open_view, tmp_path):
    script = tmp_path / "loop.py"
    script.write_text("def inner(n):\n    total = 0\n    for i in range(n):\n        total += i * i % 7\n    return total\n\n\n"
                      "print(sum(inner(60000) for _ in range(60)))\n")
    path = tmp_path / "experiment"
    assert run(HYBRID_RUN, "-q", "-o", path, "/usr/bin/python3", script).returncode == 0
    terminal = open_view(90, 30)
    terminal.view(path, until="total")
    choose(terminal, "inner")
    terminal.keys("s")
    screen = terminal.wait_for("total += i * i % 7")
    rows = source_rows(screen)
    flat = report_json("--flat=line", "--threshold=0", path)["rows"]
    samples = {}
    for row in flat:
        if row["file"] == str(script):
            samples[row["line"]] = samples.get(row["line"], 0) + row["samples"]
    for line, row in rows.items():
        assert row["samples"] == samples.get(line, 0)
    assert rows[4]["samples"] > 0
    terminal.keys("s", "a")
    terminal.wait_for("code of Python has no instructions")


# ------------------------------------------------------------- instructions


def instructions(screen):
    """(address, mnemonic, samples, marked) of all that are shown."""
    rows = []
    for line in screen.splitlines():
        match = re.match(r"^( {6}| *\d+\.\d) ( {7}| *\d+)(.*?) ([0-9a-f]{4,}) ([a-z][\w.]*)(?: |$)", line)
        if match:
            rows.append((int(match[4], 16), match[5], int(match[2].strip() or 0), "│" in match[3]))
    return rows


def objdump(program, function):
    text = run("objdump", "-d", "-M", "intel", "--no-show-raw-insn", f"--disassemble={function}", program).stdout
    return [(int(match[1], 16), match[2]) for match in re.finditer(r"^ *([0-9a-f]+):\t(\S+)", text, re.M)]


def wait_code(terminal, function):
    return terminal.wait(lambda screen: re.search(rf"^{re.escape(function)}: \d+ samples", screen, re.M) and instructions(screen),
                         f"the code of {function}")


@pytest.fixture(scope="module")
def capstone():
    if "libcapstone" not in run("ldd", BUILD / "viewer/hybrid-view").stdout:
        pytest.skip("built without capstone")


@pytest.mark.usefixtures("capstone")
@pytest.mark.parametrize("function", ["cold", "hot"])
def test_instructions(measured, open_view, function):
    """They are objdump's; their samples are those of the function, and stand where its code is."""
    terminal = open_view(119, 39)
    terminal.view(measured.path, until="main")
    choose(terminal, function)
    terminal.keys("a")
    rows = instructions(wait_code(terminal, function))
    assert [row[:2] for row in rows] == objdump(measured.program, function)
    samples = {row["name"]: row["samples"] for row in measured.flat("function")}
    inlined = samples["step"] if function == "hot" else 0
    assert sum(row[2] for row in rows) == samples[function] + inlined
    assert f"{function}: {samples[function]} samples" in terminal.screen()
    if function == "hot":
        assert sum(row[2] for row in rows if row[3]) == samples["hot"]


@pytest.mark.usefixtures("capstone")
def test_bytes(measured, open_view):
    """Where there is room for them; of long instructions the first eight."""
    terminal = open_view(139, 39)
    terminal.view(measured.path, until="main")
    choose(terminal, "cold")
    terminal.keys("a")
    screen = terminal.wait_for("<+0x")
    text = run("objdump", "-d", "-w", "--disassemble=cold", measured.program).stdout
    expected = {match[1]: match[2].split()[:8] for match in re.finditer(r"^ *([0-9a-f]+):\t([0-9a-f ]+)\t", text, re.M)}
    shown = {match[1]: match[2].split() for match in re.finditer(r" ([0-9a-f]{4}) ((?:[0-9a-f]{2} )+)", screen)}
    assert shown == expected and len(shown) > 10


@pytest.mark.usefixtures("capstone")
def test_inlined_function(measured, open_view):
    """Its instructions stand in the function that it was inlined into, and are marked."""
    terminal = open_view(100, 39)
    terminal.view(measured.path, until="main")
    choose(terminal, "step")
    terminal.keys("a")
    rows = instructions(wait_code(terminal, "step"))
    assert [row[:2] for row in rows] == objdump(measured.program, "hot")
    samples = {row["name"]: row["samples"] for row in measured.flat("function")}
    assert sum(row[2] for row in rows if row[3]) == samples["step"]
    for address, _, _, marked in rows:
        chain = run("addr2line", "-i", "-f", "-e", measured.program, hex(address)).stdout.split()
        assert marked == (chain[0] == "step"), hex(address)


@pytest.mark.usefixtures("capstone")
def test_called_samples(measured, open_view):
    """A call has what was taken in what it called; all of main's calls lead to all samples."""
    terminal = open_view(100, 39)
    terminal.view(measured.path, until="main")
    choose(terminal, "main")
    terminal.keys("a")
    screen = wait_code(terminal, "main")
    called = {match[2]: int(match[1]) for match in re.finditer(r" (\d+) +[0-9a-f]+ call +0x[0-9a-f]+ <(\w+)>", screen)}
    top = next(node for node in report_json("--routines", measured.path)["nodes"] if node["name"] == "main")

    def below(node):
        return node["samples"] + sum(below(child) for child in node["children"])

    assert set(called) == {"hot", "cold"}
    assert re.search(r"call +0x[0-9a-f]+ <printf>", screen)  # by way of the linker's stub
    assert sum(called.values()) == below(top)


@pytest.mark.usefixtures("capstone")
def test_keys_of_instructions(measured, open_view):
    terminal = open_view(100, 39)
    terminal.view(measured.path, until="main")
    choose(terminal, "cold")
    terminal.keys("a")
    rows = instructions(wait_code(terminal, "cold"))

    def cursor():
        """The address of the row that is reversed."""
        for line in terminal.screen(colours=True).splitlines():
            if "\033[7m" in line or ";7m" in line:
                match = instructions(re.sub(r"\033\[[\d;]*m", "", line).replace("\x0f", ""))
                if match:
                    return match[0][0]
        return None

    hottest = max(rows, key=lambda row: row[2])
    terminal.wait(lambda _: cursor() == hottest[0], "the cursor at the hottest")
    terminal.keys("Home", "]")
    first = next(row for row in rows if row[2] and row[2] >= hottest[2] // 10)
    terminal.wait(lambda _: cursor() == first[0], "the cursor at the first hot one")
    # From a jump backwards to where it leads.
    terminal.keys("/")
    terminal.type("^jne ")
    terminal.keys("Enter")
    jump = next(row[0] for row in rows if row[1] == "jne")
    terminal.wait(lambda _: cursor() == jump, "the cursor at the jump")
    target = int(re.search(r"jne +0x([0-9a-f]+) <\+0x", terminal.screen())[1], 16)
    assert target in [row[0] for row in rows]
    terminal.keys("Enter")
    terminal.wait(lambda _: cursor() == target, "the cursor at the target")
    terminal.keys("Enter")
    terminal.wait_for("no direct jump or call")
    terminal.keys("y")
    terminal.wait_for("%xmm")


@pytest.mark.usefixtures("capstone")
def test_handwritten_loop(open_view, tmp_path):
    """The loop of examples/assembly: no size, no call frame information, no lines; its label says where it is."""
    folder = SOURCE / "examples/assembly"
    program, path = tmp_path / "sums", tmp_path / "experiment"
    result = run("gcc", "-O2", f"-I{SOURCE}/include", folder / "sums.c", folder / "kernel.S", "-o", program)
    assert result.returncode == 0, result.stderr
    assert run(HYBRID_RUN, "-q", "-o", path, program, "10000").returncode == 0
    terminal = open_view(100, 39)
    terminal.view(path, until="sum up")
    choose(terminal, "sum up")
    terminal.keys("a")
    terminal.wait_for("is no machine code of its own")
    terminal.keys("a")
    terminal.keys("/")
    terminal.type("TKLOOP")
    terminal.keys("Enter", "a")
    rows = instructions(wait_code(terminal, ".TKLOOP16~"))
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in run("nm", program).stdout.splitlines()
               if len(line.split()) == 3}
    assert rows[0][0] == symbols[".TKLOOP16"]
    assert [row[1] for row in rows] == ["movsd", "mulsd", "addsd", "sqrtsd", "divsd", "add", "dec", "jne"]
    total = sum(row["samples"] for row in report_json("--flat=function", path)["rows"] if row["name"] == ".TKLOOP16~")
    assert sum(row[2] for row in rows) == total > 0
    # The slow ones are the root and the division; samples stand at what waits for them.
    assert sum(row[2] for row in rows[3:6]) > total / 2


@pytest.mark.usefixtures("capstone")
def test_other_file_than_ran(own, open_view):
    """Code is read only from what ran; else the addresses stay, with a word why."""
    samples = {row["name"]: row["samples"] for row in own.flat("function")}
    assert run("gcc", "-O1", "-g", own.source, "-o", own.program).returncode == 0
    terminal = open_view(120, 30)
    terminal.view(own.path, until="main")
    choose(terminal, "cold")
    terminal.keys("a")
    screen = terminal.wait_for("not all is shown")
    assert f"{own.program}: changed since the run" in screen
    assert not instructions(screen)
    assert f"cold: {samples['cold']} samples" in screen
    own.program.unlink()
    terminal.keys("r")
    terminal.wait_for(f"{own.program}: No such file")
