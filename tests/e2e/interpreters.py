"""The CPython interpreters of this machine: Debian's, those on PATH, those under the user's pyenv."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

OLDEST, NEWEST = (3, 8), (3, 13)

QUESTIONS = """
import json, platform, sys, sysconfig
maps = [line.split(None, 5)[-1].strip() for line in open("/proc/self/maps")]
print(json.dumps({
    "path": getattr(sys, "_base_executable", sys.executable),
    "implementation": platform.python_implementation(),
    "version": sys.version_info[:3],
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "libpython": next((path for path in maps if "/libpython" in path), None),
    "include": sysconfig.get_path("include"),
}))
"""


class Interpreter:
    """path; version: (major, minor, micro); libpython: the shared library that it runs from, or None;
    include: where Python.h would be."""

    def __init__(self, answers):
        self.path = Path(answers["path"])
        self.version = tuple(answers["version"])
        self.libpython = answers["libpython"] and Path(answers["libpython"])
        self.include = Path(answers["include"])
        self.free_threaded = answers["free_threaded"]

    @property
    def minor(self):
        """(3, 11)"""
        return self.version[:2]

    def has_headers(self):
        return (self.include / "Python.h").exists()

    @functools.lru_cache(maxsize=None)
    def has_module(self, name):
        command = [self.path, "-c", f"import {name}"]
        return subprocess.run(command, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode == 0

    def __str__(self):
        """For the ids of tests: which one it was must be seen."""
        place = "pyenv" if "/.pyenv/" in str(self.path) or "/pyenv/" in str(self.path) else "system"
        version = ".".join(map(str, self.version)) + ("t" if self.free_threaded else "")
        return f"{version}-{place}-{'shared' if self.libpython else 'static'}"

    __repr__ = __str__


def candidates():
    """Commands that may be interpreters; shims that answer nothing and doubles among them."""
    names = ["python3", *(f"python3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1))]
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    roots = {Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))}
    if shutil.which("pyenv"):
        answer = subprocess.run(["pyenv", "root"], stdout=subprocess.PIPE, text=True).stdout.strip()
        roots |= {Path(answer)} if answer else set()
    for root in sorted(roots):
        folders += [str(path) for path in sorted(root.glob("versions/*/bin"))]
        folders = [folder for folder in folders if folder != str(root / "shims")]
    for folder in dict.fromkeys(folder for folder in folders if folder):
        for name in names:
            path = Path(folder) / name
            if os.access(path, os.X_OK):
                yield path


@functools.lru_cache(maxsize=None)
def interpreters():
    """One object for each CPython 3.8 to 3.13, oldest first."""
    found, seen = {}, set()
    for path in candidates():
        real = path.resolve()
        if real in seen:
            continue
        seen.add(real)
        result = subprocess.run(
            [path, "-I", "-c", QUESTIONS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            answers = json.loads(result.stdout)
        except ValueError:
            continue
        if answers["implementation"] == "CPython" and OLDEST <= tuple(answers["version"][:2]) <= NEWEST:
            found.setdefault(Path(answers["path"]).resolve(), Interpreter(answers))
    return sorted(found.values(), key=lambda i: (i.version, str(i.path)))
