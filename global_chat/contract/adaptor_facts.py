"""What is known of an adaptor, for whoever checks job code: names, and what operations do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OperationFacts:
    """`writes_data` says whether `state.data` is overwritten; None when it is not known.

    `callback` says whether the operation takes a callback as its last argument.
    """

    writes_data: bool | None = None
    callback: bool = False


@dataclass(frozen=True, slots=True)
class AdaptorFacts:
    """Names as code writes them, with their namespace: `tracker.import`, `util.encode`.

    `operations` stand at the top level of the code, those of `collections` included, which every
    step has. `common` is everything that the adaptor includes from common, and `common_operations`
    the part of it that stands at the top level. `helpers` are called inside functions, `readers`
    make an argument of another call. `others` are names from other packages; when the adaptor
    includes all of one, `open_ended` is true and any name may be right. `exact` says that these are
    the facts of the very version that was asked for, not of another one with the same major number.
    """

    specifier: str
    exact: bool
    operations: Mapping[str, OperationFacts]
    common: frozenset[str] = frozenset()
    common_operations: frozenset[str] = frozenset()
    helpers: frozenset[str] = frozenset()
    readers: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    namespaces: frozenset[str] = field(default_factory=frozenset)
    open_ended: bool = False
