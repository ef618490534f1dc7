"""What an adaptor's package says about itself: operations, parameters, examples, types."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Docs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Parameter(_Docs):
    """A parameter of an operation, or a property of a type. `type` is as JSDoc writes it."""

    name: str
    type: str = ""
    description: str = ""


class Example(_Docs):
    """An example call."""

    code: str
    caption: str = ""


class Operation(_Docs):
    """An operation. `common` ones come from the shared package that most adaptors re-export."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    description: str = ""
    examples: tuple[Example, ...] = ()
    common: bool = False

    @property
    def signature(self) -> str:
        """`get(path, options)`; parts of a parameter, such as `options.purge`, are left out."""
        names = [p.name for p in self.parameters if "." not in p.name]
        return f"{self.name}({', '.join(names)})"


class TypeDoc(_Docs):
    """A named object type, such as the options of a request."""

    name: str
    properties: tuple[Parameter, ...] = ()


class AdaptorDocs(_Docs):
    """The documentation of one adaptor at one version."""

    package: str
    version: str
    label: str = ""
    description: str = ""
    operations: tuple[Operation, ...] = ()
    types: tuple[TypeDoc, ...] = ()

    @property
    def specifier(self) -> str:
        """`@openfn/language-http@7.3.2`."""
        return f"{self.package}@{self.version}"
