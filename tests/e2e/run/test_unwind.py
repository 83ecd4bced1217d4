"""Paths: the unwinder against libunwind, and against what is known of each program of the corpus."""

import os
import re

import pytest

from conftest import run
from known import PROGRAMS, program, walk

CORPUS = PROGRAMS / "corpus"
VARIANTS = sorted(path.name for path in CORPUS.glob("corpus-*") if path.is_file())

# Code without unwind information: libunwind cannot walk it, the known path is the reference.
WITHOUT_CFI = {"asm_leaf", "asm_push", "asm_frame", "asm_callback", "jit_frame", "jit_leaf", "jit_callback"}
# Samples on stacks that main did not begin.
OTHER_STACKS = {"asm_switch", "ucontext", "threads", "dlopen"}

# Part of the samples that may have a wrong path: the instructions by which libgcc jumps to a landing pad have no true rules.
UNKNOWN = {"exceptions": 0.01}

# What stands in each sample's path, outermost first; the rest of the path may be between.
# Last calls are jumps in optimised code, so that not every caller is there.
PATHS = {
    "recursion": ["recurse", "corpus_work"],
    "deep500": 50 * ["recurse"],
    "tail_calls": ["case_tail_calls", "tail_end"],
    "tiny": ["case_tiny"],
    "noreturn": ["case_noreturn", "calls_leap", "leap", "corpus_work"],
    "hot_cold": ["split_function"],
    "pointers": ["through_pointer"],
    "alloca": ["allocas", "corpus_work"],
    "vla": ["case_vla", "vla"],
    "realign": ["realigned"],
    "large_frame": ["large"],
    "handler": ["interrupted", "in_handler", "corpus_work"],
    "altstack": ["interrupted", "in_handler", "corpus_work"],
    "nested_handlers": ["interrupted", "raises_again"],
    "asm_cfi": ["asm_cfi"],
    "asm_expression": ["asm_expression"],
    "asm_leaf": ["calls_asm", "asm_leaf"],
    "asm_push": ["calls_asm", "asm_push"],
    "asm_frame": ["calls_asm", "asm_frame"],
    "asm_callback": ["asm_callback", "corpus_work"],
    "jit_frame": ["runs_jit"],
    "jit_leaf": ["runs_jit"],
    "jit_callback": ["case_jit_callback", "corpus_work"],
    "longjmp": ["case_longjmp"],
    "sigjmp": ["case_sigjmp"],
    "plt": ["case_plt"],
    "vdso": ["case_vdso"],
    "strings": ["case_strings"],
    "malloc": ["case_malloc"],
    "stdio": ["case_stdio"],
    "qsort": ["__qsort_r"],
    "exceptions": ["case_exceptions"],
    "fortran": ["case_fortran"],
}


@pytest.fixture(scope="session")
def oracle():
    path = PROGRAMS / "liboracle.so"
    if not path.exists() or not VARIANTS:
        pytest.skip("the corpus or libunwind is missing")
    return path


def compare(oracle, variant, case, out, ms=36):
    environment = {**os.environ, "LD_PRELOAD": str(oracle), "ORACLE_OUT": str(out)}
    result = run(CORPUS / variant, case, ms, env=environment)
    assert result.stdout == f"PASS {case}\n", (result.stdout, result.stderr, result.returncode)


def read_rows(out):
    rows, notes = {}, []
    for line in out.read_text(errors="replace").splitlines():
        if line.startswith("#"):
            notes.append(line)
        else:
            name, _, rest = line.partition(" ")
            rows[name] = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", rest)}
    return rows, notes


TOTAL = {"samples": 0, "same": 0, "explained": 0}


@pytest.mark.parametrize("variant", VARIANTS)
def test_agrees_with_libunwind(oracle, variant, tmp_path):
    """All of the corpus, sample by sample; the sums over all variants are below."""
    cases = run(CORPUS / variant).stdout.split()
    for case in cases:
        compare(oracle, variant, case, tmp_path / "out")
    rows, notes = read_rows(tmp_path / "out")
    assert set(rows) == set(cases)
    for case, row in rows.items():
        TOTAL["samples"] += row["samples"]
        TOTAL["same"] += row["same"]
        if case in WITHOUT_CFI:
            # libunwind gives up or goes astray; ours must come to main, or say that it does not know.
            TOTAL["explained"] += row["samples"] - row["same"] - row["astray"]
            assert row["main"] >= 0.99 * row["samples"], (case, row, notes)
        else:
            TOTAL["explained"] += row["longer"]  # libunwind knows nothing of code just loaded
            assert row["differ"] <= 1 + UNKNOWN.get(case, 0.002) * row["samples"], (case, row, notes)
            assert row["longer"] <= 0.05 * row["samples"], (case, row, notes)
        if case not in OTHER_STACKS:
            assert row["astray"] <= 1 + UNKNOWN.get(case, 0.002) * row["samples"], (case, row, notes)


@pytest.mark.skipif(not VARIANTS, reason="the corpus was not built")
def test_agreement_over_all():
    """At least 99.9 % of at least 100,000 samples, differences explained."""
    if not TOTAL["samples"]:
        pytest.skip("nothing was compared")
    if len(VARIANTS) == 12:
        assert TOTAL["samples"] >= 100000
    assert TOTAL["same"] + TOTAL["explained"] >= 0.999 * TOTAL["samples"], TOTAL
    print("agreement:", TOTAL)


