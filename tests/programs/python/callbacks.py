"""Python functions that C functions of the interpreter call, and sources made at run time."""

import functools
import gc
import operator
import re
import signal
import sys
import types
import weakref

from work import N, run, spin


def keyed(value):
    return -value  #:


def part_sort_key():
    """keyed"""
    sorted(range(N), key=keyed)  #:


class Ordered:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value  #:

    def __eq__(self, other):
        return self.value == other.value  #:

    def __hash__(self):
        return 1  #:

    def __del__(self):
        spin(DELETED)  #:


DELETED = 0


def part_sort():
    """__lt__ | <listcomp>? __init__ | __del__ spin"""
    values = [Ordered(i * 7919 % 1000) for i in range(1000)]  #:
    for _ in range(N // 10000 + 1):  #:
        sorted(values)  #:


def part_dict():
    """<dictcomp>? __eq__ | <dictcomp>? __hash__ | __init__ | <listcomp> __init__ | __del__ spin"""
    values = [Ordered(i) for i in range(100)]  #:
    for _ in range(N // 10000 + 1):  #:
        table = {value: 1 for value in values}  #:
        table.clear()


def part_delete():
    """__del__ spin"""
    global DELETED
    DELETED = N
    values = [Ordered(1)]
    values.clear()  #:
    DELETED = 0


def add(a, b, n=0):
    x = 0
    for i in range(n):  #:
        x += i * i  #:
    return a + b


def part_partial():
    """add"""
    functools.partial(add, 1, n=N)(2)  #:


def part_map():
    """keyed | <lambda> | add"""
    for _ in map(keyed, range(N // 2)):  #:
        pass
    list(filter(lambda value: value > 1, range(N // 2)))  #:
    functools.reduce(add, range(N // 4))  #:


def replaced(match):
    spin(200)  #:
    return match.group(0).upper()


def part_sub():
    """... replaced spin"""
    re.sub("[a-m]", replaced, "abcxyz" * (N // 1000 + 1))  #:


class Called:
    def __call__(self, n):
        return self[n]  #:

    def __getitem__(self, n):
        return self + n  #:

    def __add__(self, n):
        return len(self) or operator.contains(self, n)  #:

    def __len__(self):
        return 0

    def __contains__(self, n):
        return bool(spin(n))  #:


def part_operators():
    """__call__ __getitem__ __add__ __contains__ spin"""
    Called()(N)  #:


class Meta(type):
    def __new__(cls, name, bases, namespace):
        spin(N)  #:
        return super().__new__(cls, name, bases, namespace)


def part_metaclass():
    """new_class __new__ spin"""
    types.new_class("Made", (), {"metaclass": Meta})  #:


class Descriptor:
    def __get__(self, instance, owner):
        return spin(N)  #:

    def __set_name__(self, owner, name):
        spin(N)  #:


def part_descriptor():
    """__get__ spin | __set_name__ spin"""
    owner = type("Owner", (), {"value": Descriptor()})  #:
    owner().value  #:


def part_repr():
    """__repr__ spin"""

    class Deep:
        def __repr__(self):
            spin(N)  #:
            return "deep"

    value = [Deep()]
    for _ in range(150):
        value = [value]
    repr(value)  #:


def collected(phase, information):
    spin(N // 2)  #:


def part_gc():
    """collected spin"""
    gc.callbacks.append(collected)
    gc.collect()  #:
    gc.callbacks.remove(collected)


def dies(reference):
    spin(N)  #:


def part_weakref():
    """dies spin"""
    values = [Called()]
    reference = weakref.ref(values[0], dies)
    values.clear()  #:
    return reference


def on_signal(number, frame):
    spin(1000)  #:


def part_signal():
    """raises? on_signal spin"""
    signal.signal(signal.SIGUSR2, on_signal)
    for _ in range(N // 1000 + 1):  #:
        signal.raise_signal(signal.SIGUSR2)  #:


def part_eval():
    """<module> | <module> spin | <listcomp>? | <module> <listcomp>? | <lambda>"""
    exec("for i in range(%d): i * i" % N)  #:
    exec("\n\n\nspin(%d)" % N)  #:
    eval("[i * i for i in range(%d)]" % N)  #:


SOURCE = """%s
def made(n):
    x = 0
    for i in range(n):
        x += i * i
%smade(%d)
"""


def part_anew():
    """<module> made"""
    for i in range(100):  #:
        exec(SOURCE % ("\n" * i, "\n" * (i % 7), N // 100), {})  #:


def part_new_names():
    """<module> ..."""
    for i in range(100):  #:
        source = "def name%03d(n):\n    for i in range(n):\n        i * i\nname%03d(%d)\n" % (i, i, N // 100)
        exec(source, {})  #:


def part_high_lines():
    """<module> high"""
    source = "\n" * 70000 + "def high(n):\n    x = 0\n" + "\n" * 300 + "    for i in range(n):\n        x += i * i\n"
    exec(compile(source + "high(%d)\n" % N, "high.py", "exec"), {})  #:


LARGE = "def large(n):\n" + "".join("    x%d = n + %d\n" % (i % 50, i) for i in range(30000 if N > 10000 else 300))
LARGE = compile(LARGE + "for _ in range(n): large(1)\n", "large.py", "exec")


def part_large():
    """<module> large"""
    exec(LARGE, {"n": N // 10000 + 1})  #:


LONG = "f" * 3000
LONG_NAME = "def %s(n):\n    for i in range(n):\n        i * i\n%s(%d)\n"


def part_long_name():
    """<module> ..."""
    exec(compile(LONG_NAME % (LONG, LONG, N), "long.py", "exec"), {})  #:


def part_replaced_code():
    """<module> made"""
    code = compile("def made(n):\n    for i in range(n): i * i\nmade(%d)\n" % N, "replaced.py", "exec")
    exec(code.replace(co_firstlineno=500), {})  #:


def traced(frame, event, argument):
    return traced


def part_settrace():
    """spin | spin traced"""
    before = sys.gettrace()
    sys.settrace(traced)
    spin(N // 5)  #:
    sys.settrace(before)


if __name__ == "__main__":
    gc.disable()
    run(
        part_sort_key, part_sort, part_dict, part_delete, part_partial, part_map, part_sub, part_operators,
        part_metaclass, part_descriptor, part_repr, part_gc, part_weakref, part_signal, part_eval, part_anew, part_new_names,
        part_high_lines, part_large, part_long_name, part_replaced_code, part_settrace,
    )
