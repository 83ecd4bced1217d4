"""hybrid-run: what the program notices of it (nothing), and what the user does."""

import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, read_values, run


@pytest.mark.parametrize("status", [0, 1, 42, 126, 127, 255])
def test_exit_status_passes(measure, status):
    e = measure("sh", "-c", f"exit {status}")
    assert e.returncode == status
    assert e.values["status"] == f"exit {status}"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGSEGV", "SIGKILL", "SIGABRT", "SIGPIPE", "SIGRTMIN"])
def test_ends_by_the_same_signal(measure, name):
    number = getattr(signal, name)
    e = measure("sh", "-c", f"kill -{number:d} $$")
    assert e.returncode == -number
    assert e.values["status"] == f"signal {name if name != 'SIGRTMIN' else int(number)}"


def test_leaves_no_core_of_its_own(measure, tmp_path):
    if open("/proc/sys/kernel/core_pattern").read().startswith("|"):
        pytest.skip("cores go to a program here")
    measure("sh", "-c", "ulimit -c 0; kill -SEGV $$")
    assert not list(tmp_path.glob("core*"))


def test_streams_pass_byte_by_byte(measure):
    data = os.urandom(1 << 20)
    e = measure("sh", "-c", "tee /dev/stderr", options=["-q"], input=data, text=False)
    assert e.stdout == data
    assert e.stderr == data


def test_stdout_is_the_programs_alone(measure):
    e = measure("echo", "hello")
    assert e.stdout == "hello\n"
    lines = e.stderr.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("hybrid-run: ") for line in lines)
    assert str(e.path) in lines[0]
    assert re.search(r"\d+\.\d+ s wall, \d+\.\d+ s CPU", lines[1])
    assert lines[2].endswith(f"hybrid-report {e.path}")


def test_quiet_is_quiet(measure):
    e = measure("true", options=["-q"])
    assert (e.stdout, e.stderr) == ("", "")


def test_options_end_at_the_program(measure):
    assert measure("echo", "-q", "--report", "--", "-o", "x").stdout == "-q --report -- -o x\n"
    assert measure("--", "echo", "-q").stdout == "-q\n"


def test_argv_and_path_are_as_without(measure, tmp_path):
    script = "import sys; print(open('/proc/self/cmdline','rb').read())"
    assert measure(sys.executable, "-c", script, "", "a b").stdout == run(sys.executable, "-c", script, "", "a b").stdout
    (tmp_path / "here").write_text("#!/bin/sh\necho $0\n")
    (tmp_path / "here").chmod(0o755)
    assert measure("./here").stdout == "./here\n"
    assert measure("here", env={**os.environ, "PATH": f":{os.environ['PATH']}"}).stdout == "./here\n"


def test_environment_adds_only_its_own(measure):
    def variables(text):
        return dict(line.split("=", 1) for line in text.split("\0") if line)

    env = {"PATH": os.environ["PATH"], "A": "1", "EMPTY": "", "LINES": "x\ny"}
    alone = variables(run("env", "-0", env=env).stdout)
    e = measure("env", "-0", env=env)
    below = variables(e.stdout)
    assert below.pop("HYBRID_DIR") == str(e.path)
    assert re.fullmatch(r"/\S*/libhybrid.so(:/\S*/libhybrid-mpi.so)?", below.pop("LD_PRELOAD"))
    assert re.sub(r"(,interrupt=\d+:\d+)?(,switch=\d+)?,parent=\d+$", "", below.pop("HYBRID_OPTIONS")) == e.values["options"]
    assert below == alone


def test_preload_of_the_user_stays(measure, compile_c):
    library = compile_c("int users_library;\n", "-shared", "-fPIC")
    e = measure("env", env={**os.environ, "LD_PRELOAD": str(library)})
    assert re.search(rf"^LD_PRELOAD=/\S*/libhybrid.so(:/\S*/libhybrid-mpi.so)?:{library}$", e.stdout, re.M)


def test_options_reach_the_runtime(measure):
    e = measure("env", options=["-r", "997", "--source", "perf", "--trace", "--trace-limit", "3M", "--budget", "2.5",
                                "--demote", "7:9", "--signal", "40", "--python", "hooks", "--mpi", "off", "--files=node"])
    assert re.search(r"^HYBRID_OPTIONS=rate=997,source=perf,trace=1,trace_limit=3145728,budget=25,demote=7:9,signal=40,python=hooks,mpi=off,files=node(,interrupt=\d+:\d+)?(,switch=\d+)?,parent=\d+$",
                     e.stdout, re.M)
    e = measure("env", options=["--wall", "--demote=0", "--trace-limit=0", "--rate=0", "--python=off"])
    assert re.search(r"^HYBRID_OPTIONS=rate=0,source=wall,trace=0,trace_limit=0,budget=50,demote=0:0,signal=16,python=off,mpi=auto,files=auto,parent=\d+$",
                     e.stdout, re.M)


