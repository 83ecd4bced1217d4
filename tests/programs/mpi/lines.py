"""Calls of MPI from many lines, at the same places of the stack; the file of the first argument says which made how many.

The library of MPI is the second argument. ctypes finds its functions in the scope of the program.
"""

import collections
import ctypes
import random
import sys

ctypes.CDLL(sys.argv[2], ctypes.RTLD_GLOBAL)
MPI = ctypes.CDLL(None)

version = ctypes.c_int(), ctypes.c_int()
truth = collections.Counter()


FRAMES = 8


def told(function):
    """Of the calling line, the line that called that, and so on."""
    frame, lines = sys._getframe(1), []
    while frame and len(lines) < 2 * FRAMES:
        lines += [frame.f_code.co_name, frame.f_lineno]
        frame = frame.f_back
    truth[(*lines, function)] += 1


def ask(n):
    for _ in range(n):
        MPI.MPI_Initialized(ctypes.byref(version[0])); told("MPI_Initialized")
        if n % 2:
            MPI.MPI_Initialized(ctypes.byref(version[0])); told("MPI_Initialized")


def query(n):
    MPI.MPI_Get_version(ctypes.byref(version[0]), ctypes.byref(version[1])); told("MPI_Get_version")
    for _ in range(n):
        MPI.MPI_Get_version(ctypes.byref(version[0]), ctypes.byref(version[1])); told("MPI_Get_version")


def deep(levels, function, n):
    if levels:
        deep(levels - 1, function, n)
    else:
        function(n)


def generator(n):
    for i in range(n):
        MPI.MPI_Initialized(ctypes.byref(version[0])); told("MPI_Initialized")
        yield i


def comprehended(n):
    return [called() for _ in range(n)]


def called():
    MPI.MPI_Initialized(ctypes.byref(version[0])); told("MPI_Initialized")


TEXT = """


def made_{0}(n):
{1}
    MPI.MPI_Initialized(ctypes.byref(version[0])); told("MPI_Initialized")
    deep(4, query, 1)
"""


def compiled(n):
    """Code of its own, that goes as it came: the next one is likely to be where it was."""
    scope = {"MPI": MPI, "told": told, "ctypes": ctypes, "version": version, "deep": deep, "query": query}
    exec(compile(TEXT.format(n % 7, "\n" * (n % 5)), "<made>", "exec"), scope)
    scope["made_%d" % (n % 7)](n)


def recompiled(n):
    for i in range(3):
        compiled(n + 7 * i)


class Called:
    def __call__(self, n):
        ask(n)
        query(1)

    def __del__(self):
        MPI.MPI_Initialized(ctypes.byref(version[0])); told("MPI_Initialized")


def once(pick):
    turn = pick.randrange(9)
    if turn == 0: ask(pick.randrange(4))
    if turn == 1: query(pick.randrange(3))
    if turn == 2: deep(pick.randrange(3), ask, 2)
    if turn == 3: deep(pick.randrange(60), query, 1)
    if turn == 4: sum(generator(3)); list(generator(2))
    if turn == 5: comprehended(2)
    if turn == 6: recompiled(pick.randrange(100))
    if turn == 7: Called()(2)
    if turn == 8: [ask(1), ask(2), ask(3)]


def main():
    pick = random.Random(1)
    for _ in range(3000):
        once(pick)
    with open(sys.argv[1], "w") as out:
        for key, count in sorted(truth.items()):
            print(*key, count, file=out)


main()
