"""What is known about an adaptor at one version, from the catalogue or from its own package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["operation", "function", "reader"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, an option, a property of a type, or a key that is written on state.

    `type` is as JSDoc writes it, "" when it is not known; `optional` None when that is not known.
    `keys` are an object's options. `from_code` says that they are not documented, only read.
    """

    name: str
    type: str = ""
    description: str = ""
    optional: bool | None = None
    variadic: bool = False
    keys: tuple[Parameter, ...] = ()
    from_code: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """An example call."""

    code: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that job code can call, by its full name: `get`, `tracker.import`.

    `kind`: an operation stands at the top level of the code, a function is called inside other
    functions, a reader makes an argument of another call. `common` ones come from the shared
    package that most adaptors re-export. `state` is what is written there: empty when that is
    nothing, None when it is not known.
    """

    name: str
    kind: Kind = "operation"
    parameters: tuple[Parameter, ...] = ()
    description: str = ""
    examples: tuple[Example, ...] = ()
    state: tuple[Parameter, ...] | None = None
    returns: str = ""
    callback: bool = False
    deprecated: bool = False
    common: bool = False

    @property
    def signature(self) -> str:
        """`get(path, options?)`; parts of a parameter, such as `options.purge`, are left out."""
        names = [
            f"{'...' * p.variadic}{p.name}{'?' * bool(p.optional)}"
            for p in self.parameters
            if "." not in p.name
        ]
        return f"{self.name}({', '.join(names)})"


@dataclass(frozen=True, slots=True)
class TypeDoc:
    """A named object type, such as the options of a request."""

    name: str
    properties: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class NameList:
    """Names by where they are from: another package (`*` is all of it), or a namespace.

    `alias_of` is set for a namespace that is a second name of another one.
    """

    source: str
    names: tuple[str, ...] = ()
    alias_of: str = ""


@dataclass(frozen=True, slots=True)
class AdaptorDocs:
    """Everything that is known about one adaptor at one version.

    `configuration` holds the names of its credential's keys, never values.
    """

    package: str
    version: str
    label: str = ""
    description: str = ""
    operations: tuple[Operation, ...] = ()
    types: tuple[TypeDoc, ...] = ()
    common: tuple[str, ...] = ()
    also: tuple[NameList, ...] = ()
    namespaces: tuple[NameList, ...] = ()
    other_exports: tuple[str, ...] = ()
    configuration: tuple[str, ...] = ()

    @property
    def specifier(self) -> str:
        """`@openfn/language-http@7.3.2`."""
        return f"{self.package}@{self.version}"

    def completed(self, known: AdaptorDocs | None) -> AdaptorDocs:
        """These docs, with what they leave open taken from others of the same version."""
        if known is None or known.specifier != self.specifier:
            return self
        facts = {operation.name: operation for operation in known.operations}
        operations = [
            replace(op, state=facts[op.name].state, kind=facts[op.name].kind)
            if op.name in facts and op.state is None
            else op
            for op in self.operations
        ]
        named = {op.name for op in operations}
        missing = [op for op in known.operations if op.name not in named]
        return replace(
            self,
            operations=(*operations, *missing),
            common=self.common or known.common,
            also=self.also or known.also,
            namespaces=self.namespaces or known.namespaces,
            configuration=self.configuration or known.configuration,
        )