def test_defaults(measure):
    options = dict(pair.split("=") for pair in measure("true").values["options"].split(","))
    assert 0 < int(options.pop("rate")) <= 200
    assert options == {"source": "auto", "trace": "0", "trace_limit": str(1 << 30), "budget": "50",
                       "demote": "100000:500", "signal": "16", "python": "frames", "mpi": "auto", "files": "auto"}
    assert "demote=10000:500," in measure("true", options=["--python=hooks"]).values["options"]


@pytest.mark.parametrize("rate", [0, 1, 10000])
def test_rates_that_are_right(measure, rate):
    assert measure("true", options=["-r", rate]).returncode == 0


@pytest.mark.parametrize("options, says", [
    (["-r", "10001"], "0 .* 10000"), (["-r", "1000000"], "0 .* 10000"), (["-r", "-1"], "0 .* 10000"),
    (["-r", "1e3"], "--rate 1e3"), (["-r", ""], "--rate"), (["--rate=99999999999999999999"], "--rate"),
    (["--source", "gpu"], "auto, cpu, perf or timer"), (["--wall", "--source", "cpu"], "--wall"),
    (["--trace-limit", "1T"], "K, M or G"), (["--trace-limit", "9999999999G"], "--trace-limit"),
    (["--trace-limit", "1MB"], "--trace-limit"),
    (["--budget", "0"], "percent"), (["--budget", "101"], "percent"), (["--budget", "x"], "percent"),
    (["--demote", "5"], "CALLS:NANOSECONDS"), (["--demote", "5:"], "CALLS"), (["--demote", ":5"], "CALLS"),
    (["--signal", "9"], "--signal 9"), (["--signal", "0"], "--signal"), (["--signal", "65"], "--signal"),
    (["--python", "on"], "frames, hooks or off"), (["--python="], "its value is empty"),
    (["--mpi", "on"], "auto or off"), (["--files", "host"], "auto, process or node"),
    (["--filter", "/does/not/exist"], "/does/not/exist"), (["--filter", "/"], "/: .*directory"),
    (["--bogus"], "--bogus"), (["-o"], "-o: its value is missing"), ([], "no program"),
])
def test_wrong_usage(tmp_path, options, says):
    program = ["true"] if options and options != ["-o"] else []
    result = run(HYBRID_RUN, *options, *program, cwd=tmp_path)
    assert result.returncode == 2
    assert re.search(says, result.stderr)
    assert len(result.stderr.splitlines()) <= 2
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("text, fault", [
    ("include a*\nexclud b\n", ":2: a line is"), ("include\n", ":1: a pattern is missing"),
    ("# c\n\n  exclude  \n", ":3: a pattern is missing"), ("include " + "x" * 1024, ":1: .*longer"),
    ("exclude python:\n", ":1: a pattern is missing"), ("exclude # all\n", ":1: a pattern is missing"),
    ("inc\0lude a\n", ":1: a zero byte"),
])
def test_filter_faults_are_found_first(tmp_path, text, fault):
    (tmp_path / "filter").write_text(text)
    result = run(HYBRID_RUN, "--filter", "filter", "echo", "ran", cwd=tmp_path)
    assert result.returncode == 2
    assert re.search("filter" + fault, result.stderr)
    assert result.stdout == ""


def test_filter_reaches_the_runtime(measure, tmp_path):
    (tmp_path / "filter").write_text("# mine\n\ninclude solve_*\nexclude python:json.*\n\texclude operator new(unsigned long)\r\n")
    e = measure("env", options=["--filter", "filter"])
    assert f"\nHYBRID_FILTER={tmp_path}/filter\n" in "\n" + e.stdout
    outer = {**os.environ, "HYBRID_FILTER": "/of/another/run"}
    assert "HYBRID_FILTER" not in measure("env", env=outer).stdout


def test_help_and_version_are_for_stdout():
    result = run(HYBRID_RUN, "--help")
    assert result.returncode == 0
    assert "Examples:" in result.stdout and result.stderr == ""
    assert re.fullmatch(r"hybrid-run \d+\.\d+\.\d+\n", run(HYBRID_RUN, "--version").stdout)


