"""hybrid.region as a decorator."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any, AsyncGenerator, Callable, Generator

from hybrid import _probe

_Any = Callable[..., Any]


class _Function(_probe.Function):
    """A function in a region; calling it leaves no Python frame. Here for its attributes: see functools.wraps."""

    def __reduce__(self) -> str:
        return str(self.__qualname__)  # pickled by name, as functions are

    def __repr__(self) -> str:
        return f"<{self.__qualname__} in a region>"


def decorate(region: _probe.region, function: Any) -> Any:
    """The function in the region; as it is when the run is not measured."""
    if isinstance(function, type) or not callable(function):
        raise TypeError(f"a region decorates a function, not {type(function).__name__} {function!r}")
    if not _probe.measured():
        return function
    if inspect.isasyncgenfunction(function):
        make: _Any = _async_generator
    elif inspect.iscoroutinefunction(function):
        make = _coroutine
    elif inspect.isgeneratorfunction(function):
        make = _generator
    else:
        make = _function
    return functools.update_wrapper(make(region, function), function)


def _function(region: _probe.region, function: _Any) -> _Any:
    return _Function(region, function, types.MethodType)


def _coroutine(region: _probe.region, function: _Any) -> _Any:
    async def steps(*args: Any, **keywords: Any) -> Any:
        return await _probe.Steps(region, function(*args, **keywords))

    return steps


def _generator(region: _probe.region, function: _Any) -> _Any:
    def steps(*args: Any, **keywords: Any) -> Generator[Any, Any, Any]:
        return (yield from _probe.Steps(region, function(*args, **keywords)))

    return steps


def _async_generator(region: _probe.region, function: _Any) -> _Any:
    async def steps(*args: Any, **keywords: Any) -> AsyncGenerator[Any, Any]:
        inner = function(*args, **keywords)
        step = inner.__anext__()
        try:
            while True:
                value = await _probe.Steps(region, step)
                try:
                    step = inner.asend((yield value))
                except GeneratorExit:
                    await _probe.Steps(region, inner.aclose())
                    raise
                except BaseException as error:
                    step = inner.athrow(error)
        except StopAsyncIteration:
            return

    return steps
