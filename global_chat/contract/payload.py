"""What a turn is given: the payload of payloads/PAYLOAD_SPEC.md, and the subagents' own ones."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StrictBool,
    ValidationError,
    field_validator,
    model_validator,
)

from .attachments import Attachment, as_text
from .errors import BadRequest, Location, dotted, in_words
from .response import HistoryEntry
from .texts import did_you_mean, nearest, replace_lone_surrogates_in


def _history_text(content: Any) -> Any:
    """Earlier turns may come as block lists from a saved conversation: their text parts count."""
    if not isinstance(content, list):
        return content
    texts = [b.get("text", "") for b in content if isinstance(b, dict) and b.get("type") == "text"]
    return "\n".join(t for t in texts if isinstance(t, str))


class _Input(BaseModel):
    """Unknown keys are kept aside (`model_extra`), so that they can be warned about.

    A key that is null is the same as one that is absent, as for most programs that write JSON.
    """

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _clean(cls, data: Any) -> Any:
        data = replace_lone_surrogates_in(data)
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value is not None}


class HistoryTurn(_Input):
    """An earlier turn, as the user and the assistant saw it."""

    role: Literal["user", "assistant"]
    content: Annotated[str, BeforeValidator(_history_text)]


class AttachmentInput(_Input):
    """One attachment as given; `as_attachment` is what travels."""

    type: str = Field(min_length=1)
    content: str | list[Any] | dict[str, Any]

    def as_attachment(self) -> Attachment:
        """The same with its content as text (`as_text`)."""
        return Attachment(self.type, as_text(self.content))


class Options(_Input):
    stream: bool | None = None


class User(_Input):
    id: str | None = None
    persona: str | None = None


class Meta(_Input):
    """Carried into the trace, and nowhere else."""

    session_id: str | None = None
    user: User = User()


class _Conversation(_Input):
    content: str
    history: list[HistoryTurn] = []
    api_key: SecretStr | None = None

    @field_validator("content")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is blank; say what you want in plain words")
        return value

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each key that nothing reads."""
        return tuple(_unknown_keys(self, ""))

    @property
    def turns(self) -> tuple[HistoryEntry, ...]:
        """The history as every agent reads it: without blank turns, which no provider accepts."""
        return tuple(
            HistoryEntry(role=t.role, content=t.content) for t in self.history if t.content.strip()
        )

    def history_with(self, answer: str) -> list[HistoryEntry]:
        """The history plus this exchange, the user's turn exactly as typed."""
        asked = HistoryEntry(role="user", content=self.content)
        return [*self.turns, asked, HistoryEntry(role="assistant", content=answer)]


class Payload(_Conversation):
    """One turn's input."""

    workflow_yaml: str | None = None
    page: str | None = None
    attachments: list[AttachmentInput] = []
    options: Options = Options()
    meta: Meta = Meta()
    metrics_opt_in: StrictBool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of every payload, and one for a page that is not valid."""
        if not self.page or self.page.strip("/").startswith("workflows"):
            return super().warnings
        return (
            *super().warnings,
            f"The page {self.page!r} is ignored: a page is workflows/NAME or workflows/NAME/STEP.",
        )

    @property
    def evidence(self) -> tuple[Attachment, ...]:
        """The attachments as they travel."""
        return tuple(a.as_attachment() for a in self.attachments)


class JobContext(_Input):
    """The step that a direct `global-chat job` call is about, and its evidence."""

    expression: str | None = None
    adaptor: str | None = None
    page_name: str | None = None
    input: str | list[Any] | dict[str, Any] | None = None
    output: str | list[Any] | dict[str, Any] | None = None
    log: str | list[Any] | dict[str, Any] | None = None

    @property
    def evidence(self) -> tuple[Attachment, ...]:
        """The evidence that there is, as attachments of a turn."""
        given = {"run_input": self.input, "run_output": self.output, "log": self.log}
        return tuple(Attachment(t, as_text(v)) for t, v in given.items() if v not in (None, ""))


class JobPayload(_Conversation):
    """The job code agent's own payload."""

    context: JobContext = JobContext()


class WorkflowPayload(_Conversation):
    """The workflow agent's own payload. `errors` are problems that the app found in the YAML."""

    existing_yaml: str | None = None
    errors: str | list[str] | None = None
    read_only: bool = False


T = TypeVar("T", bound=_Conversation)

_KINDS: dict[type, str] = {
    type(None): "nothing",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def read(model: type[T], data: object) -> T:
    """`data` as a `model`; its `warnings` name the keys that nothing reads.

    Raises `BadRequest` with a sentence that names each wrong field and says what is expected.
    """
    if not isinstance(data, dict):
        kind = _KINDS.get(type(data), "another kind of value")
        raise BadRequest(
            f"The payload must be one object with at least a 'content' text; it holds {kind}."
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        known = set(model.model_fields)
        raise BadRequest(
            _sentence(error, {str(key) for key in data} - known),
            details={"fields": _fields(error)},
        ) from None


def _fields(error: ValidationError) -> list[str]:
    return list(dict.fromkeys(_name(e["loc"]) for e in error.errors()))


def _sentence(error: ValidationError, strange: set[str]) -> str:
    """`The payload cannot be used: 'content' is missing; …`, with the first five of them.

    `strange` are the keys that nothing reads: one of them may be what is missing, misspelt.
    """
    wrong: dict[str, list[str]] = {}
    for e in error.errors(include_url=False, include_input=False):
        name = _name(e["loc"])
        meant = nearest(name, strange) if e["type"] == "missing" else None
        wrong.setdefault(name, []).append(
            in_words(e) + (f" (`{meant}` is not a known key)" if meant else "")
        )
    found = [f"{name!r} {_alternatives(words)}" for name, words in wrong.items()]
    more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
    return "The payload cannot be used: " + "; ".join(found[:5]) + more + "."


def _alternatives(words: list[str]) -> str:
    """What a field may hold: `must be text or a list`."""
    first, *others = dict.fromkeys(words)
    return " or ".join([first, *(other.removeprefix("must be ") for other in others)])


def _name(location: Location) -> str:
    return dotted(location, "payload")


def _unknown_keys(value: BaseModel, path: str) -> list[str]:
    known = type(value).model_fields
    found = [
        f"Unknown payload key {path + key!r} is ignored.{did_you_mean(key, known)}"
        for key in value.model_extra or ()
    ]
    for name in known:
        child = getattr(value, name)
        children = child if isinstance(child, list) else [child]
        for i, item in enumerate(children):
            if isinstance(item, BaseModel):
                where = f"{path}{name}[{i}]." if isinstance(child, list) else f"{path}{name}."
                found += _unknown_keys(item, where)
    return found
