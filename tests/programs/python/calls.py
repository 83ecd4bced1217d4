"""Ways to call a Python function from Python. See work.py for what the docstrings and the marks say."""

import contextlib
import functools
import sys

from work import N, run


# Known shares: the same loop, 60, 30 and 10 parts of the iterations.
def heavy():
    x = 0
    for i in range(6 * N // 5):  #:
        x += i * i  #:


def middle():
    x = 0
    for i in range(3 * N // 5):  #:
        x += i * i  #:


def light():
    x = 0
    for i in range(N // 5):  #:
        x += i * i  #:


def outer():
    heavy()  #:
    between()  #:


def between():
    middle()  #:
    light()  #:


def part_shares():
    """0.6 outer heavy | 0.3 outer between middle | 0.1 outer between light"""
    outer()  #:


def recurse(depth):
    if depth == 0:
        x = 0
        for i in range(N):  #:
            x += i * i  #:
        return x
    return recurse(depth - 1)  #:


def part_recursion():
    """recurse{41}"""
    recurse(40)  #:


def even(depth):
    if depth == 0:
        x = 0
        for i in range(N):  #:
            x += i * i  #:
        return x
    return odd(  #:
        depth - 1
    )


def odd(depth):
    return (
        1 +
        even(depth - 1)  #:
    )


def part_mutual():
    """(even odd){100} even"""
    even(200)  #:


def part_deep():
    """recurse{901}"""
    recurse(900)  #:


def dives(depth):
    return depth and dives(depth - 1)  #:


def part_dives():
    """dives{1,101}"""
    for _ in range(N // 100):  #:
        dives(100)  #:


def part_calls():
    """called"""
    for i in range(N):  #:
        called(i)  #:


def called(i):
    return i + 1  #:


def part_lambda():
    """<lambda> <lambda>"""
    functions = [
        lambda n: functions[1](n),  #:
        lambda n: functools.reduce(int.__add__, range(n)),  #:
    ]
    functions[0](N)  #:


def part_closure():
    """make inner innermost"""

    def make(n):
        def inner():
            def innermost():
                x = n
                for i in range(n):  #:
                    x += i * i  #:
                return x

            return innermost()  #:

        return inner()  #:

    make(N)  #:


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)  #:

    return wrapper


@decorated
@decorated
def wrapped(n):
    x = 0
    for i in range(n):  #:
        x += i * i  #:


def part_decorators():
    """wrapper wrapper wrapped"""
    wrapped(N)  #:


class Shape:
    def method(self):
        self.kind()  #:

    @classmethod
    def kind(cls):
        cls.static()  #:

    @staticmethod
    def static():
        Shape().area  #:

    @property
    def area(self):
        return self.missing  #:

    def __getattr__(self, name):
        x = 0
        for i in range(N):  #:
            x += i * i  #:
        return x


def part_methods():
    """method kind static area __getattr__"""
    Shape().method()  #:


class Base:
    def __init__(self, n):
        x = 0
        for i in range(n):  #:
            x += i * i  #:


class Derived(Base):
    def __init__(self, n):
        super().__init__(n)  #:


def part_init():
    """__init__ __init__"""
    Derived(N)  #:


class Point:
    def __init__(self, x):
        self.x = x  #:


def part_objects():
    """__init__"""
    for i in range(N // 2):  #:
        Point(i)  #:


class Manager:
    def __enter__(self):
        x = 0
        for i in range(N // 2):  #:
            x += i * i  #:

    def __exit__(self, *_):
        x = 0
        for i in range(N // 2):  #:
            x += i * i  #:


@contextlib.contextmanager
def managed():
    x = 0
    for i in range(N // 2):  #:
        x += i * i  #:
    yield
    for i in range(N // 2):  #:
        x += i * i  #:


def part_with():
    """0.25 __enter__ | 0.25 __exit__ | 0.25 __enter__ managed | 0.25 __exit__ managed"""
    with Manager():  #:
        pass  #: up to 3.9 the end of the block is where it leaves
    with managed():  #:
        pass  #:


def thrower(n):
    for i in range(n):
        try:  #:
            raise ValueError(i)  #:
        except ValueError as error:  #:
            caught = error  #:
        finally:
            caught = None  #:


def throws_far(depth):
    if depth == 0:
        raise KeyError(depth)  #:
    throws_far(depth - 1)  #:


def catcher(n):
    for _ in range(n):
        try:
            throws_far(10)  #:
        except KeyError:
            pass


def part_exceptions():
    """thrower | catcher throws_far{0,11}"""
    thrower(N // 3)  #:
    catcher(N // 50)  #:


def part_class_body():
    """Body | Body helper"""

    class Body:
        x = 0
        for i in range(N // 2):  #:
            x += i * i  #:

        def helper():
            x = 0
            for i in range(N // 2):  #:
                x += i * i  #:

        helper()  #:


def part_comprehensions():
    """<listcomp>? | <setcomp>? | <dictcomp>? | <genexpr>"""
    [i * i for i in range(N // 2)]  #:
    {i % 7 for i in range(N // 2)}  #:
    {i % 7: i for i in range(N // 2)}  #:
    sum(i * i for i in range(N // 2))  #:


def squares(n):
    return [  #:
        square(i)  #:
        for i in range(n)  #:
    ]


def square(i):
    return i * i  #:


def part_comprehension_calls():
    """squares <listcomp>? square"""
    squares(N)  #:


def part_redefined():
    """first | second"""

    def first():
        x = 0
        for i in range(N // 2):  #:
            x += i * i  #:

    def second():
        x = 0
        for i in range(N // 2):  #:
            x += i * i  #:

    first()  #:
    first.__code__ = second.__code__
    first()  #:


def grüße_öffnen_名前():
    x = 0
    for i in range(N):  #:
        x += i * i  #:


def part_unicode():
    """grüße_öffnen_名前"""
    grüße_öffnen_名前()  #:


def part_generator():
    """... numbers | ... doubled numbers | ... delegating doubled numbers"""

    def numbers(n):
        for i in range(n):  #:
            yield i  #:

    def doubled(source):
        for i in source:  #:
            yield i + i  #:

    def delegating(source):
        yield from doubled(source)  #:

    total = 0
    for i in delegating(numbers(N // 2)):  #:
        total += i  #:


def part_send():
    """averager"""

    def averager():
        total = count = 0
        while True:
            value = yield total / max(count, 1)  #:
            total += value
            count += 1

    g = averager()
    next(g)
    for i in range(N // 2):  #:
        g.send(i)  #:


def part_tree():
    """walk+"""

    def walk(depth):
        if not depth:
            return
        yield from walk(depth - 1)  #:
        yield depth  #:
        yield from walk(depth - 1)  #:

    for _ in range(N // 10000 + 1):  #:
        for _ in walk(10):  #:
            pass


def part_closing():
    """numbers cleans"""

    def cleans(n):
        x = 0
        for i in range(n):  #:
            x += i * i  #:

    def numbers():
        try:
            yield 1
        finally:
            cleans(N)  #:

    for _ in numbers():
        break  #:


if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    run(
        part_shares, part_recursion, part_mutual, part_deep, part_dives, part_calls, part_lambda, part_closure,
        part_decorators, part_methods, part_init, part_objects, part_with, part_exceptions, part_class_body,
        part_comprehensions, part_comprehension_calls, part_redefined, part_unicode, part_generator, part_send, part_tree, part_closing,
    )
