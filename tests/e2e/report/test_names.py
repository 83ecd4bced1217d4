"""Functions without a symbol: what they are called, in the report and in each file for others."""

import gzip
import platform

import pytest

from conftest import HYBRID_CONVERT, run
from test_convert_html import PAGE

FORMATS = ["collapsed", "speedscope", "pprof", "callgrind", "dot", "csv", "otf2", "perfetto", "chrome", "firefox"]
FORMATS += ["html"] if PAGE.exists() else []

HOT = r"""
__attribute__((noinline)) void exported(void)
{
	__asm__ volatile("");
}
__attribute__((noinline)) static void hidden(void)
{
	for (volatile int i = 0; i < 200000000; i++)
		;
}
int main(void)
{
	exported();
	hidden();
	return 0;
}
"""
LABEL = r"""
__asm__(".text\nlabel:\n\tmov $1000000000, %rax\n1:\tdec %rax\n\tjne 1b\n\tret\n");
void label(void);
int main(void)
{
	label();
	return 0;
}
"""


@pytest.fixture(params=["stripped", "label"])
def named(request, measure, compile_c):
    """An experiment, and what is to be the name of its hot function by what binutils say."""
    if request.param == "label":
        if platform.machine() != "x86_64":
            pytest.skip("its assembly code is for x86_64")
        program, name = compile_c(LABEL), "label~"
    else:
        program = compile_c(HOT, "-rdynamic")
        lines = run("nm", program).stdout.splitlines()
        address = next(int(line.split()[0], 16) for line in lines if line.endswith(" t hidden"))
        assert run("strip", "-s", program).returncode == 0
        name = f"{program.name}+{address:#x}"
    return measure(program, options=["-q", "-r", "1000"]), name


def text_of(path):
    """All that stands in a file, or in the files of a folder."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    data = b"".join(file.read_bytes() for file in files)
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def test_in_all_outputs(named, tmp_path):
    experiment, name = named
    report = experiment.report("--flat")
    hot = max(report["rows"], key=lambda row: row["exclusive_ns"])
    assert hot["name"] == name and hot["guess"]
    assert hot["samples"] >= 0.9 * report["quality"]["samples"] > 20
    for form in FORMATS:
        out = tmp_path / form
        result = run(HYBRID_CONVERT, "-q", experiment.path, "--to", form, "-o", out)
        assert result.returncode == 0, result.stderr
        assert name.encode() in text_of(out), form
