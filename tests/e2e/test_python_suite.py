"""CPython's own test-suite: each of its tests ends under hybrid-run as it ends without."""

import pytest

from interpreters import interpreters

FREES = """
import ctypes, sys
freed = []
free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
name = "PyUnstable_Eval_RequestCodeExtraIndex" if sys.version_info >= (3, 12) else "_PyEval_RequestCodeExtraIndex"
getattr(ctypes.pythonapi, name)(free)
for i in range(3):
    eval("lambda: %d" % i)()
print(freed)
"""


@pytest.mark.parametrize("interpreter", interpreters(), ids=str)
def test_hooks_leave_the_words_of_other_tools_alone(measure, interpreter):
    """A tool's function that frees its word of a code object is not called for those that have none."""
    if not interpreter.has_module("ctypes"):
        pytest.skip("has no ctypes")
    experiment = measure(interpreter.path, "-c", FREES, options=["--python=hooks"])
    assert (experiment.returncode, experiment.stdout) == (0, "[]\n")
