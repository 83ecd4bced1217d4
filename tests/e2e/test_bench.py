"""bench/run works; what it measures is no test."""

import re

from conftest import BUILD, SOURCE, run


def test_each_row_is_measured():
    result = run(SOURCE / "bench/run", "--smoke", "--build", BUILD, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    help_text = run(SOURCE / "bench/run", "--help").stdout
    rows = re.findall(r"^  (\w+) {2,}\w", help_text.split("rows:")[1].split("Examples:")[0], re.M)
    assert len(rows) == 20
    assert re.findall(r"^### (\w+)$", result.stdout, re.M) == rows


def test_wrong_usage():
    unknown = run(SOURCE / "bench/run", "nothing")
    assert unknown.returncode == 2 and "no row nothing" in unknown.stderr
    absent = run(SOURCE / "bench/run", "--build", SOURCE / "docs")
    assert absent.returncode == 1 and "build it first" in absent.stderr
