"""hybrid-run starts Python programs: what the kernel executes, and what only an interpreter can."""

import ast
import os
import sys
import zipapp

import pytest

from conftest import HYBRID_REPORT, HYBRID_RUN, run
from interpreters import NEWEST, OLDEST, candidates, interpreters

SHOW = """
import os, sys
print([os.path.basename(sys.argv[0]), *sys.argv[1:]], sys.prefix, sys.version_info[:3], __name__)
sys.exit(5)
"""


@pytest.fixture(params=interpreters(), ids=str)
def python(request):
    return request.param


@pytest.fixture
def path(python, tmp_path):
    """An environment in which `python3` is this interpreter."""
    folder = tmp_path / "path"
    folder.mkdir()
    (folder / "python3").write_text(f'#!/bin/sh\nexec "{python.path}" "$@"\n')
    (folder / "python3").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}


def make(path, text, mode=0o644):
    path.write_text(text, newline="")
    path.chmod(mode)
    return path


def check_ran(e, native, ran):
    assert (e.returncode, e.stdout, e.stderr) == (native.returncode, native.stdout, native.stderr)
    assert e.returncode == 5 and e.files
    assert e.values.get("ran") == ran


@pytest.mark.parametrize("name", ["app.py", "./app.py", "a b.py", "sub/app.py"])
def test_source(measure, python, path, tmp_path, name):
    (tmp_path / "sub").mkdir()
    make(tmp_path / name, SHOW)
    e = measure(name, "1", "x y", options=["-q"], env=path)
    quoted = f"'{name}'" if " " in name else name
    check_ran(e, run(python.path, name, "1", "x y", cwd=tmp_path), f"{tmp_path}/path/python3 {quoted} 1 'x y'")
    assert e.values["command"] == f"{quoted} 1 'x y'"


