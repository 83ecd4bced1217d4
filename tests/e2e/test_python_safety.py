"""What a sample may not do to the interpreter that it strikes, and what it may not stumble over."""

import shutil

import pytest

from conftest import run
from interpreters import interpreters

every_interpreter = pytest.mark.parametrize("python", interpreters(), ids=str)

# Each has thread-local storage, and allocates memory while the loader is still at it.
EXTENSION = """
#include <stdlib.h>
__thread int local[4];
static void *volatile kept[64];
__attribute__((constructor)) static void begin(void)
{
	for (unsigned i = 0; i < 30000; i++) {
		unsigned k = i * 7 % 64;

		free(kept[k]);
		kept[k] = malloc(3000 + i % 5000);
	}
}
int *where(void)
{
	return local;
}
"""

LOAD = """
import ctypes, sys
for number in range(int(sys.argv[2])):
    ctypes.CDLL("%s/%d.so" % (sys.argv[1], number))
print("loaded")
"""

EXTENSIONS = 150


@every_interpreter
def test_libraries_with_thread_local_storage(python, tmp_path, compile_c, measure):
    """The loader gives a thread its part of them when it next asks for any thread-local variable: not in a sample."""
    if not python.has_module("ctypes"):
        pytest.skip(f"{python} has no ctypes")
    library = compile_c(EXTENSION, "-shared", "-fPIC")
    for number in range(EXTENSIONS):
        shutil.copy(library, tmp_path / f"{number}.so")
    command = [python.path, "-c", LOAD, tmp_path, EXTENSIONS]
    assert run(*command).stdout == "loaded\n"
    e = measure(*command, options=["-q", "--rate", "10000", "--budget", "100", "--source", "timer"])
    assert (e.returncode, e.stdout, e.stderr) == (0, "loaded\n", "")


SUBCLASS = """
import time
class Path(str):
    pass
source = "def hot():\\n  end = time.process_time() + 0.3\\n  while time.process_time() < end:\\n    pass\\nhot()\\n"
exec(compile(source, Path("made.py"), "exec"))
"""


@every_interpreter
def test_a_file_name_of_a_subclass_of_str(python, measure):
    e = measure(python.path, "-c", SUBCLASS, options=["-q", "--rate", "500", "--source", "timer"])
    assert (e.returncode, e.stderr) == (0, "")
    hot = [node for node in e.report()["nodes"] if (node["name"], node.get("file")) == ("hot", "made.py")]
    assert sum(node["samples"] for node in hot) > 10
