"""hybrid.region as a decorator, in a run that is measured. Imports little: the program did not ask for it."""

from __future__ import annotations

import functools
from types import MethodType

from hybrid import _probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AsyncGenerator, Callable, Generator

    _Any = Callable[..., Any]

_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200  # bits of co_flags, as in inspect


class _Function(_probe.Function):
    """A function in a region; calling it leaves no Python frame. Here for its attributes: see functools.wraps."""

    def __reduce__(self) -> str:
        return str(self.__qualname__)  # pickled by name, as functions are

    def __repr__(self) -> str:
        return f"<{getattr(self, '__qualname__', 'partial')} in a region>"


def decorate(region: _probe.region, function: Any) -> Any:
    """The function in the region."""
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    flags = getattr(getattr(inner, "__code__", None), "co_flags", 0)
    if flags & _ASYNC_GENERATOR:
        make: _Any = _async_generator
    elif flags & _COROUTINE:
        make = _coroutine
    elif flags & _GENERATOR:
        make = _generator
    else:
        make = _function
    return functools.update_wrapper(make(region, function), function)


def _function(region: _probe.region, function: _Any) -> _Any:
    return _Function(region, function, MethodType)


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
