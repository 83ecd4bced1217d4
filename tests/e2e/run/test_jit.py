"""Code made at run time: names, lines, paths and what they cost, with the compilers that are here."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import HYBRID_RUN, report_json, run, wait_until
from interpreters import interpreters
from known import names, program, walk


@pytest.fixture
def made(measure):
    """As measure(), but what the program wrote to /tmp goes."""
    experiments = []

    def function(*command, **more):
        experiments.append(measure(*command, **more))
        return experiments[-1]

    yield function
    for e in experiments:
        for file in e.files:
            pid = re.search(r"-(\d+)\.\d+\.hyb$", file.name).group(1)
            Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)


def samples_of(tree, part):
    """Samples of innermost frames with `part` in their name, and all."""
    leaves = [(n["name"], n["samples"]) for _, n in walk(tree) if n["samples"]]
    return sum(samples for name, samples in leaves if part in name), sum(samples for _, samples in leaves)


def few_incomplete(report):
    return sum(report["quality"]["partial"].values()) <= 0.02 * report["quality"]["samples"] + 1


def test_address_has_the_code_of_its_time(made):
    """Four loops, one after the other at the same address, each for the same CPU time."""
    loops = ["alpha", "beta", "gamma", "delta"]
    e = made(program("made_code"), 250, *loops, options=["-q", "-r", "1000"])
    spent = {line.split()[0]: int(line.split()[1]) for line in e.stdout.splitlines()}
    assert list(spent) == loops, (e.stderr, e.returncode)
    tree = e.report("--functions")["tree"]
    for loop in loops:
        got, total = samples_of(tree, loop)
        share = spent[loop] / sum(spent.values())
        assert total >= 400 and abs(got / total - share) < 0.05, (loop, got, total, share)
    for path, node in walk(tree):
        if node["samples"] and node["name"] in loops:
            assert "main" in names(path)


def test_names_of_a_child_are_kept(made, tmp_path):
    """A process below a shell, whose names are gone when the report is made."""
    e = made("sh", "-c", f"{program('made_code')} 200 inner; echo $?", options=["-q", "-r", "1000"])
    assert e.stdout.splitlines()[-1] == "0"
    for file in e.path.glob("*.hyb"):
        pid = re.search(r"-(\d+)\.\d+\.hyb$", file.name).group(1)
        Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
    assert samples_of(e.report("--functions")["tree"], "inner")[0] >= 100


# Runs code that it made, then removes the file of names, and is killed.
REMOVED = """
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static const unsigned char loop[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char path[64];
    FILE *map;
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    map = fopen(path, "w");
    fprintf(map, "%lx %zx counting\\n", (unsigned long)page, sizeof(loop));
    fflush(map);
    memcpy(page, loop, sizeof(loop));
    while (clock() < CLOCKS_PER_SEC / 5)
        ((void (*)(long))page)(100000);
    fprintf(map, "1000 10 later\\n");
    fclose(map);
    unlink(path);
    kill(getpid(), argc > 1 ? SIGKILL : SIGTERM);
}
"""


@pytest.mark.parametrize("arguments", [[], ["kill"]], ids=["SIGTERM", "SIGKILL"])
def test_names_that_are_removed_are_kept(made, compile_c, tmp_path, arguments):
    if os.stat("/tmp").st_dev != os.stat(tmp_path).st_dev:
        pytest.skip("/tmp is another file system")
    e = made(compile_c(REMOVED), *arguments, options=["-q", "-r", "1000"])
    assert e.returncode < 0
    assert samples_of(e.report("--functions")["tree"], "counting")[0] >= 100
    (kept,) = e.path.glob("code-*")
    assert kept.stat().st_nlink == 1 and kept.read_text().endswith("1000 10 later\n")


# Compiles without end, and says when it has begun to run what it made.
RUNNING = REMOVED.split("while")[0] + """
    puts("runs");
    fflush(stdout);
    for (;;)
        ((void (*)(long))page)(100000);
}
"""


def test_names_while_the_program_runs(tmp_path, compile_c):
    if os.stat("/tmp").st_dev != os.stat(tmp_path).st_dev:
        pytest.skip("/tmp is another file system")
    command = [HYBRID_RUN, "-q", "-r", "1000", "-o", tmp_path / "e", compile_c(RUNNING)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout.readline() == "runs\n"
            wait_until(lambda: samples_of(report_json("--functions", tmp_path / "e")["tree"], "counting")[0] >= 20)
        finally:
            running.terminate()
    pid = next((tmp_path / "e").glob("*.hyb")).name.split("-")[-1].split(".")[0]
    Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
    assert not list((tmp_path / "e").glob("*.new"))


def test_files_of_others_are_not_taken(made, compile_c, tmp_path):
    """A map that was there before, and one that is a link: neither is of this process."""
    secret = tmp_path / "secret"
    secret.write_text("1 ffffffffffff secret\n")
    source = """
    #include <stdio.h>
    #include <sys/mman.h>
    #include <string.h>
    #include <time.h>
    #include <unistd.h>
    int main(int argc, char **argv)
    {
        static const unsigned char loop[] = {0x48, 0x83, 0xef, 0x01, 0x75, 0xfa, 0xc3};
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char path[64];
        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
        if (argc > 1 && symlink(argv[1], path))
            return 1;
        memcpy(page, loop, sizeof(loop));
        while (clock() < CLOCKS_PER_SEC / 5)
            ((void (*)(long))page)(100000);
        return 0;
    }
    """
    e = made(compile_c(source), secret, options=["-q", "-r", "1000"])
    assert e.returncode == 0
    assert not list(e.path.glob("code-*"))
    assert samples_of(e.report("--functions")["tree"], "[code without a module]")[0] >= 100


LOOPS = """
import time
def leaf(n):
    s = 0
    for i in range(n):
        s += i
    return s
