"""hybrid-view on what is large: from an experiment to the first tree, from a key to its screen."""

import fcntl
import os
import pty
import select
import shutil
import statistics
import struct
import termios
import time

from measure import Middle, Row, run

TARGET = 2000  # ms until the first tree of a million nodes is there
KEY_TARGET = 50  # ms from a key to the last byte of its screen
KEYS = {"down": "\x1bOB", "page down": "\x1b[6~", "end": "\x1bOF", "home": "\x1bOH", "open all": "+", "order": ">",
        "turn": "I", "hot path": "h", "close all": "-", "flat": "3", "reverse": "2", "tree": "1"}
QUIET = 0.15  # seconds without a byte: the screen is whole


def viewer(bench):
    """A million nodes of a thousand processes, as the viewer opens them; the least of several runs, since others
    use the machine."""
    ranks, nodes = bench.pick((5, 50), (1000, 1000), (1000, 1000))
    path = bench.scratch / "view"
    run([bench.program("synthetic"), path, ranks, nodes])
    takes = [figures(bench, path) for _ in range(bench.times(2, 3, 6))]
    report = min(run([bench.hybrid_report, path]).wall for _ in takes)
    keys = [latencies(bench, path) for _ in range(bench.times(1, 3, 6))]
    shutil.rmtree(path)
    what = f"{takes[0]['nodes']:,} nodes of {takes[0]['locations']:,} threads"
    # the first one looks names up, the others have them
    for text, runs in (("opened first", takes[:1]), ("opened again", takes[1:])):
        wall, cpu = least(runs, "open_ms"), least(runs, "open_cpu_ms")
        yield Row(f"{what}, {text}", f"{wall} ms, {cpu} ms CPU", f"at most {TARGET} ms", exactly(wall / TARGET), 1)
    yield Row(f"{what}, as hybrid-report", f"{wall} ms", f"hybrid-report {report * 1000:.0f} ms",
              exactly(wall / report / 1000))
    other, peak = least(takes, "mode_ms"), max(take["peak_kib"] for take in takes)
    yield Row(f"{what}, in the other mode", f"{other} ms", f"opening {wall} ms", exactly(other / wall))
    slowest = {key: statistics.median(take[key] for take in keys) for key in KEYS}
    key = max(slowest, key=slowest.get)
    yield Row(f"{what}, the slowest of {len(KEYS)} keys", f"{slowest[key]:.1f} ms ({key})", f"at most {KEY_TARGET} ms",
              Middle(slowest[key] / KEY_TARGET, *(edge(take[key] for take in keys) / KEY_TARGET for edge in (min, max))), 1)
    yield Row(f"{what}, memory", f"{peak / 1024:.0f} MiB", "a node", exactly(peak * 1024 / takes[0]["nodes"]), unit="bytes")


def least(takes, name):
    return min(take[name] for take in takes)


def exactly(value):
    return Middle(value, value, value)


def figures(bench, path):
    words = run([bench.program("view_scale"), path]).out.split()
    return dict(zip(words[::2], map(int, words[1::2])))


def latencies(bench, path):
    """Milliseconds from each key to the last byte of what it draws, in a terminal of 200x60."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(bench.build / "viewer/hybrid-view", ["hybrid-view", str(path)])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    drawn(terminal, 2)
    took = {}
    for name, key in KEYS.items():
        begin = time.monotonic()
        os.write(terminal, key.encode())
        took[name] = (drawn(terminal, QUIET) - begin) * 1000
    os.write(terminal, b"q")
    drawn(terminal, 2)
    os.close(terminal)
    os.waitpid(pid, 0)
    return took


def drawn(terminal, quiet):
    """When the last byte came before it was quiet for so long."""
    last = time.monotonic()
    while select.select([terminal], [], [], quiet)[0]:
        try:
            if not os.read(terminal, 1 << 16):
                break
        except OSError:  # the other side has closed it
            break
        last = time.monotonic()
    return last
