"""C below Python and Python below C. The argument is a library made of native.c."""

import ctypes
import json
import operator
import pickle
import re
import sqlite3
import sys
import zlib

try:
    import numpy
except ImportError:
    numpy = None
try:
    from greenlet import greenlet
except ImportError:
    greenlet = None
try:
    import cffi

    ffi = cffi.FFI()
    ffi.cdef("void native_back(long n, void (*f)(long));")
    opened = ffi.dlopen(sys.argv[1])
    takes_long, back = ffi.callback("void(long)"), opened.native_back  # parsing takes milliseconds
except ImportError:
    ffi = None

# What is above is not watched: it takes long, opcode by opcode.
from work import N, run, spin

library = ctypes.CDLL(sys.argv[1])
holding = ctypes.PyDLL(sys.argv[1])
callback = ctypes.CFUNCTYPE(None, ctypes.c_long)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
library.native_spin.argtypes = holding.native_spin.argtypes = [ctypes.c_long]
library.native_back.argtypes = [ctypes.c_long, callback]


def part_released():
    """..."""
    library.native_spin(40 * N)  #:


def part_holding():
    """..."""
    holding.native_spin(40 * N)  #:


def called_back(n):
    spin(n)  #:


def part_callback():
    """called_back spin"""
    library.native_back(N, callback(called_back))  #:


def nests(n):
    if n:
        library.native_back(n, callback(lambda k: nests(k - 1)))  #:
    else:
        spin(N)  #:


def part_nested_callbacks():
    """nests (<lambda> nests){5} spin"""
    nests(5)  #:


def order(a, b):
    return (a[0] > b[0]) - (a[0] < b[0])  #:


def part_qsort():
    """order | <genexpr>"""
    n = N // 100
    values = (ctypes.c_int * n)(*(i * 7919 % n for i in range(n)))  #:
    library.native_sort(values, n, compare(order))  #:


def part_zlib():
    """..."""
    zlib.compress(bytes(i * i % 251 for i in range(1000)) * (N // 300 + 1), 9)  #:


def part_json():
    """..."""
    value = []
    for _ in range(300):
        value = [value, 1, "x"]
    for _ in range(N // 4000 + 1):
        json.loads(json.dumps(value))  #:


def part_json_default():
    """... default spin"""

    def default(value):
        spin(N)  #:
        return 1

    json.dumps([{1: [operator]}], default=default)  #:


def part_pickle():
    """__reduce__ spin"""
    pickle.dumps([Pickled()])  #:


class Pickled:
    def __reduce__(self):
        spin(N)  #:
        return operator.add, (1, 2)


def part_re():
    """..."""
    for _ in range(N // 3000 + 1):
        re.match(r"(?:a+)+b", "a" * 12 + "c")  #:


def part_sqlite():
    """double spin"""

    def double(value):
        spin(N // 10)  #:
        return 2 * value

    base = sqlite3.connect(":memory:")
    base.create_function("double", 1, double)
    for _ in range(10):
        base.execute("select double(2)").fetchall()  #:


def part_numpy():
    """..."""
    if not numpy:
        return
    a = numpy.ones((300, 300))
    for _ in range(N // 100000 + 1):
        a @ a  #:
    for _ in range(N // 10000 + 1):
        numpy.sin(a)  #:


def part_cffi():
    """cffi_called spin"""
    if not ffi:
        return

    @takes_long
    def cffi_called(n):
        spin(n)  #:

    back(N, cffi_called)  #:


def part_ping(others):
    """spin"""
    for _ in range(20):
        spin(N // 40)  #:
        others[1].switch(others)  #:


def part_pong(others):
    """spin"""
    for _ in range(20):
        spin(N // 40)  #:
        others[0].switch(others)  #:


def part_greenlets():
    if greenlet:
        greenlets = greenlet(part_ping), greenlet(part_pong)
        greenlets[0].switch(greenlets)


if __name__ == "__main__":
    run(
        part_released, part_holding, part_callback, part_nested_callbacks, part_qsort, part_zlib, part_json,
        part_json_default, part_pickle, part_re, part_sqlite, part_numpy, part_cffi, part_greenlets,
    )