def middle(n):
    return leaf(n) + leaf(n)
def outer(n):
    return sum(middle(200) for _ in range(n))
end = time.process_time() + 1.5
while time.process_time() < end:
    outer(50)
"""

PERF_PYTHONS = [i for i in interpreters() if i.minor >= (3, 12) and not i.free_threaded]


@pytest.mark.parametrize("python", PERF_PYTHONS, ids=str)
def test_python_with_perf_trampolines(made, tmp_path, python):
    """The tree is that of a run without them."""
    if run(python.path, "-X", "perf", "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())").returncode:
        pytest.skip("built without perf trampolines")
    (tmp_path / "loops.py").write_text(LOOPS)
    plain = made(python.path, "loops.py", options=["-q"]).report("--functions")
    e = made(python.path, "-X", "perf", "loops.py", options=["-q"])
    report = e.report("--functions")
    assert list(e.path.glob("code-*.map"))
    assert few_incomplete(report), report["quality"]
    assert not samples_of(report["tree"], "made at run time")[0]
    for tree in plain["tree"], report["tree"]:
        got, total = 0, 0
        for path, node in walk(tree):
            total += node["samples"]
            if [n for n in names(path) if n in ("outer", "middle", "leaf")][:3] == ["outer", "middle", "leaf"]:
                got += node["samples"]
        assert total >= 200 and got >= 0.8 * total, (got, total)


NUMBA = """
import time, numba
@numba.njit
def inner(n):
    s = 0.0
    for i in range(n):
        s += (i * 1.5) % 7.0
    return s
@numba.njit
def other(n):
    s = 0.0
    for i in range(n):
        s += inner(i % 50)
    return s
other(10)
end = time.process_time() + 1.5
while time.process_time() < end:
    other(20000)
"""


def test_numba_is_walked_by_what_it_registers(made, tmp_path):
    if subprocess.run(["/usr/bin/python3", "-c", "import numba"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no numba")
    (tmp_path / "n.py").write_text(NUMBA)
    report = made("/usr/bin/python3", "n.py", options=["-q"]).report("--functions")
    assert few_incomplete(report), report["quality"]
    # Destroying what numba made takes a tenth of the time.
    known = lambda path: any(x.startswith("<module") or x == "finalisation" for x in names(path))
    whole = sum(n["samples"] for path, n in walk(report["tree"]) if known(path))
    assert whole >= 0.9 * report["quality"]["samples"]


NODE = """
function leafWork(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 3; return s; }
function middleWork(n) { let s = 0; for (let i = 0; i < 20; i++) s += leafWork(n); return s; }
function outerWork(n) { return middleWork(n) + [1, 2, 3].map(x => middleWork(n + x)).reduce((a, b) => a + b); }
const end = process.cpuUsage().user + 1500000; let t = 0;
while (process.cpuUsage().user < end) t += outerWork(1000);
console.log(t > 0);
"""


@pytest.mark.parametrize("option", ["--perf-basic-prof", "--perf-prof"])
def test_node(made, needs, tmp_path, option):
    needs("node")
    (tmp_path / "n.js").write_text(NODE)
    e = made("node", option, "n.js", options=["-q"])
    assert e.stdout == "true\n", e.stderr
    report = e.report("--functions")
    assert few_incomplete(report), report["quality"]
    got, total = samples_of(report["tree"], "Work ")
    assert total >= 200 and got >= 0.7 * total, (got, total)
    below_main = sum(
        n["samples"]
        for path, n in walk(report["tree"])
        if "Work " in n["name"] and any(name.startswith("node::Start") for name in names(path))
    )
    assert below_main >= 0.95 * got


JAVA = """
public class Loops {
    static double inner(int n) { double s = 0; for (int i = 0; i < n; i++) s += Math.sqrt(i) * 0.5; return s; }
    static double middle(int n) { double s = 0; for (int i = 0; i < 20; i++) s += inner(n); return s; }
    public static void main(String[] a) {
        long end = System.nanoTime() + 2500000000L;
        double t = 0;
        while (System.nanoTime() < end) t += middle(1000);
        System.out.println(t > 0);
    }
}
"""


def test_java(made, needs, tmp_path):
    needs("java")
    needs("javac")
    options = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]
    if run("java", *options, "-version").returncode:
        pytest.skip("this java writes no map")
    (tmp_path / "Loops.java").write_text(JAVA)
    assert run("javac", "Loops.java", cwd=tmp_path).returncode == 0
    e = made("java", *options, "Loops", options=["-q"])
    assert e.stdout == "true\n", e.stderr
    report = e.report("--functions")
    assert sum(report["quality"]["partial"].values()) <= 0.1 * report["quality"]["samples"], report["quality"]
    got, total = samples_of(report["tree"], "Loops.")
    assert total >= 40 and got >= 0.5 * total, (got, total)


GO = """
package main

