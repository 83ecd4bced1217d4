"""hybrid-run: which metrics it takes, refuses and lists, and what --check says."""

import os
import platform
import re
import resource
import shutil
from pathlib import Path

import pytest

from conftest import BUILD, HYBRID_RUN, read_values, run

DOUBLE = BUILD / "tests/programs/libpapi_double.so"
PAPI = BUILD / "src/launch/papi/libhybrid-papi.so"

needs_papi = pytest.mark.skipif(not PAPI.exists(), reason="built without PAPI")
needs_double = pytest.mark.skipif(not (DOUBLE.exists() and PAPI.exists()), reason="built without PAPI")

# perf_event_open as it is in containers that forbid it: for programs, a library to be preloaded.
FORBIDS = """
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		errno = EACCES;
		return -1;
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


@pytest.fixture
def forbidden(compile_c):
    return {**os.environ, "LD_PRELOAD": str(compile_c(FORBIDS, "-shared", "-fPIC", "-D_GNU_SOURCE"))}


DOUBLED = {**os.environ, "LD_PRELOAD": str(DOUBLE)}
# PAPI as this machine has it; one that does not know the processor; none.
STATES = {"papi": os.environ, "off": {**DOUBLED, "PAPI_DOUBLE_OFF": "1"}, "none": {**os.environ, "HYBRID_PAPI": ""}}


@pytest.fixture(params=STATES)
def state(request):
    """An environment: names of the kernel's events mean the same in each."""
    if request.param == "off" and not (DOUBLE.exists() and PAPI.exists()):
        pytest.skip("built without PAPI")
    return STATES[request.param]


def refusal(tmp_path, *options, **more):
    """The one line that hybrid-run says; it has not begun anything."""
    result = run(HYBRID_RUN, "-o", tmp_path / "e", *options, "touch", tmp_path / "started", **more)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("hybrid-run: ")
    assert not (tmp_path / "started").exists() and not (tmp_path / "e").exists()
    return result.stderr[len("hybrid-run: "):-1]


def handed_over(tmp_path, *options, **more):
    """What the program finds in HYBRID_METRICS, as lists of fields, and what hybrid-run said."""
    result = run(HYBRID_RUN, "-o", tmp_path / "e", *options, "sh", "-c", 'printf %s "$HYBRID_METRICS"', **more)
    assert result.returncode == 0, result.stderr
    items = result.stdout.split("\x1e")
    assert items.pop() == ""
    return [item.split("\x1f") for item in items], result.stderr


@pytest.mark.parametrize("options, line", [
    (["-m", "perf::PAGE-FAULT"], "perf::PAGE-FAULT: no such metric; similar: perf::PAGE-FAULTS"),
    (["-e", "perf::PAGE-FAULT@5"], "perf::PAGE-FAULT: no such metric; similar: perf::PAGE-FAULTS"),
    (["-m", "flops"], "flops: no such metric; `hybrid-run --list-metrics` shows all, and a counter of the program's "
                      "own is user::flops"),
    (["-m", "PAPI_NO_SUCH_THING_AT_ALL"], "PAPI_NO_SUCH_THING_AT_ALL: no such metric; `hybrid-run --list-metrics` shows all"),
    (["-m", "perf::PAGE-FAULTS:u"], "perf::PAGE-FAULTS:u: leave out :u and :k; "),
    (["-e", "perf::TASK-CLOCK@99999"], "-e perf::TASK-CLOCK@99999: that is too often; it grows all the time: "
                                       "give 100000 at least"),
])
def test_refuses_events(tmp_path, options, line, state):
    if "PAPI" in line and state is STATES["none"]:
        line = "PAPI_NO_SUCH_THING_AT_ALL: PAPI is not used, for HYBRID_PAPI is set and empty"
    assert refusal(tmp_path, *options, env=state).startswith(line)


