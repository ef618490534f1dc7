"""A small Messages API server for tests: scripted answers, and every way in which one can go wrong.

It listens on 127.0.0.1 on a free port, speaks HTTP as the real service does, and ends with its
`with` block. A request takes the first unused answer that is meant for it.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.service.answers import Answer, Event, Fault, events_in, refusal

#: No fault holds a connection longer than this, in seconds, whatever the client does.
LONGEST_HANG = 20.0


@dataclass(frozen=True)
class Received:
    """A request as it arrived; `port` is the client's, one a connection."""

    path: str
    headers: dict[str, str]
    body: Event
    port: int = 0

    @property
    def agent(self) -> str:
        """Who asks, told by what only that agent sends."""
        tools = {tool["name"] for tool in self.body.get("tools", ())}
        if "call_job_code_agent" in tools:
            return "planner"
        if "edit_job" in tools:
            return "job_code_agent"
        format_ = self.body.get("output_config", {}).get("format", {})
        properties = format_.get("schema", {}).get("properties", {})
        if "destination" in properties:
            return "router"
        return "workflow_agent" if "yaml" in properties else "other"


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64  # parallel calls must not wait for a second SYN


class MessagesServer:
    """The server. `requests` holds what arrived; `arrived` is set by the first one and
    `client_left` when a client hung up before its answer was complete."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.arrived = threading.Event()
        self.client_left = threading.Event()
        self.closing = threading.Event()
        self._answers: list[Answer] = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = _Http(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def add(self, *answers: Answer) -> None:
        """Answers for the requests to come."""
        with self._lock:
            self._answers += answers

    @property
    def left(self) -> list[Answer]:
        """Answers that no request took."""
        return [answer for answer in self._answers if not answer.repeat]

    def take(self, received: Received) -> Answer:
        """The answer for a request; an error response when there is none."""
        with self._lock:
            self.requests.append(received)
            self.arrived.set()
            said = json.dumps(received.body, ensure_ascii=False)
            for place, answer in enumerate(self._answers):
                if answer.agent in (None, received.agent) and answer.contains in said:
                    if not answer.repeat:
                        del self._answers[place]
                    return answer
        return refusal(400, "invalid_request_error", f"no answer for {received.agent}")

    def __enter__(self) -> MessagesServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    owner: MessagesServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.owner.take(
            Received(self.path, headers, json.loads(raw), self.client_address[1])
        )
        try:
            if answer.status != 200 or answer.body:
                self._plain(answer)
            else:
                self._stream(answer)
        except ConnectionError:
            self.owner.client_left.set()
            self.close_connection = True

    def handle(self) -> None:
        # A client may hang up between two requests too, which nobody wants to read about.
        with suppress(ConnectionError):
            super().handle()

    def finish(self) -> None:
        with suppress(ConnectionError):
            super().finish()

    def _plain(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()

    def _stream(self, answer: Answer) -> None:
        fault, events = answer.fault, list(events_in(answer))
        if fault is not None and fault.after is not None:
            events = events[: fault.after]
        if fault is None or fault.after != 0 or fault.kind not in ("cut", "hang"):
            self._open(answer)
        for event in events:
            self._send(answer, event["type"], json.dumps(event, ensure_ascii=False))
        if fault is None:
            self._chunk(b"")
        else:
            self._go_wrong(answer, fault)

    def _open(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _go_wrong(self, answer: Answer, fault: Fault) -> None:
        if fault.kind == "error":
            data = {"type": "error", "error": fault.error}
            self._send(answer, "error", json.dumps(data))
            self._chunk(b"")
        elif fault.kind == "garble":
            self._send(answer, "content_block_delta", '{"type": "content_block_de')
            self._chunk(b"")
        elif fault.kind == "close":
            self._chunk(b"")
        elif fault.kind == "hang":
            self._hang()
        if fault.kind in ("cut", "hang"):
            self.close_connection = True
            with suppress(OSError):  # the client may have hung up already
                self.connection.shutdown(socket.SHUT_RDWR)

    def _hang(self) -> None:
        """Say nothing until the client hangs up, the server closes or patience ends."""
        waited = 0.0
        while waited < LONGEST_HANG and not self.owner.closing.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.05)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                self.owner.client_left.set()
                return
            waited += 0.05

    def _send(self, answer: Answer, name: str, data: str) -> None:
        frame = f"event: {name}\ndata: {data}\n\n".encode()
        size = answer.split or len(frame)
        for start in range(0, len(frame), size):
            self._chunk(frame[start : start + size])

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
