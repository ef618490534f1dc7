"""What is known about an adaptor at one version, from the catalogue or from its own package."""

from __future__ import annotations

import re
from collections.abc import Collection
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

    def completed(self, known: Parameter | None, *, keys: bool) -> Parameter:
        """This parameter, with its open facts from another source; its keys only with `keys`."""
        if known is None:
            return self
        return replace(
            self,
            type=self.type or known.type,
            optional=known.optional if self.optional is None else self.optional,
            variadic=self.variadic or known.variadic,
            keys=self.keys or (known.keys if keys else ()),
            from_code=self.from_code or (keys and known.from_code),
        )


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

    def completed(self, known: Operation | None, types: Collection[str]) -> Operation:
        """This operation, with what its documentation leaves open taken from another source.

        `types` are those that are described, so that their keys are known already.
        """
        if known is None:
            return self
        facts = {parameter.name: parameter for parameter in known.parameters}
        open_ = {
            p.name
            for p in self.parameters
            if not set(types).intersection(re.findall(r"\w+", p.type))
        }
        open_ -= {p.name.partition(".")[0] for p in self.parameters if "." in p.name}
        return replace(
            self,
            kind=known.kind,
            parameters=tuple(
                p.completed(facts.get(p.name), keys=p.name in open_) for p in self.parameters
            ),
            state=known.state if self.state is None else self.state,
            callback=known.callback,
        )


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

    def completed(self, known: AdaptorDocs | None, *, exact: bool = False) -> AdaptorDocs:
        """These docs, with what they leave open taken from others of the same major version.

        Operations that only the others have are added when `known` is `exact`, which is to say of
        the version that is asked about, or when both are of the same version. From another major
        version only the kinds of operations are taken.
        """
        if known is None:
            return self
        facts = {operation.name: operation for operation in known.operations}
        if known.version.split(".")[0] != self.version.split(".")[0]:
            kinds = {name: operation.kind for name, operation in facts.items()}
            typed = (replace(op, kind=kinds.get(op.name, op.kind)) for op in self.operations)
            return replace(self, operations=tuple(typed))
        types = {type_.name for type_ in self.types}
        operations = [op.completed(facts.get(op.name), types) for op in self.operations]
        if exact or known.version == self.version:
            named = {op.name for op in operations}
            operations += [op for op in known.operations if op.name not in named]
        return replace(
            self,
            operations=tuple(operations),
            common=self.common or known.common,
            also=self.also or known.also,
            namespaces=self.namespaces or known.namespaces,
            configuration=self.configuration or known.configuration,
        )