@pytest.mark.parametrize("options, line", [
    (["-m", "page-falts"], "page-falts: no such metric; similar: perf::PAGE-FAULTS"),
    (["-m", "involuntary_switch"], "involuntary_switch: no such metric; similar: rusage::involuntary_switches"),
    (["-m", "rusage::minor_fault"], "rusage::minor_fault: no such metric; similar: rusage::minor_faults"),
    (["-m", "io::read_chars,memory::residnt"], "memory::residnt: no such metric; similar: memory::resident"),
    (["-m", ""], "--metric: its value is empty; "),
    (["-m", "io::read_chars,"], "-m: a name is missing; "),
    (["-m", "a,,b"], "-m: a name is missing; "),
    (["-m", "x" * 128], "-m: not the name of a metric; "),
    (["-m", "a\x1fb"], "-m: not the name of a metric; "),
    (["-m", "time"], "-m time: time is always measured; leave it out"),
    (["-m", "perf::PAGE-FAULTS@5"], "-m perf::PAGE-FAULTS@5: a period belongs to -e"),
    (["-m", "io::read_chars,io::read_chars"], "-m io::read_chars: it is given twice"),
    (["-m", "io::read_chars", "--metric=io::read_chars"], "-m io::read_chars: it is given twice"),
    (["-e", "perf::FAULTS@1", "-e", "perf::FAULTS@2"], "-e perf::FAULTS: it is given twice"),
    (["-m", "perf::faults,perf::FAULTS"], "-m perf::FAULTS: it is given twice"),
    (["-m", "perf::PAGE-FAULTS,perf::FAULTS"], "-m perf::FAULTS: it is given twice"),
    (["-m", ",".join(f"user::{i}" for i in range(17))], "-m user::16: that is more than 16 metrics; "),
    (["-m", "user::"], "user::: the counter's name is missing behind it"),
    (["-e", "rusage::minor_faults@5"], "-e rusage::minor_faults: cannot take samples: it is read, "),
    (["-e", "user::steps@5"], "-e user::steps: cannot take samples: it is read, "),
    *[(["-e", f"perf::FAULTS{end}"], f"-e perf::FAULTS{end}: give NAME@PERIOD with a whole number above 0, ")
      for end in ("", "@", "@0", "@-1", "@x", "@5x", "@1.5", "@1 ", "@99999999999999999999")],
])
def test_refuses_usage(tmp_path, options, line):
    assert refusal(tmp_path, *options).startswith(line)


def test_hands_over_own_metrics(tmp_path):
    items, said = handed_over(tmp_path, "-m", "rusage::user_time,user::steps", "--metric", "memory::resident", "-q")
    assert [item[:2] for item in items] == [["rusage::user_time", "0"], ["user::steps", "0"], ["memory::resident", "0"]]
    assert said == ""
    assert read_values(tmp_path / "e")["metrics"] == "rusage::user_time,user::steps,memory::resident"


def test_hands_over_events(tmp_path, state):
    """Numbers are those of linux/perf_event.h: type 1 is software, 2 page faults, 1 the task clock."""
    items, _ = handed_over(tmp_path, "-m", "perf::PAGE-FAULTS,io::read_calls", "-e",
                           "perf::TASK-CLOCK@1000000,perf::PAGE-FAULTS@100", env=state)
    assert items == [["perf::PAGE-FAULTS", "100", "+1:2:0:0", "", "", "page faults", ""],
                     ["io::read_calls", "0", ""],
                     ["perf::TASK-CLOCK", "1000000", "+1:1:0:0", "", "ns", "CPU time, by the clock of the thread", ""]]
    assert read_values(tmp_path / "e")["metrics"] == "perf::PAGE-FAULTS@100,io::read_calls,perf::TASK-CLOCK@1000000"


def test_event_before_metric_and_without_timer(tmp_path):
    items, _ = handed_over(tmp_path, "-e", "perf::FAULTS@7", "-m", "perf::faults", "-r", "0")
    assert [item[:2] for item in items] == [["perf::FAULTS", "7"]]
    assert "rate=0," in read_values(tmp_path / "e")["options"]


def test_without_timer_a_clock_comes_first(tmp_path):
    """It is what time is shared out by."""
    items, _ = handed_over(tmp_path, "-r", "0", "-m", "io::read_calls", "-e", "perf::FAULTS@7,perf::TASK-CLOCK@1000000")
    assert [item[:3] for item in items] == [["io::read_calls", "0", ""], ["perf::TASK-CLOCK", "1000000", "+1:1:0:0"],
                                            ["perf::FAULTS", "7", "+1:2:0:0"]]


def test_without_metrics_nothing_is_handed_over(tmp_path):
    result = run(HYBRID_RUN, "-o", tmp_path / "e", "sh", "-c", 'echo "${HYBRID_METRICS-none}"',
                 env={**os.environ, "HYBRID_METRICS": "rusage::user_time\x1f0\x1f\x1e"})
    assert result.stdout == "none\n"
    assert "metrics" not in read_values(tmp_path / "e")