def contains(path, wanted):
    """Whether the names stand in the path in this order."""
    rest = iter(path)
    return all(any(name == w or name.startswith(w + "(") for name in rest) for w in wanted)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v.endswith(("gcc-O2-nofp", "clang-O3-fp"))])
@pytest.mark.parametrize("case", PATHS)
def test_paths_are_right(measure, variant, case):
    if case not in run(CORPUS / variant).stdout.split():
        pytest.skip("not built: no compiler for it here")
    e = measure(CORPUS / variant, case, 240, options=["-q", "--rate", "2000", "--source", "timer"])
    assert e.stdout == f"PASS {case}\n"
    report = e.report("--functions")
    right = wrong = 0
    for path, node in walk(report["tree"]):
        if node["samples"] and contains([n["name"] for n in path], PATHS[case]):
            right += node["samples"]
        else:
            wrong += node["samples"]
    # The rest: reading the clock in main, the start and the end of the program.
    assert right >= 60 and right >= 0.85 * (right + wrong), (right, wrong)
    assert sum(report["quality"]["partial"].values()) <= 0.01 * (right + wrong) + 1


@pytest.mark.parametrize("case", ["ucontext", "asm_switch", "threads", "dlopen", "spawn"])
def test_survives(measure, case):
    e = measure(program("corpus/corpus-gcc-O2-nofp"), case, 150, options=["-q", "--rate", "5000", "--source", "timer"])
    assert (e.stdout, e.stderr, e.returncode) == (f"PASS {case}\n", "", 0)
    assert e.report("--quality")["quality"]["damage"] == 0


def test_coroutine_paths_begin_on_their_stack(measure):
    """And end there: makecontext() has them return to where nobody calls from."""
    e = measure(program("corpus/corpus-gcc-O2-nofp"), "ucontext", 150, options=["-q", "--rate", "2000", "--source", "timer"])
    report = e.report("--functions")
    on_stack = sum(
        node["samples"]
        for path, node in walk(report["tree"])
        if contains([n["name"] for n in path], ["generate", "yields", "corpus_work"])
    )
    quality = report["quality"]
    assert on_stack >= 0.7 * quality["samples"]
    assert sum(quality["partial"].values()) <= 0.01 * quality["samples"] + 1


def test_too_deep_is_cut_and_counted(measure):
    """12,000 frames: the innermost are kept, the cut is shown."""
    e = measure(program("corpus/corpus-gcc-O2-nofp"), "deep12000", 300, options=["-q", "--rate", "500", "--source", "timer"])
    report = e.report("--functions")
    assert report["quality"]["partial"]["too_deep"] > 0
    cut = [n for _, n in walk(report["tree"]) if n["kind"] == "incomplete"]
    assert cut and sum(n["inclusive_ns"] for n in cut) > 0


def test_guesses_are_bounded(measure, compile_c):
    """5,000 frames without unwind information: each costs some us, so that the outer ones are left out."""
    source = """
#include <time.h>
static volatile unsigned long sum;
static __attribute__((noinline)) int deep(int depth)
{
	struct timespec t = {0, 0};

	if (depth)
		return deep(depth - 1) + 1;
	while (t.tv_nsec < 300000000 && !t.tv_sec) {
		for (int i = 0; i < 100000; i++)
			sum += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	}
	return 0;
}
int main(void)
{
	return deep(5000) != 5000;
}
"""
    flags = ["-fno-asynchronous-unwind-tables", "-fno-optimize-sibling-calls"]
    quality = measure(compile_c(source, *flags), options=["-q"]).report("--quality")["quality"]
    assert quality["partial"]["too_deep"] >= 0.8 * quality["samples"] > 20
    assert quality["frames_guessed"] <= 1024 * quality["samples"]


def test_code_mapped_twice(measure, compile_c):
    """As V8 does with its builtins: names come from where the file has the code, not from a distance to the program."""
    source = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
static __attribute__((noinline)) void spin(unsigned long n)
{
	for (volatile unsigned long i = 0; i < n; i++)
		;
}
int main(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset, code = (unsigned long)spin;
	char line[4096], *copy;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx r-xp %lx", &start, &end, &offset) == 3 && code - start < end - start)
			break;
	copy = mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), (off_t)offset);
	((void (*)(unsigned long))(copy + (code - start)))(300000000);
	return copy == MAP_FAILED;
}
"""
    report = measure(compile_c(source, "-fno-omit-frame-pointer"), options=["-q"]).report()
    found = [path for path, node in walk(report["tree"]) if node["name"] == "spin" and node["file"].endswith(".c")]
    assert sum(path[-1]["samples"] for path in found) >= 0.9 * report["quality"]["samples"] > 20
    assert all("main" in str([node["name"] for node in path]) for path in found)


@pytest.mark.parametrize("stripped", ["-s", "-Wl,--build-id=none"])
def test_stripped_program(measure, compile_c, stripped):
    """Without symbols the paths are still paths: .eh_frame stays."""
    program_ = compile_c("shares.c", stripped)
    report = measure(program_, 200, options=["-q", "--rate", "1000", "--source", "timer"]).report()
    assert report["quality"]["samples"] > 100
    assert sum(report["quality"]["partial"].values()) <= 2
    if stripped == "-s":
        names = {n["name"] for n in report["nodes"] if n["depth"] == 1}
        assert "main" in names and not any("+0x" in name for name in names)