def test_source_that_the_kernel_executes(measure, python, tmp_path):
    make(tmp_path / "tool", f"#!{python.path}\n{SHOW}", 0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for name in "./tool", "tool":
        check_ran(measure(name, "1", options=["-q"], env=env), run(python.path, tmp_path / "tool", "1"), None)


@pytest.mark.parametrize("name", ["tool", "tool.py"])
def test_executable_here_without_a_path(measure, python, path, tmp_path, name):
    """A shell would ask for ./, a user who names a program that stands here means it."""
    make(tmp_path / name, f"#!{python.path} -B\n{SHOW}", 0o755)
    e = measure(name, "1", options=["-q"], env=path)
    check_ran(e, run(python.path, name, "1", cwd=tmp_path), f"{python.path} -B {name} 1")


@pytest.mark.parametrize("name", ["tool", "tool.py"])
@pytest.mark.parametrize("line", ["#!{}\n", "#! {} -B \n", "#!{}\r\n"], ids=["plain", "option", "return"])
def test_first_line_names_the_interpreter(measure, python, tmp_path, name, line):
    make(tmp_path / name, line.format(python.path) + SHOW)
    option = "-B " if "-B" in line else ""
    e = measure(f"./{name}", "1", options=["-q"], env={"PATH": "/nowhere"})
    check_ran(e, run(python.path, name, "1", cwd=tmp_path), f"{python.path} {option}./{name} 1")


def test_first_line_names_env(measure, python, path, tmp_path):
    make(tmp_path / "app.py", f"#!/usr/bin/env python3\n{SHOW}")
    e = measure("app.py", options=["-q"], env=path)
    check_ran(e, run(python.path, "app.py", cwd=tmp_path), "/usr/bin/env python3 app.py")


@pytest.mark.parametrize("line", ["", "#!/no/such/python3\n", "#!\n"])
def test_source_without_a_usable_first_line(measure, python, path, tmp_path, line):
    make(tmp_path / "app.py", line + SHOW, 0o755)
    e = measure("./app.py", options=["-q"], env=path)
    check_ran(e, run(python.path, "./app.py", cwd=tmp_path), f"{tmp_path}/path/python3 ./app.py")


@pytest.mark.parametrize("name", ["package", "package/", "."])
def test_directory(measure, python, path, tmp_path, name):
    (tmp_path / "package").mkdir()
    for folder in "package", ".":
        make(tmp_path / folder / "__main__.py", SHOW)
    e = measure(name, "1", options=["-q"], env=path)
    check_ran(e, run(python.path, name, "1", cwd=tmp_path), f"{tmp_path}/path/python3 {name} 1")


def test_directory_of_an_experiment_of_a_directory(python, path, tmp_path):
    (tmp_path / "package").mkdir()
    make(tmp_path / "package/__main__.py", SHOW)
    assert run(HYBRID_RUN, "-q", "package/", env=path, cwd=tmp_path).returncode == 5
    assert len(list(tmp_path.glob("hyb-package-*"))) == 1


@pytest.mark.parametrize("executable", [True, False])
@pytest.mark.parametrize("line", [True, False])
def test_archive(measure, python, path, tmp_path, executable, line):
    (tmp_path / "package").mkdir()
    make(tmp_path / "package/__main__.py", SHOW)
    zipapp.create_archive(tmp_path / "package", tmp_path / "app.pyz", str(python.path) if line else None)
    (tmp_path / "app.pyz").chmod(0o755 if executable else 0o644)
    e = measure("./app.pyz", "1", options=["-q"], env=path)
    interpreter = None if line and executable else f"{python.path if line else f'{tmp_path}/path/python3'} ./app.pyz 1"
    check_ran(e, run(python.path, "./app.pyz", "1", cwd=tmp_path), interpreter)


def test_compiled_source(measure, python, path, tmp_path):
    make(tmp_path / "app.py", SHOW)
    code = "import py_compile; py_compile.compile('app.py', 'other.pyc')"
    assert run(python.path, "-c", code, cwd=tmp_path).returncode == 0
    e = measure("other.pyc", options=["-q"], env=path)
    check_ran(e, run(python.path, "other.pyc", cwd=tmp_path), f"{tmp_path}/path/python3 other.pyc")


def test_module_of_a_package(measure, python, tmp_path):
    (tmp_path / "package").mkdir()
    make(tmp_path / "package/__main__.py", SHOW)
    e = measure(python.path, "-m", "package", "1", options=["-q"])
    check_ran(e, run(python.path, "-m", "package", "1", cwd=tmp_path), None)


def test_virtual_environment(measure, python, tmp_path):
    """Its interpreter, and the one that PATH finds when it is active."""
    venv = tmp_path / "my env"
    if run(python.path, "-m", "venv", "--without-pip", venv).returncode:
        pytest.skip("this interpreter makes no virtual environments")
    make(tmp_path / "app.py", SHOW)
    native = run(venv / "bin/python", "app.py", cwd=tmp_path)
    assert str(venv) in native.stdout
    check_ran(measure(venv / "bin/python", "app.py", options=["-q"]), native, None)
    active = {**os.environ, "PATH": f"{venv}/bin:{os.environ['PATH']}", "VIRTUAL_ENV": str(venv)}
    check_ran(measure("app.py", options=["-q"], env=active), native, f"'{venv}/bin/python3' app.py")
    check_ran(measure("python3", "app.py", options=["-q"], env=active), native, None)


# --------------------------------------------------- what has no interpreter


def test_command_in_path_comes_first(measure, tmp_path):
    (tmp_path / "bin").mkdir()
    make(tmp_path / "bin/app.py", "#!/bin/sh\necho from PATH\n", 0o755)
    make(tmp_path / "app.py", SHOW)
    env = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    assert measure("app.py", options=["-q"], env=env).stdout == "from PATH\n"


def says(result, status, *texts):
    assert result.returncode == status
    assert len(result.stderr.splitlines()) == 1 and result.stderr.startswith("hybrid-run: ")
    for text in texts:
        assert text in result.stderr


def test_faults(tmp_path):
    make(tmp_path / "app.py", SHOW)
    make(tmp_path / "plain", SHOW)
    make(tmp_path / "shell", "#!/bin/sh\n")
    (tmp_path / "loop.py").symlink_to("loop.py")
    (tmp_path / "empty").mkdir()
    before = sorted(os.listdir(tmp_path))
    says(run(HYBRID_RUN, "app.py", cwd=tmp_path, env={"PATH": "/nowhere"}), 127, "app.py: ", "no python3 in PATH")
    says(run(HYBRID_RUN, "gone.py", cwd=tmp_path), 127, "gone.py: not found")
    says(run(HYBRID_RUN, "./gone.py", cwd=tmp_path), 127, "./gone.py: not found")
    says(run(HYBRID_RUN, "./plain", cwd=tmp_path), 126, "./plain: cannot be executed")
    says(run(HYBRID_RUN, "./shell", cwd=tmp_path), 126, "./shell: cannot be executed")
    says(run(HYBRID_RUN, "./loop.py", cwd=tmp_path), 126, "./loop.py: cannot be executed")
    says(run(HYBRID_RUN, "./empty", cwd=tmp_path), 126, "./empty: cannot be executed")
    assert sorted(os.listdir(tmp_path)) == before


def test_source_that_may_not_be_read(needs, tmp_path):
    if not os.getuid():
        needs("setpriv")
    tmp_path.chmod(0o755)
    make(tmp_path / "app.py", SHOW, 0)
    other = ["setpriv", "--reuid=65534", "--clear-groups"] if not os.getuid() else []
    says(run(*other, HYBRID_RUN, "./app.py", cwd=tmp_path), 126, "./app.py: cannot be executed: Permission denied")


# -------------------------------------------------------------------- modes


@pytest.mark.parametrize("mode", ["off", "frames", "hooks"])
def test_mode_is_in_the_record(measure, mode):
    e = measure(sys.executable, "-c", "pass", options=["-q", "--python", mode])
    assert dict(pair.split("=") for pair in e.values["options"].split(","))["python"] == mode


def test_mode_of_a_newer_hybrid_run_is_the_default(measure):
    """HYBRID_OPTIONS as another version might write it: the program runs, and is measured."""
    code = "import os; os.environ['HYBRID_OPTIONS'] += ',python=magic,other=1'; os.execv('/bin/echo', ['echo', 'ran'])"
    e = measure(sys.executable, "-c", code, options=["-q"])
    assert (e.returncode, e.stdout, e.stderr) == (0, "ran\n", "")
    assert len(e.files) == 2


def unknown_interpreters():
    """Those of versions without a layout."""
    for path in candidates():
        answer = run(path, "-c", "import sys; print(tuple(sys.version_info[:3]))").stdout
        version = ast.literal_eval(answer or "()")
        if version and not OLDEST <= version[:2] <= NEWEST:
            yield path, ".".join(map(str, version))


def test_unknown_version_is_said_once(measure, tmp_path):
    """In two processes: the program sees nothing of it, the report has one line."""
    found = next(unknown_interpreters(), None)
    if not found:
        pytest.skip("all interpreters here are of known versions")
    python, version = found
    code = "import subprocess, sys\nprint(subprocess.check_output([sys.executable, '-c', 'print(sum(range(10 ** 6)))']))"
    native = run(python, "-c", code)
    for mode in "frames", "hooks":
        e = measure(python, "-c", code, options=["-q", "--python", mode])
        assert (e.returncode, e.stdout, e.stderr) == (0, native.stdout, native.stderr)
        lines = [line for line in run(HYBRID_REPORT, e.path).stdout.splitlines() if line.startswith("warning")]
        assert len(lines) == 1 and version in lines[0]
        tree = run(HYBRID_REPORT, e.path).stdout
        assert "PyEval" in tree and "Python interpreter" not in tree.split("call tree")[1]
    e = measure(python, "-c", code, options=["-q", "--python=off"])
    assert "warning" not in run(HYBRID_REPORT, e.path).stdout


def test_a_filter_that_matches_nothing_is_said(measure, tmp_path):
    def said(mode, rules):
        (tmp_path / "rules").write_text(rules)
        e = measure("/bin/true", options=["-q", "--python", mode, "--filter", tmp_path / "rules"])
        assert e.returncode == 0
        return e.stderr

    assert "rules:2: names are package.module.function" in said("hooks", "# python:x\nexclude python:hidden\n")
    assert "rules:1: Python functions are probes with --python=hooks only" in said("frames", "exclude python:a.*\n")
    for rules in "exclude python:*hidden*\n", "exclude python: app.f\n", "exclude hidden\n", "exclude python::f\n":
        assert said("hooks", rules) == ""
