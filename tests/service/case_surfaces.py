"""What a turn shows to the outside, as text: the four surfaces that the cases' snapshots pin."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence

from global_chat.contract.response import Response
from global_chat.model.seam import Message, ModelRequest
from global_chat.render.renderers import Plain
from global_chat.replay.play import Outcome

#: What a prompt costs is estimated from its length, which is nothing that a turn promises.
_INPUT_TOKENS = re.compile(r'(?<="input_tokens": )\d+|[\d,]+(?= tokens in)')
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def plain(outcome: Outcome) -> str:
    """Both streams of a terminal that can do nothing but show text."""
    out, err = io.StringIO(), io.StringIO()
    renderer = Plain(out, err, stream=True)
    with renderer:
        for event in outcome.events:
            renderer(event)
    if outcome.error is not None:
        renderer.failed(outcome.error)
    else:
        renderer.finish([], 0.0)
    return _stable(f"--- stdout\n{out.getvalue()}--- stderr\n{err.getvalue()}", outcome)


def response(outcome: Outcome) -> str:
    """The response file without the document in it; of a turn that failed, the error object."""
    if isinstance(outcome.response, Response):
        text = outcome.response.as_json()
        made = json.dumps(outcome.response.workflow_yaml, ensure_ascii=False)
        text = text.replace(f'"content": {made}', '"content": "[the workflow]"')
    else:
        assert outcome.error is not None
        text = json.dumps(outcome.error.as_dict(), ensure_ascii=False, indent=2)
    return _stable(text + "\n", outcome)


def workflow(outcome: Outcome) -> str:
    """The document that came out, carriage returns made visible."""
    return _stable(outcome.after.replace("\r", "␍"), outcome)


def requests(outcome: Outcome) -> str:
    """What each model was sent. Static parts and schemas have snapshots of their own.

    A request that goes on with an earlier one shows only what is new.
    """
    sent = [exchange.request for exchange in outcome.exchanges]
    return "\n".join(_request(number, sent) for number in range(len(sent)))


def _request(number: int, sent: Sequence[ModelRequest]) -> str:
    request = sent[number]
    lines = [f"=== {number + 1} {request.agent}"]
    if request.output_schema is not None:
        lines.append(f"answers {', '.join(request.output_schema['properties'])}")
    if request.tools:
        off = "" if request.tools_allowed else ", but may use none"
        lines.append(f"has {', '.join(tool.name for tool in request.tools)}{off}")
    earlier = next((i for i in reversed(range(number)) if _goes_on(request, sent[i])), None)
    messages = request.messages
    if earlier is not None:
        lines.append(f"goes on with {earlier + 1}")
        messages = messages[len(sent[earlier].messages) :]
    else:
        for place, part in enumerate(request.system):
            # The first part is the agent's prompt, which snapshots of its own pin.
            shown = "[static]" if part.cached and place == 0 else part.text
            lines += ["--- system, cached" if part.cached else "--- system", shown]
    for message in messages:
        lines += [f"--- {message.role}", *_message(message)]
    return "\n".join(lines) + "\n"


def _goes_on(request: ModelRequest, earlier: ModelRequest) -> bool:
    known = len(earlier.messages)
    same = (request.agent, request.system, request.messages[:known])
    return same == (earlier.agent, earlier.system, earlier.messages)


def _message(message: Message) -> Iterator[str]:
    if isinstance(message.content, str):
        yield message.content
        return
    for block in message.content:
        match block["type"]:
            case "text":
                yield block["text"]
            case "tool_use":
                given = json.dumps(block["input"], ensure_ascii=False)
                yield f"[{block['id']}: {block['name']} {given}]"
            case "tool_result":
                failed = ", failed" if block.get("is_error") else ""
                yield f"[result of {block['tool_use_id']}{failed}]\n{block['content']}"


def _stable(text: str, outcome: Outcome) -> str:
    """The text without what differs from run to run: ids that the turn made are numbered."""
    made: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        if found[0] in outcome.workflow:
            return found[0]
        return made.setdefault(found[0], f"<new id {len(made) + 1}>")

    return _UUID.sub(name, _INPUT_TOKENS.sub("…", text))
