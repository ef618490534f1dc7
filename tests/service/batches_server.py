"""The Messages API server of the tests with the Message Batches endpoints added."""

from __future__ import annotations

import json
import threading
from typing import Any

from tests.service.answers import Answer
from tests.service.messages_server import MessagesServer, Received, _Handler

Body = dict[str, Any]


class BatchesServer(MessagesServer):
    """A batch ends after `polls` looks at it. `batches` holds the custom ids of each one made.

    An answer with a status makes its call `errored`; `expired` names calls by their place in the
    batch that expire instead of being answered.
    """

    def __init__(self, polls: int = 2, expired: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.polls, self.expired = polls, expired
        self.batches: list[list[str]] = []
        self.looks = 0
        self.looked = threading.Event()
        self.cancelled: list[str] = []
        self.results: list[list[Body]] = []
        self._http.RequestHandlerClass = type("Handler", (_Batches,), {"owner": self})

    def make(self, path: str, headers: dict[str, str], body: Body) -> Body:
        """A new batch. The results come in another order than the calls."""
        calls = body["requests"]
        lines = [
            {"custom_id": call["custom_id"], "result": self._result(place, path, headers, call)}
            for place, call in enumerate(calls)
        ]
        self.batches.append([call["custom_id"] for call in calls])
        self.results.append(lines[::-1])
        self.looks = 0
        return self.state(len(self.batches) - 1)

    def _result(self, place: int, path: str, headers: dict[str, str], call: Body) -> Body:
        if place in self.expired:
            return {"type": "expired"}
        answer = self.take(Received(path, headers, call["params"], port=0))
        if answer.status != 200:
            error = json.loads(answer.body)
            return {"type": "errored", "error": {**error, "request_id": None}}
        return {"type": "succeeded", "message": _message(answer, call["params"]["model"])}

    def state(self, number: int) -> Body:
        """The batch as the API tells of it."""
        ended = self.looks > self.polls
        return {
            "id": f"msgbatch_{number}",
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0}
            | {"expired": 0},
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "ended_at": "2026-01-01T00:01:00Z" if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/msgbatch_{number}/results"
            if ended
            else None,
        }


class _Batches(_Handler):
    owner: BatchesServer  # type: ignore[assignment]

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        if "/batches" not in path:
            super().do_POST()
            return
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if path.endswith("/cancel"):
            self.owner.cancelled.append(path.split("/")[-2])
            self._json(self.owner.state(0))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._json(self.owner.make(path, headers, json.loads(raw)))

    def do_GET(self) -> None:
        parts = self.path.partition("?")[0].split("/")
        number = int(parts[4].removeprefix("msgbatch_"))
        if parts[-1] == "results":
            lines = "".join(json.dumps(line) + "\n" for line in self.owner.results[number])
            self._body(lines.encode(), "application/x-jsonl")
            return
        self.owner.looks += 1
        self.owner.looked.set()
        self._json(self.owner.state(number))

    def _json(self, body: Body) -> None:
        self._body(json.dumps(body).encode(), "application/json")

    def _body(self, body: bytes, kind: str) -> None:
        self._plain(Answer(body=body, headers={"content-type": kind}))


def _message(answer: Answer, model: str) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(answer.content),
        "stop_reason": answer.stop_reason or "end_turn",
        "stop_sequence": None,
        "usage": {**answer.usage, **answer.final_usage},
    }
