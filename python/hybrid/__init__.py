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

from hybrid._experiment import Child, Experiment, Location, Module, Note, Process, open
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
from hybrid._reader import Error, Event, Node, Row

__all__ = [
    "Child",
    "Error",
    "Event",
    "Experiment",
    "Location",
    "Module",
    "Node",
    "Note",
    "Process",
    "Row",
    "counter",
    "marker",
    "measured",
    "metadata",
    "open",
    "parameter",
    "pause",
    "paused",
    "region",
    "resume",
    "thread_name",
]
