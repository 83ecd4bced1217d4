"""The line of every instruction of many functions, against what each interpreter says itself."""

import pytest

from conftest import BUILD, run
from interpreters import interpreters

LINES = BUILD / "tests/programs/lines"

# Writes the tables, and the lines that the interpreter itself takes its instructions to be on: as dis
# or co_lines() give them, and (they must agree) PyCode_Addr2Line. 0: none.
TABLES = r"""
import array, ctypes, dis, glob, os, struct, sys, sysconfig
tables, lines = open(sys.argv[1], "wb"), open(sys.argv[2], "wb")
addr2line = ctypes.pythonapi.PyCode_Addr2Line
addr2line.argtypes = [ctypes.py_object, ctypes.c_int]

def starts(code):
    if not hasattr(code, "co_lines"):
        return list(dis.findlinestarts(code))
    return [(start, line) for start, end, line in code.co_lines()]

def write(code):
    if sys.version_info < (3, 10):
        format, table = 1, code.co_lnotab
    else:
        format, table = 2 if sys.version_info < (3, 11) else 3, code.co_linetable
    count, expected = len(code.co_code) // 2, array.array("I")
    for start, line in starts(code):
        expected.extend([last] * (start // 2 - len(expected)) if start else [])
        last = max(line or 0, 0)
    expected.extend([last] * (count - len(expected)))
    assert expected.tolist() == [max(addr2line(code, 2 * i), 0) for i in range(count)], code
    tables.write(struct.pack("IIII", format, code.co_firstlineno, count, len(table)) + table)
    expected.tofile(lines)
    return 1 + sum(write(const) for const in code.co_consts if hasattr(const, "co_code"))

far = "def far(a):\n" + "\n" * 300 + "    a()" + "\n" * 129 + "    if a:\n        return [\n" + "b,\n" * 200 + "]\n"
back = "def back(a):\n    a(\n" + "\n" * 140 + "        a,\n" + "\n" * 5000 + "        a)(\na)\n    return a\n"
wide = "def wide(a):\n    return " + " + ".join("a.b(%d)" % i for i in range(600)) + "\n"
clean = "def clean(a):\n    with a as b:\n        try:\n            yield b\n        finally:\n            b()\n"
later = "async def later(a):\n    async with a as b:\n        async for c in b:\n            yield await c\n"
total = write(compile(far + back + wide + clean + later, "<made>", "exec"))
folder = sysconfig.get_path("stdlib")
for path in sorted(glob.glob(folder + "/*.py"))[:60] + sorted(glob.glob(folder + "/asyncio/*.py")):
    with open(path, "rb") as file:
        total += write(compile(file.read(), path, "exec"))
print(total)
"""


@pytest.mark.parametrize("python", interpreters(), ids=str)
def test_lines_are_the_interpreter_s_own(python, tmp_path):
    tables, lines = tmp_path / "tables", tmp_path / "lines"
    result = run(python.path, "-I", "-W", "ignore", "-c", TABLES, tables, lines)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 2000
    with open(tables, "rb") as file:
        decoded = run(LINES, stdin=file, text=False)
    assert decoded.returncode == 0
    expected = lines.read_bytes()
    assert len(expected) > 4 * 100000
    assert decoded.stdout == expected
