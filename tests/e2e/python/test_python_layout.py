"""The offsets that the runtime knows, against the headers of each interpreter and what it publishes itself."""

import json

import pytest

from conftest import BUILD, run
from interpreters import interpreters

LAYOUTS = BUILD / "tests/programs/liblayouts.so"
every_interpreter = pytest.mark.parametrize("python", interpreters(), ids=str)

ASK = """
import ctypes, json, sys
layouts = ctypes.CDLL(sys.argv[1])
def address(name):
    return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
def fits(version, code_type, runtime):
    return bool(layouts.layout_fits(version, ctypes.c_void_p(code_type), ctypes.c_void_p(runtime)))
code_type, runtime = address("PyCode_Type"), address("_PyRuntime")
version = sys.version_info[0] << 8 | sys.version_info[1]

def damaged(address, size, word):
    copy = ctypes.create_string_buffer(ctypes.string_at(address, size), size)
    copy[8 * word + 1] = copy[8 * word + 1][0] ^ 1
    return copy
def fits_damaged_runtime(word):
    copy = damaged(runtime, 1024, word)
    return fits(version, code_type, ctypes.addressof(copy))
def fits_damaged_type(word):
    copy = damaged(code_type, 128, word)
    return fits(version, ctypes.addressof(copy), runtime)

layouts.layout_write(version, sys.argv[2].encode())
print(json.dumps({
    "fits": fits(version, code_type, runtime),
    "fits_newer": fits(version + 1, code_type, runtime),
    "fits_damaged_type": fits_damaged_type(4),
    "fits_damaged_runtime": [fits_damaged_runtime(word) for word in range(74)],
}))
"""

# Words of _Py_DebugOffsets in CPython 3.13 that the sampler depends on.
PUBLISHED = {
    "cookie": 0, "free_threaded": 2, "thread_state.interp": 22, "thread_state.current_frame": 23,
    "thread_state.thread_id": 24, "thread_state.datastack_chunk": 26, "interpreter_frame.previous": 29,
    "interpreter_frame.executable": 30, "interpreter_frame.instr_ptr": 31, "interpreter_frame.localsplus": 32,
    "interpreter_frame.owner": 33, "code_object.filename": 35, "code_object.name": 36, "code_object.qualname": 37,
    "code_object.linetable": 38, "code_object.firstlineno": 39, "code_object.co_code_adaptive": 43,
    "pyobject.ob_type": 45, "bytes_object.ob_size": 65, "bytes_object.ob_sval": 66, "unicode_object.state": 68,
    "unicode_object.length": 69, "unicode_object.asciiobject_size": 70,
}


@pytest.fixture
def ask(tmp_path):
    def function(python):
        table = tmp_path / "table"
        result = run(python.path, "-c", ASK, LAYOUTS, table)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout), numbers(table.read_text())

    return function


def numbers(text):
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


@every_interpreter
def test_the_table_is_what_the_headers_say(python, compile_c, ask):
    if not python.has_headers():
        pytest.skip(f"no headers of {python}: {python.include}/Python.h is missing")
    _, table = ask(python)
    truth = numbers(run(compile_c("python/layout_check.c", f"-I{python.include}", "-w")).stdout)
    assert truth["version"] == python.minor[0] << 8 | python.minor[1]
    assert table == {**dict.fromkeys(table, 0), **truth}


@every_interpreter
def test_the_running_interpreter_fits(python, ask):
    answers, _ = ask(python)
    assert answers["fits"] == (not python.free_threaded)
    assert not answers["fits_damaged_type"]
    if python.minor >= (3, 10):
        assert not answers["fits_newer"]


@pytest.mark.parametrize(
    "python", [python for python in interpreters() if python.minor >= (3, 13) and not python.free_threaded], ids=str
)
def test_a_difference_in_what_is_published_is_noticed(python, ask):
    answers, _ = ask(python)
    assert [name for name, word in PUBLISHED.items() if answers["fits_damaged_runtime"][word]] == []