def test_report_at_the_end(measure, tmp_path):
    if not HYBRID_REPORT.exists():
        pytest.skip("hybrid-report is not built")
    e = measure("echo", "hello", options=["--report"])
    assert e.stdout == "hello\n"
    assert e.stderr.count("hybrid-run: ") == 3
    assert run(HYBRID_REPORT, e.path).stdout.splitlines()[:3] == e.stderr.splitlines()[3:6]
    assert len(e.files) == 1  # hybrid-report was not measured
    e = measure("echo", "hello", options=["-q", "--report"])
    assert "hybrid-run: " not in e.stderr and e.stderr


# ------------------------------------------------------------- the directory


def test_default_directory_and_its_second(tmp_path):
    for _ in range(3):
        assert run(HYBRID_RUN, "-q", "/bin/true", cwd=tmp_path).returncode == 0
    names = sorted(os.listdir(tmp_path))
    assert len(names) == 3
    assert all(re.fullmatch(r"hyb-true-\d{8}-\d{6}(-[23])?", name) for name in names)


def test_directory_that_exists_must_be_empty(tmp_path):
    (tmp_path / "empty").mkdir()
    assert run(HYBRID_RUN, "-q", "-o", "empty", "true", cwd=tmp_path).returncode == 0
    before = sorted(os.listdir(tmp_path / "empty"))
    result = run(HYBRID_RUN, "-o", "empty", "echo", "ran", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert re.search("empty.*not empty.*-o", result.stderr) and len(result.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path / "empty")) == before