def test_forbidden_events_are_refused(tmp_path, forbidden):
    line = refusal(tmp_path, "-m", "perf::PAGE-FAULTS", env=forbidden)
    assert line.startswith("perf::PAGE-FAULTS: cannot be counted: the kernel forbids it; lower ")
    items, _ = handed_over(tmp_path, "-m", "rusage::minor_faults", env=forbidden)
    assert items[0][0] == "rusage::minor_faults"


# Where PAPI has no events for want of a processor that it knows, it starts and the program asks the kernel itself.
PROGRAM_WITH_PAPI = """
#include <linux/perf_event.h>
#include <papi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	char name[] = "perf::PAGE-FAULTS", *pages = mmap(0, 500 * 4096, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_PAGE_FAULTS};
	long long faults = -1;
	int set = PAPI_NULL, fd = -1;

	attr.exclude_kernel = attr.exclude_hv = 1;
	madvise(pages, 500 * 4096, MADV_NOHUGEPAGE);
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || PAPI_create_eventset(&set))
		return 1;
	if (PAPI_add_named_event(set, name))
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0 && PAPI_start(set))
		return 4;
	for (int i = 0; i < 500; i++)
		pages[i * 4096] = 1;
	if (fd < 0 ? PAPI_stop(set, &faults) : read(fd, &faults, sizeof(faults)) != sizeof(faults))
		return 2;
	printf("%lld, then descriptor %d\\n", faults, fileno(tmpfile()));
	return faults >= 500 && faults < 520 ? 0 : 3;
}
"""


@needs_papi
def test_program_that_uses_papi_itself(measure, compile_c):
    if not Path("/usr/include/papi.h").exists():
        pytest.skip("libpapi-dev is not installed")
    program = compile_c(PROGRAM_WITH_PAPI, "-lpapi")
    alone = run(program)
    e = measure(program, options=["-m", "perf::PAGE-FAULTS,perf::TASK-CLOCK", "-e", "perf::MINOR-FAULTS@50"])
    assert (alone.returncode, e.returncode) == (0, 0)
    assert alone.stdout.partition(",")[2] == e.stdout.partition(",")[2]


# ---------------------------------------------- presets: the double stands for hardware that does not exist here


@needs_double
def test_preset_is_encoded(tmp_path):
    items, said = handed_over(tmp_path, "-m", "PAPI_TLB_DM", "-e", "PAPI_TOT_CYC@1000000", "-q", env=DOUBLED)
    assert items == [["PAPI_TLB_DM", "0", "+1:5:0:0+1:6:0:0", "e", "", "Data translation lookaside buffer misses", ""],
                     ["PAPI_TOT_CYC", "1000000", "+1:0:0:0", "e", "", "Total cycles", ""]]
    assert said == ""


@needs_double
def test_preset_that_is_a_difference(tmp_path):
    items, said = handed_over(tmp_path, "-m", "PAPI_BR_NTK", "-q", env=DOUBLED)
    assert items[0][2:4] == ["+1:2:0:0-1:6:0:0", ""]


@pytest.mark.parametrize("names, remark", [
    ("PAPI_TOT_CYC,PAPI_TOT_INS", None),
    ("PAPI_TOT_CYC,PAPI_TOT_INS,PAPI_FP_OPS", "PAPI_FP_OPS is more than the processor counts at once: "),
    ("PAPI_TOT_CYC,PAPI_L1_DCM,PAPI_FP_OPS", "PAPI_L1_DCM and PAPI_FP_OPS cannot be counted at the same time: "),
    ("PAPI_FP_OPS,PAPI_L1_DCM", "PAPI_FP_OPS and PAPI_L1_DCM cannot be counted at the same time: "),
])
@needs_double
def test_counters_that_do_not_fit_are_estimated(tmp_path, names, remark):
    items, said = handed_over(tmp_path, "-m", names, env=DOUBLED)
    assert {item[3] for item in items} == {"e" if remark else ""}
    if remark:
        assert said.startswith(f"hybrid-run: {remark}the kernel counts by turns, and values are estimated; ")
    else:
        assert "turns" not in said


