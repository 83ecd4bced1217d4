"""An installed Hybrid, its prefix moved elsewhere: each command, what build systems find, completion in bash and zsh."""

import json
import os
import re
import shlex
import shutil

import pytest

from conftest import BUILD, SOURCE, read_values, run
from terminal import Terminal

VERSION = re.search(r"version: '(.*?)'", (SOURCE / "meson.build").read_text())[1]
COMMANDS = ["hybrid-run", "hybrid-report", "hybrid-view", "hybrid-dump", "hybrid-convert"]


class Prefix:
    def __init__(self, path):
        self.path = path
        self.library, = path.rglob("libhybrid-reader.so")

    def command(self, name):
        return self.path / "bin" / name

    def run(self, name, *words, **more):
        result = run(self.command(name), *words, **more)
        assert result.returncode == 0, result.stderr
        return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not shutil.which("meson"):
        pytest.skip("meson is not installed")
    folder = tmp_path_factory.mktemp("install")
    result = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder / "first")
    assert result.returncode == 0, result.stderr
    options = json.loads(run("meson", "introspect", "--buildoptions", BUILD).stdout)
    before, = [option["value"] for option in options if option["name"] == "prefix"]
    os.rename(folder / "first" / before.lstrip("/"), folder / "moved")
    return Prefix(folder / "moved")


@pytest.fixture(scope="module")
def measured(prefix, tmp_path_factory):
    """An experiment of a program with probes, measured from the moved tree."""
    folder = tmp_path_factory.mktemp("measured")
    built = run("cc", "-O2", "-g", "-pthread", f"-I{prefix.path}/include", *sorted((SOURCE / "examples/nbody").glob("*.c")),
                "-o", folder / "nbody", "-lm")
    assert built.returncode == 0, built.stderr
    prefix.run("hybrid-run", "-o", folder / "experiment", folder / "nbody")
    return folder / "experiment"


def test_moved_commands(prefix, measured, tmp_path):
    for name in COMMANDS:
        assert prefix.run(name, "--version") == f"{name} {VERSION}\n"
    tree = json.loads(prefix.run("hybrid-report", "--json", measured))
    simulate, = [node for node in tree["nodes"] if node["name"] == "simulate"]
    assert simulate["calls"] == 2
    assert "simulate" in prefix.run("hybrid-dump", "--defs", measured)
    assert "simulate" in prefix.run("hybrid-convert", measured, "--to", "collapsed", "-o", "-")
    report = run(prefix.command("hybrid-run"), "--report", "-o", tmp_path / "again", "true")
    assert report.returncode == 0 and "call tree" in report.stderr
    assert prefix.run("hybrid-run", "--check").endswith("The default measurement works.\n")


