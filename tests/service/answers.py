"""Answers for the Messages API server of the tests, and the ways in which one can go wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Event = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """How an answer goes wrong, after `after` events of its stream (None: after all of them).

    `kind` is `cut` (the connection drops), `close` (it ends in good order but too soon), `garble`
    (an event that is no JSON), `hang` (silence) or `error` (an `error` event with `error`).
    """

    kind: str
    after: int | None = 0
    error: Event = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """One answer: a streamed message, or with `status` a plain response with `body`.

    `agent` and `contains` say which request it is for; with neither it is for any.
    """

    content: tuple[Event, ...] = ()
    stop_reason: str | None = None
    usage: Event = field(default_factory=lambda: {"input_tokens": 10, "output_tokens": 1})
    final_usage: Event = field(default_factory=lambda: {"output_tokens": 5})
    piece: int = 7
    split: int = 0
    extra_events: tuple[Event, ...] = ()
    fault: Fault | None = None
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    agent: str | None = None
    contains: str = ""
    repeat: bool = False


def text(value: str, **more: Any) -> Answer:
    """An answer of one text."""
    return Answer(content=({"type": "text", "text": value},), **more)


def json_text(value: Any, **more: Any) -> Answer:
    """An answer of structured output."""
    return text(json.dumps(value, ensure_ascii=False), **more)


def tool_use(name: str, input_: Any, id_: str = "toolu_1") -> Event:
    """A tool call. A string as its input is sent as it is, so that it can be cut short."""
    return {"type": "tool_use", "id": id_, "name": name, "input": input_}


def refusal(status: int, type_: str, message: str, **headers: str) -> Answer:
    """An error response as the service sends it; `retry_after="3"` becomes a header."""
    error = {"type": "error", "error": {"type": type_, "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(
        status=status,
        body=json.dumps(error).encode(),
        headers={"content-type": "application/json", **named},
    )


def broken(answer: Answer, kind: str, after: int | None = 0, **error: str) -> Answer:
    """`answer`, going wrong in the given way."""
    return replace(answer, fault=Fault(kind, after, error))


def events_in(answer: Answer) -> Iterator[Event]:
    """The events of a message, in the order of the real service."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "served-model"}
    yield {"type": "message_start", "message": {**message, "content": [], "usage": answer.usage}}
    yield {"type": "ping"}
    for index, block in enumerate(answer.content):
        start, deltas = _block(block, answer.piece)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield from answer.extra_events
    calls = any(block["type"] == "tool_use" for block in answer.content)
    reason = answer.stop_reason or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": answer.final_usage}
    yield {"type": "message_stop"}


def _block(block: Event, size: int) -> tuple[Event, list[Event]]:
    """A block as its start and its deltas; of an unknown type it comes whole, in the start."""
    kind = block["type"]
    if kind == "text":
        texts = _pieces(block["text"], size)
        return {**block, "text": ""}, [{"type": "text_delta", "text": t} for t in texts]
    if kind == "tool_use":
        given = block["input"]
        raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        parts = ["", *_pieces(raw, size)]
        deltas = [{"type": "input_json_delta", "partial_json": p} for p in parts]
        return {**block, "input": {}}, deltas
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": t} for t in _pieces(block[kind], size)]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*deltas, signed]
    return block, []


def _pieces(whole: str, size: int) -> list[str]:
    return [whole[start : start + size] for start in range(0, len(whole), size)]
