"""Hybrid: mark what matters in a Python program, and read what was measured.

Probes, without effect in a program that `hybrid-run` does not measure:

    with hybrid.region("solve"):
        hybrid.counter("residual").set(r)

Experiments:

    with hybrid.open("hyb-program-20261121-155538") as experiment:
        rows = pandas.DataFrame(experiment.profile())

Regions nest on each thread and are left by the thread that entered them. Text ends at a null character; of names 1023
bytes are kept. All times are nanoseconds.
"""

from __future__ import annotations

from hybrid._probe import (
    counter,
    marker,
    measured,
    metadata,
    parameter,
    pause,
    paused,
    region,
    resume,
    thread_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

    from hybrid._experiment import Child, Experiment, Handle, Location, Metric, Module, Note, Offset, Process
    from hybrid._experiment import open as open  # not in __all__: it would hide Python's own
    from hybrid._reader import Error, Event, Node, Row

__all__ = [
    "Child",
    "Error",
    "Event",
    "Experiment",
    "Handle",
    "Location",
    "Metric",
    "Module",
    "Node",
    "Note",
    "Offset",
    "Process",
    "Row",
    "counter",
    "marker",
    "measured",
    "metadata",
    "parameter",
    "pause",
    "paused",
    "region",
    "resume",
    "thread_name",
]


def __getattr__(name: str) -> Any:
    """The reader is not loaded into programs that have probes only."""
    if name not in __all__ and name != "open":
        raise AttributeError(f"module 'hybrid' has no attribute {name!r}")
    from hybrid import _experiment

    names = [reading for reading in ("open", *__all__) if reading not in globals()]
    globals().update({reading: getattr(_experiment, reading) for reading in names})
    return globals()[name]


def __dir__() -> List[str]:
    return sorted({"open", *globals(), *__all__})