@pytest.mark.parametrize("path, says", [
    ("missing/parent", "No such file"), ("file", "not a directory"), ("file/below", "Not a directory"),
    ("x" * 300, "too long"),
])
def test_directory_that_cannot_be(tmp_path, path, says):
    (tmp_path / "file").write_text("")
    result = run(HYBRID_RUN, "-o", path, "echo", "ran", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert says in result.stderr and len(result.stderr.splitlines()) == 1
    assert os.listdir(tmp_path) == ["file"]


def test_read_only_place(small_disk):
    disk = small_disk("size=64k", flags=1)
    for options in [], ["-o", "x"]:
        result = run(HYBRID_RUN, *options, "echo", "ran", cwd=disk)
        assert (result.returncode, result.stdout) == (1, "")
        assert "Read-only" in result.stderr and "-o" in result.stderr


@pytest.mark.parametrize("size", ["4k", "8k"])
def test_full_disk(small_disk, size):
    disk = small_disk(f"size={size}")
    result = run(HYBRID_RUN, "echo", "ran", cwd=disk)
    assert (result.returncode, result.stdout) == (1, "")
    assert re.search("hyb-echo-.*No space left.*make room", result.stderr)
    assert not os.listdir(disk)


def test_directory_with_a_strange_name(tmp_path):
    result = run(HYBRID_RUN, "-o", "it's $HOME", "true", cwd=tmp_path)
    assert result.returncode == 0
    assert result.stderr.splitlines()[2].endswith(r"'it'\''s $HOME'")
    assert (tmp_path / "it's $HOME" / "experiment").exists()


# ---------------------------------------------------------- what is written


def test_experiment_file(measure, tmp_path):
    e = measure("sh", "-c", "sleep 0.2; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", "a\nb\\c", "it's")
    values = e.values
    assert values["command"].endswith(" 'a\nb\\c' 'it'\\''s'")
    assert values["command"].startswith("sh -c 'sleep")
    assert values["program"] == os.path.realpath("/bin/sh")
    assert values["directory"] == str(tmp_path)
    assert values["host"] == os.uname().nodename
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", values["started"])
    assert values["started"] <= values["ended"]
    assert 0.2e9 < int(values["wall_ns"]) < 20e9
    assert 1e6 < int(values["user_ns"]) < 20e9
    assert 500 < int(values["max_rss_kb"]) < 100000
    assert int(values["system_ns"]) >= 0
    assert re.fullmatch(r"\d+\.\d+\.\d+", values["hybrid"])


def test_experiment_file_while_running(tmp_path):
    with subprocess.Popen([HYBRID_RUN, "-o", "x", "sh", "-c", "echo up; read line"], cwd=tmp_path, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == "up\n"
        values = read_values(tmp_path / "x")
        assert "status" not in values and values["command"].startswith("sh -c")
        process.stdin.write("\n")
        process.stdin.close()
        process.wait()
    assert "status" in read_values(tmp_path / "x")


def test_vdso_is_an_elf_file_with_symbols(measure):
    e = measure("true")
    if not (e.path / "vdso.so").exists():
        pytest.skip("this kernel has no vdso")
    assert "clock_gettime" in run("readelf", "-W", "--dyn-syms", e.path / "vdso.so").stdout


def test_directory_removed_by_the_program(measure):
    e = measure("sh", "-c", 'rm -r "$HYBRID_DIR"; exit 7')
    assert e.returncode == 7
    assert "cannot write" in e.stderr


# -------------------------------------------------------------- what is run


@pytest.mark.parametrize("name", ["no-such-program", "./no-such-program", "/no/such/program", "/dev/null/x", ""])
def test_missing_program(tmp_path, name):
    result = run(HYBRID_RUN, name, cwd=tmp_path)
    assert result.returncode == 127
    assert result.stderr.startswith(f"hybrid-run: {name}: not found")
    assert not os.listdir(tmp_path)


def make(path, content, mode=0o755):
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_programs_that_cannot_be_executed(tmp_path):
    make(tmp_path / "plain", b"echo\n", 0o644)
    make(tmp_path / "binary", b"\x7fELF\0\0\0")
    (tmp_path / "folder").mkdir()
    make(tmp_path / "script", b"#!/no/such/interpreter\n")
    for name, status in ("plain", 126), ("binary", 126), ("folder", 126), ("script", 127):
        result = run(HYBRID_RUN, f"./{name}", cwd=tmp_path)
        assert (name, result.returncode) == (name, status)
        assert result.stderr.startswith(f"hybrid-run: ./{name}: ") and len(result.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == ["binary", "folder", "plain", "script"]


def test_scripts(measure, tmp_path):
    make(tmp_path / "with", b"#!/bin/sh\necho $0 $1\n")
    make(tmp_path / "without", b"echo $0 $1\n")
    make(tmp_path / "twice", f"#!{tmp_path}/with\n".encode())
    for name in "with", "without", "twice":
        e = measure(f"./{name}", "x")
        assert (e.returncode, e.stdout) == (0, run("sh", "-c", f"./{name} x", cwd=tmp_path).stdout)


ANSWER = "int main(void)\n{\n\treturn 5;\n}\n"


def only_total(e, name, why):
    lines = e.stderr.splitlines()
    assert len(lines) == 3
    assert re.search(rf"{name} {why}.*: only its total time was measured", lines[1])
    assert not e.files
    assert int(e.values["wall_ns"]) > 0


def test_static_program(measure, compile_c):
    program = compile_c(ANSWER, "-static")
    e = measure(program)
    assert e.returncode == 5
    only_total(e, program, "is static")


def test_static_interpreter_of_a_script(measure, compile_c, tmp_path):
    program = compile_c(ANSWER, "-static")
    make(tmp_path / "script", f"#!{program}\n".encode())
    e = measure("./script")
    assert e.returncode == 5
    only_total(e, "./script", "is static")


def test_sanitized_program(measure, compile_c):
    """gcc's AddressSanitizer refuses to start behind another library."""
    program = compile_c(ANSWER, "-fsanitize=address")
    e = measure(program)
    assert e.returncode == 5
    only_total(e, program, "is built with AddressSanitizer")


def test_32_bit_program(measure, tmp_path):
    make(tmp_path / "a.c", ANSWER.encode())
    if run("gcc", "-m32", "a.c", "-o", "a", cwd=tmp_path).returncode or run(tmp_path / "a").returncode != 5:
        pytest.skip("no 32-bit programs here")
    e = measure("./a")
    assert e.returncode == 5
    only_total(e, "./a", "is a 32-bit program")


def test_32_bit_program_in_a_measured_one(measure, tmp_path):
    """Its dynamic linker must not be given a library that it cannot load."""
    make(tmp_path / "a.c", ANSWER.encode())
    if run("gcc", "-m32", "a.c", "-o", "a", cwd=tmp_path).returncode or run(tmp_path / "a").returncode != 5:
        pytest.skip("no 32-bit programs here")
    native = run("sh", "-c", "./a; exec ./a", cwd=tmp_path)
    e = measure("sh", "-c", "./a; exec ./a", options=["-q"])
    assert (e.returncode, e.stdout, e.stderr) == (native.returncode, native.stdout, native.stderr)


def test_other_c_library(measure, compile_c, tmp_path):
    """Only the name of the dynamic linker differs, as musl's does."""
    own = re.search(r"interpreter: (.*)\]", run("readelf", "-l", "/bin/true").stdout).group(1)
    linker = tmp_path / "ld-other.so.1"
    linker.symlink_to(own)
    program = compile_c(ANSWER, f"-Wl,--dynamic-linker={linker}")
    e = measure(program)
    assert e.returncode == 5
    only_total(e, program, r"uses another C library \(ld-other.so.1\)")


def test_setuid_program(measure, compile_c, tmp_path):
    if os.getuid():
        pytest.skip("needs root to make one")
    program = tmp_path / "setuid"
    program.write_bytes(compile_c(ANSWER).read_bytes())
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    e = measure(program)
    assert e.returncode == 5
    only_total(e, program, "runs with other rights")
