"""Uses every probe of the package `hybrid` in a way whose counts are known; behaves the same when not measured.

Names of regions say the calls that they must have; see test_python_package.py.
"""

import asyncio
import functools
import gc
import inspect
import pickle
import threading
import time
import weakref

import hybrid

outer = hybrid.region("outer: 3")  # line of outer
inner = hybrid.region(name="inner: 4")


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


# ------------------------------------------------------------------ contexts

with outer:
    for _ in range(4):
        with inner:
            spin(0.001)
    with outer:
        with outer:
            pass

for i in range(5):
    with hybrid.region("made anew: 5"):  # line of anew
        pass

for kind in (KeyError, StopIteration, KeyboardInterrupt):
    try:
        with hybrid.region("raises: 3"):
            raise kind("passes")
    except BaseException as error:
        assert type(error) is kind and error.args == ("passes",)


def returns():
    with hybrid.region("returned from: 1"):
        return "value"


assert returns() == "value"
assert outer.name == "outer: 3" and repr(outer) == "hybrid.region('outer: 3')"

# ---------------------------------------------------------------- decorators


@hybrid.region("function: 3")
def function(x, *rest, y=1):
    """Adds."""
    return x + y + sum(rest)


assert function(1) == 2 and function(1, 2, y=3) == 6
assert (function.__name__, function.__doc__, function.__module__) == ("function", "Adds.", "__main__")
assert str(inspect.signature(function)) == "(x, *rest, y=1)"
assert pickle.loads(pickle.dumps(function)) is function
try:
    function("text")
except TypeError as error:
    names = []
    traceback = error.__traceback__
    while traceback:
        names.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert names == ["<module>", "function"], names
else:
    raise AssertionError("no exception")


class Class:
    @hybrid.region("method: 2")
    def method(self, value):
        return self, value

    @classmethod
    @hybrid.region("class method: 1")
    def class_method(cls):
        return cls

    @staticmethod
    @hybrid.region("static method: 1")
    def static_method(value):
        return value

    @property
    @hybrid.region("property: 1")
    def attribute(self):
        return "attribute"


item = Class()
assert item.method(1) == (item, 1) and Class.method(item, 2) == (item, 2)
assert Class.class_method() is Class and item.static_method(5) == 5 and item.attribute == "attribute"


@hybrid.region("recursive: 11")
def recursive(n):
    return n and 1 + recursive(n - 1)


assert recursive(10) == 10
assert hybrid.region("partial: 1")(functools.partial(int, base=2))("101") == 5


def cycle():
    @hybrid.region("never: 0")
    def closure():
        return closure

    return weakref.ref(closure)


reference = cycle()
gc.collect()
assert reference() is None

# ---------------------------------------------------------------- generators


@hybrid.region("generator: 5")
def generator(n):
    got = []
    for i in range(n):
        got.append((yield i))
    return got


assert inspect.isgeneratorfunction(generator)
steps = generator(2)
assert next(steps) == 0 and steps.send("a") == 1
try:
    steps.send("b")
except StopIteration as error:
    assert error.value == ["a", "b"]
assert list(generator(1)) == [0]


@hybrid.region("thrown into: 3")
def thrown():
    try:
        yield 1
    except ValueError as error:
        yield error.args
    finally:
        ended.append("thrown")


ended = []
steps = thrown()
assert next(steps) == 1 and steps.throw(ValueError("x")) == ("x",)
steps.close()
assert ended == ["thrown"]

# ---------------------------------------------------------------- coroutines


@hybrid.region("coroutine: 15")
async def coroutine(n):
    for _ in range(n):
        await asyncio.sleep(0)
    return n


