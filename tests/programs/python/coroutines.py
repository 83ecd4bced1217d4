"""Coroutines, tasks and asynchronous generators."""

import asyncio

from work import N, run, spin


async def leaf(n):
    x = 0
    for i in range(n):  #:
        x += i * i  #:
    return x


async def middle(n):
    return await leaf(n)  #:


def part_await():
    """outer middle leaf"""

    async def outer(n):
        return await middle(n)  #:

    try:
        outer(N).send(None)  #:
    except StopIteration:
        pass


async def sleeper(n):
    for _ in range(10):
        await asyncio.sleep(0)
        spin(n // 10)  #:


async def gathers():
    await asyncio.gather(middle(N), middle(N), sleeper(N))


def part_gather():
    """... middle leaf | ... sleeper spin | ... gathers"""
    asyncio.run(gathers())  #:


async def counts(n):
    for i in range(n):
        yield i  #:


async def squares(n):
    async for i in counts(n):  #:
        yield i * i  #:


class Entered:
    async def __aenter__(self):
        spin(N // 2)  #:

    async def __aexit__(self, *_):
        await middle(N // 2)  #:


async def consumes():
    async for _ in squares(N // 4):  #:
        pass
    async with Entered():  #:
        pass  #: up to 3.9 the end of the block is where it leaves
    return [i async for i in counts(N // 4)]  #:


def part_async_for():
    """... consumes squares counts | ... consumes __aenter__ spin | ... consumes __aexit__ middle leaf | ... consumes <listcomp>? counts"""
    asyncio.run(consumes())  #:


async def awaited(depth):
    if depth:
        return await awaited(depth - 1)  #:
    await asyncio.sleep(0)
    return spin(N)  #:


def part_deep_await():
    """... awaited{51} spin"""
    asyncio.run(awaited(50))  #:


class Awaitable:
    def __await__(self):
        yield from ()
        return spin(N)  #:


async def uses_awaitable():
    await Awaitable()  #:


def part_awaitable():
    """... uses_awaitable __await__ spin"""
    asyncio.run(uses_awaitable())  #:


async def cancelled():
    try:
        await asyncio.sleep(10)
    finally:
        spin(N)  #:


async def cancels():
    task = asyncio.ensure_future(cancelled())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass


def part_cancelled():
    """... cancelled spin"""
    asyncio.run(cancels())  #:


def called_soon(n):
    spin(n)  #:


async def calls_soon():
    asyncio.get_running_loop().call_soon(called_soon, N)
    await asyncio.sleep(0.001)


def part_call_soon():
    """... called_soon spin"""
    asyncio.run(calls_soon())  #:


async def executes():
    await asyncio.get_running_loop().run_in_executor(None, part_executor, N)


def part_executor(n):
    """spin"""
    spin(n)  #:


def part_executors():
    asyncio.run(executes())


if __name__ == "__main__":
    run(
        part_await, part_gather, part_async_for, part_deep_await, part_awaitable, part_cancelled, part_call_soon,
        part_executors,
    )