@pytest.mark.parametrize("options, line", [
    (["-m", "PAPI_DP_OPS"], "PAPI_DP_OPS is computed from 2 counters; measure those (perf::PAGE-FAULTS, "
                            "perf::CPU-CLOCK ...), and derive it in hybrid-report"),
    (["-m", "PAPI_L3_TCM"], "PAPI_L3_TCM: this processor has no counter for it"),
    (["-m", "PAPI_TOT_CY"], "PAPI_TOT_CY: no such metric; similar: PAPI_TOT_CYC"),
    (["-e", "PAPI_TLB_DM@5"], "-e PAPI_TLB_DM: it is computed from 2 counters; sample by one of them"),
    (["-e", "PAPI_TOT_CYC@5"], "-e PAPI_TOT_CYC@5: that is too often; "),
])
@needs_double
def test_refuses_presets(tmp_path, options, line):
    assert refusal(tmp_path, *options, env=DOUBLED).startswith(line)


# ----------------------------------------------------------------------------------------------- --list-metrics


def test_list_of_own_metrics():
    result = run(HYBRID_RUN, "--list-metrics", "RUSAGE")
    assert (result.returncode, result.stderr) == (0, "" if PAPI.exists() else result.stderr)
    assert result.stdout == """\
CPU time: how much is the program's own, and how much the kernel's?
  rusage::user_time                   ns        CPU time in the program itself
  rusage::system_time                 ns        CPU time in the kernel

Switches: do threads wait, or lose their core to others?
  rusage::voluntary_switches                    times the thread waited
  rusage::involuntary_switches                  times the thread lost its core

Memory: how much is there, and where is it first touched?
  rusage::minor_faults                          page faults that needed no disk
  rusage::major_faults                          page faults that read from disk
"""


def test_list_has_each_metric_once_under_its_question():
    listed = run(HYBRID_RUN, "--list-metrics").stdout
    groups = {}
    for line in listed.splitlines():
        if line.startswith("  "):
            groups[title].append(line.split()[0])
        elif line:
            title = line.split(":")[0]
            groups[title] = []
    names = [name for group in groups.values() for name in group]
    assert len(names) == len(set(names))
    assert {"rusage::user_time", "perf::TASK-CLOCK"} <= set(groups["CPU time"])
    assert {"rusage::voluntary_switches", "perf::CONTEXT-SWITCHES"} <= set(groups["Switches"])
    assert {"memory::resident", "perf::PAGE-FAULTS"} <= set(groups["Memory"])
    assert {"io::read_bytes", "io::write_calls"} <= set(groups["Input and output"])
    assert groups["The program's own"] == ["user::NAME"]


@needs_double
def test_list_with_presets():
    result = run(HYBRID_RUN, "--list-metrics", env=DOUBLED)
    assert result.stderr == "" and result.stdout.count("perf::PAGE-FAULTS ") == 1  # PAPI's natives have it, too
    events = result.stdout[result.stdout.index("Presets"):result.stdout.index("\n-e: ")]
    assert events.rstrip() == """\
Presets of PAPI:
  PAPI_TOT_CYC                              -e  Total cycles
  PAPI_TOT_INS                              -e  Instructions completed
  PAPI_L1_DCM                               -e  Level 1 data cache misses
  PAPI_FP_OPS                               -e  Floating point operations
  PAPI_TLB_DM                                   Data translation lookaside buffer misses
  PAPI_BR_NTK                                   Conditional branch instructions not taken

Parts of PAPI that do not count here:
  sleeping                                      it stands here to be off"""


def test_software_events_by_their_names(tmp_path, state):
    """Each by its number in linux/perf_event.h, whatever PAPI knows; what counts nothing here may be refused."""
    numbers = {"CPU-CLOCK": 0, "TASK-CLOCK": 1, "PAGE-FAULTS": 2, "FAULTS": 2, "CONTEXT-SWITCHES": 3, "CS": 3,
               "CPU-MIGRATIONS": 4, "MIGRATIONS": 4, "MINOR-FAULTS": 5, "MAJOR-FAULTS": 6, "ALIGNMENT-FAULTS": 7,
               "EMULATION-FAULTS": 8}
    for name, number in numbers.items():
        items, _ = handed_over(tmp_path, "-m", f"perf::{name}", "-q", "-o", tmp_path / name, env=state)
        assert items[0][:3] == [f"perf::{name}", "0", f"+1:{number:x}:0:0"]
    items, _ = handed_over(tmp_path, "-m", "page-faults", "-q", env=state)
    assert items[0][:3] == ["page-faults", "0", "+1:2:0:0"]


