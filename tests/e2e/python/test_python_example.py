"""examples/matmult: one Python program that calls a C library, seen in four ways (paper 003, figures 2 and 3)."""

import re
import shutil

import pytest

from conftest import BUILD, SOURCE, run

HOT = r"multiply_slow:matrix\.c:1[56]"  # the compiler knows the loop by either line


@pytest.fixture(scope="module")
def views():
    if not shutil.which("/usr/bin/python3") or not shutil.which("cc"):
        pytest.skip("needs /usr/bin/python3 and a C compiler")
    result = run(SOURCE / "examples/matmult/show", BUILD, timeout=120)
    assert result.returncode == 0, result.stderr
    texts = re.split(r"^=== (.*)$", result.stdout, flags=re.M)
    return dict(zip(("samples", "probes", "woven", "frames"), texts[2::2]))


def test_samples_only_show_the_interpreter(views):
    assert "_PyEval_EvalFrameDefault" in views["samples"] and re.search(HOT, views["samples"])
    assert "matmult.py:" not in views["samples"] and "MatrixSystem" not in views["samples"]


def test_probes_only_show_python_functions(views):
    assert re.search(r" 1 .* slow \(matmult.py:27\)", views["probes"])
    assert re.search(r" 2 .* MatrixSystem.product \(matmult.py:19\)", views["probes"])
    assert "multiply_slow" not in views["probes"] and "_PyEval" not in views["probes"]


@pytest.mark.parametrize("view, caller", [("woven", "MatrixSystem.product (matmult.py:19)"),
                                          ("frames", "[MatrixSystem.product:matmult.py]")])
def test_woven_shows_both(views, view, caller):
    text = views[view]
    assert "_PyEval" not in text and "Py_BytesMain" not in text and "ffi_call" not in text
    lines = [line.rstrip() for line in text.splitlines()]
    slow = next(i for i, line in enumerate(lines) if re.search(HOT, line))
    assert lines[slow - 1].endswith(caller) and "slow" in lines[slow - 2]
    assert sum("multiply_block:matrix.c" in line for line in lines) >= 1


def test_the_hot_line_is_the_inner_loop(views):
    source = (SOURCE / "examples/matmult/matrix.c").read_text().splitlines()
    assert "k < n" in source[14] and "sum +=" in source[15]
    for view in ("samples", "woven", "frames"):
        shares = {m[2]: float(m[1]) for m in re.finditer(r"([\d.]+) +[\d.]+ +\d+ +[^a-z]*(\w+:matrix.c:\d+)", views[view])}
        assert re.fullmatch(HOT, max(shares, key=shares.get))