def test_moved_page(prefix, measured, tmp_path):
    if not (prefix.path / "share/hybrid/hybrid-page.html").exists():
        pytest.skip("the page was not built: npm has installed nothing")
    prefix.run("hybrid-convert", measured, "--to", "html", "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > (prefix.path / "share/hybrid/hybrid-page.html").stat().st_size


def test_moved_viewer(prefix, measured, tmp_path, needs):
    needs("tmux")
    with Terminal(tmp_path) as terminal:
        terminal.command(prefix.command("hybrid-view"), measured)
        terminal.wait_for("simulate")
        terminal.keys("q")
        terminal.wait_ended()


def test_moved_counters(prefix):
    if not list(BUILD.glob("src/launch/papi/libhybrid-papi.so")):
        pytest.skip("libpapi-dev is not installed")
    assert list(prefix.path.rglob("libhybrid-papi.so"))
    assert "PAPI's part perf_event" in prefix.run("hybrid-run", "--check")


def test_moved_ranks(prefix, mpi, tmp_path):
    """The wrappers of MPI, and the ranks of hybrid-report, which find each other by a library of the moved tree."""
    program = mpi.compile("#include <mpi.h>\nint main(int c, char **v)\n{\n\tMPI_Init(&c, &v);\n\tMPI_Barrier(MPI_COMM_WORLD);\n"
                          "\treturn MPI_Finalize();\n}\n")
    environment = mpi.environment()
    result = run(*mpi.mpiexec_words(2), prefix.command("hybrid-run"), "-o", tmp_path / "experiment", program, env=environment)
    assert result.returncode == 0, result.stderr
    result = run(*mpi.mpiexec_words(2), prefix.command("hybrid-report"), "--json", "--mpi", tmp_path / "experiment", env=environment)
    assert result.returncode == 0, result.stderr
    assert "libhybrid-ranks" not in result.stderr
    calls = {row["name"]: row["calls"] for row in json.loads(result.stdout)["functions"]}
    assert calls["MPI_Barrier"] == 2
    assert read_values(tmp_path / "experiment")["ranks"] == "2"


def test_moved_python_package(prefix):
    package = list(prefix.path.rglob("hybrid/__init__.py"))
    if not package:
        pytest.skip("python3-dev is not installed")
    result = run("/usr/bin/python3", "-c", "import hybrid; print(hybrid.__file__); hybrid.region('a'); hybrid.open",
                 env={**os.environ, "PYTHONPATH": str(package[0].parents[1])})
    assert (result.returncode, result.stdout) == (0, f"{package[0]}\n")


def test_one_version_everywhere():
    assert re.search(r"^## (\S+)", (SOURCE / "CHANGELOG.md").read_text(), re.M)[1] == VERSION
    assert (SOURCE / "debian/changelog").read_text().startswith(f"hybrid ({VERSION}) ")


PLACES = """version size enter leave enter_name leave_name count count_real parameter parameter_int marker pause resume metadata
thread_name enter_frame""".split()


def test_programs_of_today_are_measured_by_later_versions(tmp_path):
    """What is built into programs: members that they use by their places (docs/stability.md). Only more may follow."""
    (tmp_path / "places.c").write_text("#include <hybrid/hybrid.h>\n" + "".join(
        f"_Static_assert(offsetof(struct hybrid_api, {name}) == {4 * min(i, 2) + 8 * max(i - 2, 0)}, \"\");\n"
        for i, name in enumerate(PLACES)) + "_Static_assert(sizeof(struct hybrid_region) == 32, \"\");\n"
        "_Static_assert(sizeof(struct hybrid_counter) == 24, \"\");\n")
    result = run("cc", "-fsyntax-only", f"-I{SOURCE}/include", tmp_path / "places.c")
    assert result.returncode == 0, result.stderr


# ------------------------------------------------------------ build systems


PROBES = """
#include <hybrid/hybrid.h>
int main(void)
{
	HYBRID_ENTER("installed");
	HYBRID_LEAVE("installed");
	return 0;
}
"""
READS = """
#include <hybrid/reader.h>
int main(int argc, char **argv)
{
	struct hyb_experiment *experiment = 0;
	struct hyb_error error;
	int result = hyb_experiment_open(argv[1], &experiment, &error);
	hyb_experiment_close(experiment);
	return result ? 1 : 0;
}
"""
FORTRAN = """
program main
   use hybrid
   call hybrid_enter('installed')
   call hybrid_leave('installed')
end program main
"""


def regions(prefix, program, folder):
    prefix.run("hybrid-run", "-q", "-o", folder, program)
    report = json.loads(prefix.run("hybrid-report", "--json", folder))
    return {node["name"]: node["calls"] for node in report["nodes"] if node["calls"]}


def package_words(prefix, *words):
    path = next(prefix.path.rglob("hybrid.pc")).parent
    if "pcfiledir" not in (path / "hybrid.pc").read_text():
        pytest.skip("this build folder was made before its .pc files could be moved: meson setup --wipe")
    result = run("pkg-config", *words, env={**os.environ, "PKG_CONFIG_PATH": str(path)})
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_pkg_config(prefix, tmp_path, needs, measured):
    needs("pkg-config")
    assert package_words(prefix, "--modversion", "hybrid", "hybrid-reader") == [VERSION, VERSION]
    (tmp_path / "probes.c").write_text(PROBES)
    (tmp_path / "reads.c").write_text(READS)
    for name, package in (("probes", "hybrid"), ("reads", "hybrid-reader")):
        built = run("cc", tmp_path / f"{name}.c", "-o", tmp_path / name, *package_words(prefix, "--cflags", "--libs", package))
        assert built.returncode == 0, built.stderr
    assert regions(prefix, tmp_path / "probes", tmp_path / "experiment") == {"installed": 1}
    found = {**os.environ, "LD_LIBRARY_PATH": str(prefix.library.parent)}
    assert run(tmp_path / "reads", measured, env=found).returncode == 0


def test_pkg_config_of_the_fortran_module(prefix, tmp_path, needs):
    needs("pkg-config")
    needs("gfortran")
    (tmp_path / "main.f90").write_text(FORTRAN)
    module, = package_words(prefix, "--variable=fortran", "hybrid")
    built = run("gfortran", module, tmp_path / "main.f90", "-o", tmp_path / "main", f"-J{tmp_path}")
    assert built.returncode == 0, built.stderr
    assert regions(prefix, tmp_path / "main", tmp_path / "experiment") == {"installed": 1}


def test_cmake(prefix, tmp_path, needs, measured):
    for command in ("cmake", "make", "g++", "gfortran"):
        needs(command)
    (tmp_path / "CMakeLists.txt").write_text("""
cmake_minimum_required(VERSION 3.16)
project(user C CXX Fortran)
find_package(Hybrid 0.2 REQUIRED)
add_executable(probes probes.c)
target_link_libraries(probes Hybrid::Hybrid)
add_executable(probes_cxx probes.cc)
target_link_libraries(probes_cxx Hybrid::Hybrid)
add_executable(reads reads.c)
target_link_libraries(reads Hybrid::Reader)
add_executable(fortran main.f90)
target_link_libraries(fortran Hybrid::Fortran)
enable_testing()
add_test(NAME measured COMMAND ${HYBRID_RUN} -q -o ${CMAKE_CURRENT_BINARY_DIR}/by_ctest $<TARGET_FILE:probes>)
""")
    for name, text in (("probes.c", PROBES), ("probes.cc", PROBES), ("reads.c", READS), ("main.f90", FORTRAN)):
        (tmp_path / name).write_text(text)
    build = tmp_path / "build"
    for words in (["-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix.path}"], ["--build", build]):
        result = run("cmake", *words)
        assert result.returncode == 0, result.stdout + result.stderr
    for name in ("probes", "probes_cxx", "fortran"):
        assert regions(prefix, build / name, tmp_path / name) == {"installed": 1}
    assert run(build / "reads", measured).returncode == 0
    assert run("ctest", "--test-dir", build).returncode == 0 and (build / "by_ctest").is_dir()


# ------------------------------------------------------------ pages, shells


def test_each_command_has_a_page(prefix):
    pages = {page.name for page in (prefix.path / "share/man").rglob("*.[137]")}
    assert {f"{name}.1" for name in COMMANDS} <= pages and {"hybrid.7", "hybrid_api.3"} <= pages


def said_options(prefix, name):
    """The options of --help: those that begin a line, up to what is said about them."""
    lines = re.findall(r"^ {2,6}(-.*)", prefix.run(name, "--help"), re.M)
    return {option for line in lines for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.split(r"  +", line)[0])
            if option.startswith("--") or len(option) == 2}