def test_list_and_check_agree(state):
    listed = run(HYBRID_RUN, "--list-metrics", "perf::", env=state).stdout
    _, sections = checked("--check", env=state)
    counters = sections["Counters (hybrid-run --list-metrics names them)"]
    answer = "yes" if "  perf::PAGE-FAULTS " in listed else "no"  # no: containers that forbid it
    assert any(text.startswith("events of the kernel: ") for text in counters[answer])


@needs_double
def test_preset_where_papi_does_not_know_the_processor(tmp_path):
    assert refusal(tmp_path, "-m", "PAPI_TOT_CYC", env=STATES["off"]) == (
        "PAPI_TOT_CYC: PAPI's part perf_event is off: no default PMU")
    _, sections = checked("--check", env=STATES["off"])
    assert "PAPI's part perf_event: no default PMU" in sections["Counters (hybrid-run --list-metrics names them)"]["no"]


def test_all_that_is_listed_can_be_measured(tmp_path):
    lines = [line for line in run(HYBRID_RUN, "--list-metrics", "perf::").stdout.splitlines() if "perf::" in line]
    names = [line.split()[0] for line in lines]
    assert {"perf::PAGE-FAULTS", "perf::TASK-CLOCK", "perf::CONTEXT-SWITCHES"} <= set(names)
    sampling = {line.split()[0] for line in lines if re.match(r"  \S+ +(ns +)?-e  ", line)}
    for name in names[:24]:
        option = ["-e", f"{name}@1000000"] if name in sampling else ["-m", name]
        items, _ = handed_over(tmp_path, *option, "-q", "-o", tmp_path / name.replace(":", "_"))
        assert items[0][0] == name


@pytest.mark.parametrize("words", [["--list-metrics", "CLOCK"], ["--list-metrics=clock"], ["-q", "--list-metrics", "cLoCk"]])
def test_spellings_of_the_filter(words):
    result = run(HYBRID_RUN, *words)
    assert result.returncode == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")] == [
        "perf::CPU-CLOCK", "perf::TASK-CLOCK"] or platform.machine() != "x86_64"


def test_filter_that_is_spelt_wrongly():
    result = run(HYBRID_RUN, "--list-metrics", "pagefaults")
    assert result.returncode == 1 and "name or description; similar: perf::PAGE-FAULTS" in result.stderr


def test_filter_that_matches_nothing():
    result = run(HYBRID_RUN, "--list-metrics", "no such thing")
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.endswith("hybrid-run: --list-metrics no such thing: no metric has that in its name or description\n")


@pytest.mark.parametrize("words", [["--list-metrics", "a", "b"], ["--list-metrics=a", "b"]])
def test_more_than_a_filter(words):
    result = run(HYBRID_RUN, *words)
    assert (result.returncode, result.stderr) == (2, "hybrid-run: --list-metrics: give one filter, and no program\n")


# ------------------------------------------------------------------------------------------------------ --check


def checked(*words, **more):
    """Exit status, and what --check says as {title: {"yes": [...], "no": [...], "mend:": [...]}}; each of the last is below a no."""
    result = run(HYBRID_RUN, *words, **more)
    sections = {}
    for line in result.stdout.splitlines()[:-1]:
        if line.startswith("  "):
            before, (answer, _, text) = answer, line.strip().partition(" ")
            assert answer != "mend:" or before == "no"
            sections[title][answer].append(text.strip())
        else:
            title, answer = line, ""
            sections[title] = {"yes": [], "no": [], "mend:": []}
    assert result.stdout.splitlines()[-1] == ("The default measurement works." if result.returncode == 0
                                              else "The default measurement does not work.")
    return result.returncode, sections


def test_check_knows_the_machine():
    status, sections = checked("--check")
    assert status == 0
    counters = sections["Counters (hybrid-run --list-metrics names them)"]
    level = Path("/proc/sys/kernel/perf_event_paranoid")
    if level.exists():
        assert any(f"perf_event_paranoid is {level.read_text().strip()}" in text for text in counters["yes"] + counters["no"])
    for kind, name in (("mpich", "MPICH"), ("openmpi", "Open MPI")):
        there = (BUILD / f"src/mpi/libhybrid-mpi-{kind}.so").exists()
        assert any(text.startswith(name) for text in sections["MPI"]["yes" if there else "no"])
    python = sections["Python (CPython 3.8 to 3.13: functions, lines and probes)"]
    for minor in range(6, 16):
        found = f"python3.{minor}" in python["yes"]
        assert found == (8 <= minor <= 13 and bool(shutil.which(f"python3.{minor}")))


