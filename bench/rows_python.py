"""Python programs: what frames mode costs, and starting an interpreter."""

import shutil

from measure import Missing, Row, interleave, middle, run
from rows_programs import bench_run, program

CALLS = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

class Point:
    def __init__(self, x): self.x = x
    def moved(self, by): return Point(self.x + by)

fib({depth})
p = Point(0)
for i in range({loops}): p = p.moved(1)
"""

C_CODE = """
import json, re, zlib
data = [{{"name": "n%d" % i, "values": list(range(i % 30))}} for i in range({size})]
for _ in range(4):
    text = json.dumps(data)
    assert json.loads(text) == data
    zlib.crc32(zlib.compress(text.encode(), 3))
    re.sub(r"n(\\d+)", lambda m: m.group(1), text)
    sorted(text)
"""


def interpreter():
    path = "/usr/bin/python3" if shutil.which("/usr/bin/python3") else shutil.which("python3")
    if not path:
        raise Missing("python3 is not installed")
    return path


def script(bench, name, text, **values):
    path = bench.scratch / name
    path.write_text(text.format(**values))
    return [interpreter(), path]


def python(bench):
    """Frames mode beside the native run, and at 997 Hz beside an empty handler on the same source."""
    yield f"interpreter: {run([interpreter(), '-VV']).out.strip()}"
    loads = {
        "python, many calls": script(bench, "calls.py", CALLS, depth=bench.pick(12, 29, 31),
                                     loops=bench.pick(1000, 1500000, 5000000)),
        "python, C code": script(bench, "c_code.py", C_CODE, size=bench.pick(100, 20000, 60000)),
    }
    for name, command in loads.items():
        yield from program(bench, name, command, bench.core, target=1.01)
    yield from start(bench)


def start(bench):
    command = [interpreter(), "-c", "pass"]
    runs = interleave({"native": lambda: run(command), "ours": lambda: bench_run(bench, command)}, bench.times(3, 20, 60))
    ours, native = ([r.wall for r in runs[name]] for name in ("ours", "native"))
    yield Row("hybrid-run python3 -c pass, wall time", f"{middle(ours).value * 1e3:.2f} ms",
              f"native {middle(native).value * 1e3:.2f} ms", middle([(a - b) * 1e3 for a, b in zip(ours, native)]), 20,
              unit="ms more")
