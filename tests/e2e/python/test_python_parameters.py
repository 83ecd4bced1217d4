"""hybrid.parameter(): the frames of the region are below its values, and a key has one value at a time."""

import os

import pytest

from conftest import BUILD
from interpreters import interpreters
from known import find, samples_below, the, walk

pytestmark = pytest.mark.skipif(
    not (BUILD / "python/hybrid/_probe.abi3.so").exists(), reason="built without the headers of Python"
)
every_interpreter = pytest.mark.parametrize(
    "python", [python for python in interpreters() if not python.free_threaded], ids=str
)

SPLIT = """
import hybrid, time
def work():
    begun = time.thread_time()
    while time.thread_time() - begun < 0.05:
        pass
def step(k):
    hybrid.parameter("k", k)
    work()
with hybrid.region("by value"):
    for k in (1, 2, 1, 2, 2, 3):
        step(k)
"""


@every_interpreter
@pytest.mark.parametrize("mode", ["frames", "hooks"])
def test_frames_are_below_parameters(measure, tmp_path, python, mode):
    (tmp_path / "split.py").write_text(SPLIT)
    e = measure(python.path, "split.py", options=["--rate", "1000", f"--python={mode}"],
                env={**os.environ, "PYTHONPATH": str(BUILD / "python")})
    assert e.returncode == 0, e.stderr
    split = the(e.report()["tree"], "by value")
    if mode == "hooks":  # each call of step is an instance of its own
        split = next(node for node in split["children"] if node["kind"] == "probe")
    values = {node["name"]: node for node in split["children"] if node["name"].startswith("k=")}
    assert {name: node["calls"] for name, node in values.items()} == {"k=1": 2, "k=2": 3, "k=3": 1}
    for node in values.values():
        assert not any(inner["name"].startswith("k=") for _, inner in walk(node) if inner is not node)
        work = sum(samples_below(outer) for outer in find(node, "work"))
        assert work >= 0.95 * samples_below(node) - 1 and work > 10, (work, samples_below(node))
    assert e.report()["quality"]["open_regions"] == 0