@needs_double
def test_check_names_parts_of_papi():
    _, sections = checked("--check", env=DOUBLED)
    counters = sections["Counters (hybrid-run --list-metrics names them)"]
    assert "PAPI's part sleeping: it stands here to be off" in counters["no"]
    assert any(text.startswith("PAPI's part perf_event: ") for text in counters["yes"])


def test_check_where_perf_is_forbidden(forbidden):
    status, sections = checked("--check", env=forbidden)
    assert status == 0  # the timer remains
    assert any(text.startswith("task clock of perf_event_open: the kernel forbids it; lower /proc/sys/kernel/")
               for text in sections["Samples and probes"]["no"])
    assert any(text.startswith("events of the kernel: ") for text in
               sections["Counters (hybrid-run --list-metrics names them)"]["no"])


def test_check_of_an_ignored_signal():
    _, sections = checked("--check", "--signal", "40", preexec_fn=lambda: __import__("signal").signal(40, 1))
    assert any("is ignored by who started this" in text for text in sections["Samples and probes"]["no"])


def test_check_of_programs(tmp_path, compile_c):
    program = compile_c("int main(void)\n{\n\treturn 0;\n}\n")
    bare, stripped = tmp_path / "bare", tmp_path / "stripped"
    assert run("strip", "-g", "-o", bare, program).returncode == 0
    assert run("strip", "-o", stripped, program).returncode == 0
    for path, answer, text in ((program, "yes", "functions, lines and inlined functions"),
                               (bare, "no", "functions only; compile with -g for lines"),
                               (stripped, "no", "stripped; compile with -g, ")):
        status, sections = checked("--check", path)
        assert status == 0
        lines = sections[str(path)]
        assert "can be measured" in lines["yes"]
        assert lines[answer][-1].startswith(f"debug information: {text}")


def test_check_of_what_cannot_be_measured(compile_c):
    program = compile_c("int main(void)\n{\n\treturn 0;\n}\n", "-static")
    status, sections = checked("--check", program)
    assert status == 1
    assert sections[str(program)]["no"] == ["it is static: it can be run, not measured"]


def test_check_of_a_script_and_of_nothing(tmp_path):
    script = tmp_path / "app.py"
    script.write_text("print(1)\n")
    status, sections = checked("--check", script)
    assert status == 0 and sections[str(script)]["yes"][0].startswith("runs with /")
    result = run(HYBRID_RUN, "--check", tmp_path / "missing")
    assert (result.returncode, result.stdout) == (127, "")


def test_check_measures_a_program(tmp_path):
    status, sections = checked("--check", cwd=tmp_path)
    files = sections["Files and limits"]
    assert status == 0 and {f"experiments go to the working directory, {tmp_path}", "a trial: the command true was measured"} <= set(files["yes"])
    assert not list(tmp_path.iterdir())  # nothing stays
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    status, sections = checked("--check", cwd=tmp_path, preexec_fn=limit)
    files = sections["Files and limits"]
    assert status == 1 and "a trial: the command true could not be measured" in files["no"]
    assert "ulimit -f unlimited" in files["mend:"]


def test_check_where_nothing_can_be_written():
    status, sections = checked("--check", cwd="/proc")
    files = sections["Files and limits"]
    assert status == 0 and any(text.startswith("experiments go to the working directory, /proc: ") for text in files["no"])
    assert "hybrid-run -o /tmp/NAME PROGRAM" in files["mend:"]


def test_check_of_few_files(tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    _, sections = checked("--check", cwd=tmp_path, preexec_fn=limit)
    assert "open files: 100; each thread with counters needs some" in sections["Files and limits"]["no"]
    assert "ulimit -n 4096" in sections["Files and limits"]["mend:"]


def test_check_knows_each_mpi_that_is_here(tmp_path):
    _, sections = checked("--check", cwd=tmp_path)
    for kind, name in (("mpich", "MPICH"), ("openmpi", "Open MPI")):
        if shutil.which(f"mpiexec.{kind}") and (BUILD / f"src/mpi/libhybrid-mpi-{kind}.so").exists():
            said, = [text for text in sections["MPI"]["yes"] if text.startswith(name)]
            version = run(f"mpiexec.{kind}", "--version").stdout
            assert re.search(r" is ([\d.]+)$", said)[1] in version