import "fmt"
import "os/user"
import "time"

//go:noinline
func inner(n int) float64 {
	s := 0.0
	for i := 0; i < n; i++ {
		s += float64(i%7) * 1.5
	}
	return s
}

//go:noinline
func middle(n int) float64 {
	s := 0.0
	for i := 0; i < 20; i++ {
		s += inner(n)
	}
	return s
}

func main() {
	user.Current()
	end := time.Now().Add(1500 * time.Millisecond)
	done := make(chan float64)
	for g := 0; g < 2; g++ {
		go func() {
			t := 0.0
			for time.Now().Before(end) {
				t += middle(1000)
			}
			done <- t
		}()
	}
	s := 0.0
	for time.Now().Before(end) {
		s += middle(1000)
	}
	s += <-done + <-done
	fmt.Println(s > 0)
}
"""


def build_go(tmp_path, *options, **environment):
    (tmp_path / "loops.go").write_text(GO)
    environment = {**os.environ, "GO111MODULE": "off", "GOCACHE": str(tmp_path / "cache"), **environment}
    result = run("go", "build", *options, "-o", "loops", "loops.go", cwd=tmp_path, env=environment)
    assert result.returncode == 0, result.stderr
    return tmp_path / "loops"


def test_go(made, needs, tmp_path):
    """Small stacks of goroutines are not written to; callers are who called, by frame pointers."""
    needs("go")
    loops = build_go(tmp_path, CGO_ENABLED="1")
    if not run("readelf", "-d", loops).stdout.count("NEEDED"):
        pytest.skip("this go builds static programs only")
    e = made(loops, options=["-q", "-r", "1000"])
    assert (e.stdout, e.returncode) == ("true\n", 0), e.stderr
    report = e.report("--functions")
    assert sum(report["quality"]["partial"].values()) <= 0.05 * report["quality"]["samples"], report["quality"]
    total = 0
    for path, node in walk(report["tree"]):
        if node["samples"] and node["name"] == "main.inner":
            total += node["samples"]
            above = [name for name in names(path) if not name.startswith("[")]
            assert above[-3:] == ["main.main.func1", "main.middle", "main.inner"] or above[-4:] == [
                "runtime.main",
                "main.main",
                "main.middle",
                "main.inner",
            ], above
    assert total >= 0.8 * report["quality"]["samples"] >= 80


def test_stripped_go(made, needs, tmp_path):
    """Names and lines come from the table that Go itself needs."""
    needs("go")
    loops = build_go(tmp_path, "-ldflags=-s -w", CGO_ENABLED="1")
    if not run("readelf", "-d", loops).stdout.count("NEEDED"):
        pytest.skip("this go builds static programs only")
    if ".symtab" in run("readelf", "-SW", loops).stdout:
        pytest.skip("this go does not strip")
    e = made(loops, options=["-q", "-r", "1000"])
    assert (e.stdout, e.returncode) == ("true\n", 0), e.stderr
    lines = {number for number, line in enumerate(GO.splitlines()[1:], 2) if "func inner" in line}
    first = lines.pop()
    inner = 0
    for path, node in walk(e.report()["tree"]):
        if node["samples"] and node["name"] == "main.inner":
            assert node["file"].endswith("/loops.go") and first <= node["line"] <= first + 6, node
            assert "main.middle" in names(path)
            inner += node["samples"]
    assert inner >= 0.8 * e.report()["quality"]["samples"] >= 20


def test_static_go_is_said(made, needs, tmp_path):
    needs("go")
    e = made(build_go(tmp_path, CGO_ENABLED="0"))
    assert e.stdout == "true\n"
    assert "loops is static: only its total time was measured" in e.stderr
