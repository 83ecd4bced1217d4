"""Calls of every kind, the same number in each run; with an argument, cProfile counts them into that file."""

import functools
import json
import sys
import threading
import types


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Everything:
    def __init__(self):
        self.value = 1

    @property
    def prop(self):
        return self.value

    def __getitem__(self, key):
        return key

    def __add__(self, other):
        return 1

    def __lt__(self, other):
        return True

    def __call__(self):
        return self.prop

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True

    def __iter__(self):
        return count(2)

    @staticmethod
    def static():
        return 1

    @classmethod
    def cls(cls):
        return cls.static()


def count(n):
    for i in range(n):
        yield i


def delegate(n):
    yield from count(n)
    return 1


def fail(n):
    if n:
        fail(n - 1)
    else:
        raise KeyError


def catch():
    try:
        fail(5)
    except KeyError:
        pass


async def leaf(n):
    return n


async def branch(n):
    total = 0
    for i in range(n):
        total += await leaf(i)
    return total


@types.coroutine
def suspend():
    yield


async def suspended(n):
    for i in range(n):
        await suspend()


async def agen(n):
    for i in range(n):
        yield i


async def use_agen():
    return [i async for i in agen(4)]


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as end:
        return end.value


def default(a, b=2, *args, **kw):
    return a


def closure():
    calls = 0

    def inner():
        nonlocal calls
        calls += 1

    for i in range(7):
        inner()


def main():
    global left
    fib(12)
    e = Everything()
    e.prop, e[1], e + e, e < e, e(), e.static(), Everything.cls(), list(e)
    with e:
        fail(1)
    for i in count(10):
        pass
    list(delegate(5)), sum(count(3)), next(count(3))
    left = count(5)  # stays suspended to the end
    next(left), next(left)
    catch(), catch()
    drive(branch(6)), drive(suspended(9)), drive(use_agen())
    [x for x in range(3)], {x: 1 for x in range(3)}, list(x for x in range(4))

    class Body:
        values = [i for i in range(2)]

    (lambda: 1)(), sorted([3, 1, 2], key=lambda v: -v), list(map(fib, [1, 2, 3]))
    functools.reduce(default, [1, 2, 3]), default(1, *[2, 3], **{"c": 4}), closure()
    exec("def ex(): pass\nfor i in range(5): ex()", {})
    for i in range(50):  # what the interpreter may run in the caller's evaluation once it is warm
        e.prop, e[i], default(i)
        for j in count(2):
            pass


def profiled(path):
    import cProfile

    profile = cProfile.Profile(builtins=False)
    profile.enable()
    main()
    profile.disable()
    calls = {}
    for entry in profile.getstats():
        if not isinstance(entry.code, str) and entry.code.co_filename == __file__:
            name = "%s:%d" % (entry.code.co_name, entry.code.co_firstlineno)
            calls[name] = calls.get(name, 0) + entry.callcount
    with open(path, "w") as out:
        json.dump(calls, out)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        profiled(sys.argv[1])
    else:
        main()
        threads = [threading.Thread(target=main) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
