"""Python started otherwise than with a file. PYTHONPATH has the folder of work.py."""

import importlib

from work import N, run, spin


def part_main():
    """spin"""
    spin(N)  #:


def part_import():
    """... <module>"""
    importlib.import_module(__package__ + ".spins" if __package__ else "spins")  #:


run(part_main, part_import)