def bash_completes(prefix, name, line):
    """What bash offers at the end of the line, taken apart as bash does."""
    words = re.findall(r"=|[^\s=]+", line) + ([""] if line.endswith(" ") else [])
    script = (f"source {prefix.path}/share/bash-completion/completions/{name}.bash\n"
              f"COMP_WORDS=({' '.join(shlex.quote(word) for word in words)}) COMP_CWORD={len(words) - 1}\n"
              f"_{name.replace('-', '_')}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n")
    result = run("bash", "--norc", "-euc", script)
    assert (result.returncode, result.stderr) == (0, "")
    return set(result.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_bash_completes_each_option(prefix, name):
    options = said_options(prefix, name)
    assert {"-h", "--help", "--version"} < options
    assert bash_completes(prefix, name, f"{name} -") == options
    assert bash_completes(prefix, name, f"{name} --ver") == {"--version"}


FORMATS = {"otf2", "collapsed", "speedscope", "pprof", "callgrind", "dot", "csv", "html", "perfetto", "chrome", "firefox", "hybrid"}


@pytest.mark.parametrize("line, offered", [
    ("hybrid-convert experiment --to ", FORMATS), ("hybrid-convert -t p", {"pprof", "perfetto"}),
    ("hybrid-convert --samples=", {"enter-leave", "context", "none"}), ("hybrid-convert --to ", FORMATS),
    ("hybrid-report --flat=", {"function", "line", "file", "module", "thread", "rank"}), ("hybrid-report --flat ", set()),
    ("hybrid-report exp --color=a", {"auto", "always"}), ("hybrid-run --python ", {"frames", "hooks", "off"}),
    ("hybrid-run -r 5 --source=p", {"perf"}), ("hybrid-run -o x printen", {"printenv"}), ("hybrid-run ./program --he", set()),
    ("hybrid-run --rate=5 --q", {"--quiet"}),
])
def test_bash_completes_values_and_programs(prefix, line, offered):
    assert bash_completes(prefix, line.split()[0], line) == offered


@pytest.mark.parametrize("name", COMMANDS)
def test_zsh_completes_each_option(prefix, name, tmp_path, needs):
    needs("zsh")
    needs("tmux")
    options = said_options(prefix, name)
    with Terminal(tmp_path, width=150, height=90, PATH=f"{prefix.path}/bin:{os.environ['PATH']}") as terminal:
        terminal.type(f"PS1='ready ' exec zsh -f -o no_beep -o no_prompt_sp\n")
        terminal.wait_for("ready")
        terminal.type(f"fpath=({prefix.path}/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=500; clear\n")
        terminal.wait(lambda screen: screen.strip() == "ready", "a clear screen")
        terminal.type(f"{name} -\t")
        screen = terminal.wait_for("--version")
        assert set(re.findall(r"(?<=[\s])--?[a-z][\w-]*", screen.split(f"{name} -", 1)[1].replace(" -- ", "    "))) >= options
