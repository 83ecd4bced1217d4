from os import PathLike
from typing import Any, Dict, Final, Iterator, List, Optional, Sequence, Tuple, Union, final

from hybrid._experiment import Location

class Error(Exception):
    """An experiment cannot be read; the text names the file and the reason."""

# Struct sequences: tuples of these fields, in this order.

@final
class Node(Tuple[Any, ...]):
    _fields: Tuple[str, ...]
    parent: Final[int]
    kind: Final[str]
    name: Final[str]
    file: Final[str]
    line: Final[int]
    module: Final[str]
    address: Final[Optional[int]]
    calls: Final[int]
    skipped: Final[int]
    inclusive: Final[int]
    exclusive: Final[int]
    samples: Final[int]
    demoted: Final[bool]
    guess: Final[bool]
    message: Final[Optional[str]]
    handle: Final[Optional[int]]
    peer: Final[Optional[int]]
    size: Final[Optional[int]]
    sent: Final[Optional[int]]
    received: Final[Optional[int]]
    metrics: Final[Optional[Dict[str, int]]]

@final
class Event(Tuple[Any, ...]):
    _fields: Tuple[str, ...]
    time: Final[int]
    kind: Final[str]
    location: Final[Location]
    node: Final[Optional[int]]
    text: Final[Optional[str]]
    value: Final[Union[int, float, None]]
    unit: Final[Optional[str]]
    weight: Final[Optional[int]]
    since: Final[Optional[int]]
    until: Final[Optional[int]]
    blocked: Final[Optional[int]]
    message: Final[Optional[str]]
    handle: Final[Optional[int]]
    peer: Final[Optional[int]]
    tag: Final[Optional[int]]
    sent: Final[Optional[int]]
    received: Final[Optional[int]]
    offset: Final[Optional[int]]
    request: Final[Optional[int]]
    metrics: Final[Optional[Dict[str, int]]]

@final
class Row(Tuple[Any, ...]):
    _fields: Tuple[str, ...]
    parent: Final[int]
    depth: Final[int]
    kind: Final[str]
    name: Final[str]
    file: Final[str]
    line: Final[int]
    module: Final[str]
    calls: Final[int]
    skipped: Final[int]
    samples: Final[int]
    inclusive: Final[int]
    exclusive: Final[int]
    blocked: Final[int]
    python: Final[bool]
    guess: Final[bool]
    demoted: Final[bool]
    metrics_inclusive: Final[Dict[str, int]]
    metrics_exclusive: Final[Dict[str, int]]

# For hybrid._experiment. Locations are pairs of indices: of the process, and in it.

@final
class Events(Iterator[Event]):
    def __next__(self) -> Event: ...

@final
class Experiment:
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def processes(self) -> List[Dict[str, Any]]: ...
    def values(self) -> Dict[str, str]: ...
    def damage(self) -> Tuple[int, List[str]]: ...
    def nodes(self, __process: int, __location: int) -> Tuple[Node, ...]: ...
    def events(
        self, __objects: Sequence[Sequence[Location]], __process: int, __location: int, __complete: bool
    ) -> Events: ...
    def profile(
        self,
        __mode: int,
        __sort: int,
        __split: bool,
        __internals: bool,
        __locations: Optional[Tuple[Tuple[int, int], ...]],
    ) -> List[Row]: ...

def open(__path: Union[str, bytes, PathLike[str], PathLike[bytes]]) -> Experiment: ...