@hybrid.region("asynchronous generator: 9")
async def numbers(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            yield i
    except ValueError:
        yield "caught"
    finally:
        ended.append("numbers")


@hybrid.region("cancelled: 2")
async def cancelled():
    try:
        await asyncio.sleep(100)
    finally:
        ended.append("cancelled")


async def main():
    # Each goes on once more than it waits: 4 + 5 + 6 steps.
    assert await asyncio.gather(coroutine(3), coroutine(4), coroutine(5)) == [3, 4, 5]
    assert [i async for i in numbers(2)] == [0, 1]  # 5 steps: two for each number, and the end
    some = numbers(2)
    assert await some.__anext__() == 0  # 2 steps
    # One step each: thrown into, and closed.
    assert await some.athrow(ValueError("x")) == "caught"
    await some.aclose()
    task = asyncio.ensure_future(cancelled())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        ended.append("task")


assert inspect.iscoroutinefunction(coroutine) and inspect.isasyncgenfunction(numbers)
asyncio.run(main())
assert ended == ["thrown", "numbers", "numbers", "cancelled", "task"], ended

# ------------------------------------------------------------------- threads

shared = hybrid.region("shared: 150")


@hybrid.region("worker: 3")
def worker(number):
    hybrid.thread_name(f"worker {number}")
    for _ in range(50):
        with shared:
            pass


threads = [threading.Thread(target=worker, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

# -------------------------------------------------------------------- values


class Index:
    def __index__(self):
        return 7


class Float:
    def __float__(self):
        return 0.5


things = hybrid.counter("things", unit="pieces")
assert (things.name, things.unit) == ("things", "pieces")
assert repr(things) == "hybrid.counter('things', 'pieces')"
assert hybrid.counter("things", "pieces") is things and hybrid.counter("things") is not things
things.set(3)
things.count()
things.count(-5)
things.count(2.5)
things.set(True)
things.set(2**63 - 1)
things.count()
things.set(2**70)
things.set(-(10**400))
things.set(Index())
things.set(Float())
hybrid.counter("temperature").set(float("nan"))
hybrid.counter("\ud800\u00e9").set(-(2**63))

with hybrid.region("has parameters: 1"):
    hybrid.parameter("n", 12)
    with hybrid.region("below parameters: 1"):
        pass
    hybrid.parameter("big", 10**30)
    hybrid.parameter("ratio", 0.25)
    hybrid.parameter("text", "\u00e9")

hybrid.marker("a moment \u20ac")
hybrid.marker("ends here\0not seen")
hybrid.metadata("build", "1.2")
hybrid.metadata("size", 5)

# -------------------------------------------------------------------- pauses

with hybrid.paused():
    with hybrid.region("never: 0"):
        with hybrid.paused():
            spin(0.002)
    with hybrid.region("never: 0"):
        pass
hybrid.pause()
with hybrid.region("never: 0"):
    pass
hybrid.resume()
with hybrid.region("after pauses: 1"):
    pass

# ------------------------------------------------------------ wrong arguments


def fails(wanted, call):
    try:
        call()
    except TypeError as error:
        assert wanted in str(error), (wanted, str(error))
    else:
        raise AssertionError(f"no exception: {wanted}")


fails("the name of a region must be a str, not int", lambda: hybrid.region(3))
fails("the name of a region must be a str, not function", lambda: hybrid.region(fails))
fails("region()", lambda: hybrid.region())
fails("region()", lambda: hybrid.region("x", nam="y"))
fails("what a region decorates must be a function, not type", lambda: outer(Class))
fails("what a region decorates must be a function, not str", lambda: outer("x"))
fails("a region decorates one function", lambda: outer())
fails("not an acceptable base type", lambda: type("sub", (hybrid.region,), {}))
fails("the name of a counter must be a str, not bytes", lambda: hybrid.counter(b"x"))
fails("the unit of a counter must be a str, not NoneType", lambda: hybrid.counter("x", None))
fails("the value of a counter must be an int or a float, not str", lambda: things.set("1"))
fails("the value of a counter must be an int or a float, not complex", lambda: things.count(1j))
fails("the text of a marker must be a str, not int", lambda: hybrid.marker(1))
fails("the name of a thread must be a str, not NoneType", lambda: hybrid.thread_name(None))
fails("the key must be a str, not int", lambda: hybrid.parameter(1, "x"))
fails("the value must be a str, an int or a float, not list", lambda: hybrid.parameter("x", []))
fails("the value must be a str, an int or a float, not bytes", lambda: hybrid.metadata("x", b""))
fails("2 arguments", lambda: hybrid.metadata("x"))
fails("paused() takes", lambda: hybrid.paused(1))

print("measured" if hybrid.measured() else "not measured")
