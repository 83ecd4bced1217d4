"""Hybrid built for another processor: unit tests of the runtime and an example, run by qemu, read by the tools of this one."""

import re
import shutil

import pytest

from conftest import HYBRID_DUMP, SOURCE, report_json, run

CROSS = SOURCE / "scripts/cross/aarch64.ini"
QEMU = ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")


@pytest.fixture(scope="module", params=["gcc", "clang"])
def build(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("aarch64") / "build"
    trial = path.with_name("trial")
    trial.with_suffix(".c").write_text("#include <math.h>\nint main(int argc, char **argv) { return (int)sqrt(argc * 49); }\n")
    if run("sh", "-c", f"aarch64-linux-gnu-gcc {trial}.c -o {trial} -lm && {' '.join(QEMU)} {trial}").returncode != 7:
        pytest.skip("needs gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static (scripts/setup --tests)")
    options = ["--cross-file", CROSS, "-Dtools=false", "-Dwerror=true"]
    if request.param == "clang": # it takes the C library and the linker of the other
        if not shutil.which("clang"):
            pytest.skip("clang is not installed")
        trial.with_suffix(".ini").write_text("[binaries]\nc = ['clang', '--target=aarch64-linux-gnu']\n")
        options += ["--cross-file", trial.with_suffix(".ini")]
    for command in (("/usr/bin/meson", "setup", path, SOURCE, *options), ("ninja", "-C", path)):
        result = run(*command, timeout=900)
        assert result.returncode == 0, result.stdout + result.stderr
    return path


def test_units(build):
    result = run("/usr/bin/meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", timeout=300)
    assert result.returncode == 0, result.stdout
    assert "OK" in result.stdout


def test_library_is_as_elsewhere(build):
    library = build / "src/runtime/libhybrid.so"
    dynamic = run("readelf", "-d", library).stdout
    assert set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) <= {"libc.so.6", "ld-linux-aarch64.so.1"}
    assert "TEXTREL" not in dynamic
    assert not re.search("TLSDESC|DTPMOD", run("readelf", "-rW", library).stdout)


def test_nbody(build, tmp_path):
    """The kernel starts no program of another processor: hybrid-run starts qemu, which has it load the runtime."""
    sources = sorted((SOURCE / "examples/nbody").glob("*.c"))
    compiled = run("aarch64-linux-gnu-gcc", "-O2", "-g", "-pthread", f"-I{SOURCE}/include", *sources, "-o", tmp_path / "nbody", "-lm")
    assert compiled.returncode == 0, compiled.stderr
    plain = run(*QEMU, "./nbody", "2", cwd=tmp_path, timeout=300)
    measured = run(*QEMU, build / "src/run/hybrid-run", "-o", tmp_path / "experiment", *QEMU,
                   "-E", f"LD_PRELOAD={build}/src/runtime/libhybrid.so", "./nbody", "2", cwd=tmp_path, timeout=300)
    assert measured.returncode == 0, measured.stderr
    assert measured.stdout == plain.stdout != ""

    report = report_json(tmp_path / "experiment")
    quality = report["quality"]
    assert quality["samples"] > 30
    assert not any(quality["partial"].values()) and not quality["frames_guessed"]
    assert not any(quality["faults"].values()) and not quality["open_regions"]
    calls = {}
    for node in report["nodes"]:
        calls[node["name"]] = calls.get(node["name"], 0) + node["calls"]
    assert (calls["simulate"], calls["wait for all"], calls["snapshot"]) == (2, 12, 1)

    # What is inlined and where it is called from, by the tools of this processor.
    work, = [node for node in report["tree"]["children"][0]["children"] if node["name"] == "work"]
    step = next(node for node in work["children"] if node["name"] == "step")  # beside it, at times: energy, a line of work
    forces = next(node for node in step["children"] if node["name"] == "forces")
    assert {"pull"} <= {node["name"] for node in forces["children"]}
    seconds = {}  # a function's own lines stand beside what it calls
    for node in step["children"]:
        seconds[node["name"]] = seconds.get(node["name"], 0) + node["inclusive_ns"]
    assert seconds["forces"] == max(seconds.values())
    assert "clock" in run(HYBRID_DUMP, tmp_path / "experiment").stdout


def test_unknown_processor_is_said(tmp_path):
    """Whatever compiler there is: meson believes its file."""
    (tmp_path / "other.ini").write_text("""[binaries]
c = 'gcc'
[host_machine]
system = 'linux'
cpu_family = 'sparc64'
cpu = 'sparc64'
endian = 'big'
""")
    result = run("/usr/bin/meson", "setup", tmp_path / "build", SOURCE, "--cross-file", tmp_path / "other.ini")
    assert result.returncode
    errors = [line.split("ERROR: ")[1] for line in result.stdout.splitlines() if "ERROR: " in line]
    assert errors == ["Problem encountered: Hybrid does not know the processor sparc64: there is no folder src/runtime/arch/sparc64"]
