"""A package registry on this machine, and a package for it: an alpaca farm's adaptor."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ALPACA = "@openfn/language-alpaca"

AST = {
    "operations": [
        {
            "name": "shear",
            "params": ["animal", "options"],
            "docs": {
                "description": "Take the wool off an animal. It grows back.",
                "tags": [
                    {"title": "public"},
                    {
                        "title": "param",
                        "name": "animal",
                        "description": "Whom",
                        "type": {"type": "NameExpression", "name": "string"},
                    },
                    {
                        "title": "param",
                        "name": "options",
                        "description": "How",
                        "type": {
                            "type": "OptionalType",
                            "expression": {"type": "NameExpression", "name": "ShearOptions"},
                        },
                    },
                    {"title": "param", "name": "options.depth", "description": "In mm"},
                    {"title": "example", "caption": "A close cut", "description": "shear('A1');"},
                ],
            },
        },
        {"name": "feed", "params": ["animal"], "docs": {"description": "Give it hay.", "tags": []}},
        {"name": "hidden", "params": [], "docs": {"tags": [{"title": "private"}]}},
    ],
    "common": [{"name": "fn", "params": ["func"], "docs": {"description": "Run code", "tags": []}}],
}

INDEX = 'export * from "./Adaptor.js";\nexport * as http from "./http";\n'
HTTP_TYPES = """
/**
 * How to cut
 * @typedef {Object} ShearOptions
 * @public
 * @property {number} depth - millimetres
 * @property {string} [mood='calm'] - of the animal
 */
/**
 * Ask the farm directly.
 * @function
 * @example <caption>All of them</caption>
 * http.get('/alpacas', {
 *   query: { max: 1 },
 * });
 * @param {string} path - where
 * @param {{a: {b: string}}} [options={}] - more
 * @returns {Operation}
 */
export function get(path: string, options?: { a: (x: number, y: string) => void }): Operation;
/**
 * @private
 */
export function secret(): void;
"""


def package(version: str = "1.2.3", **changes: Any) -> dict[str, bytes]:
    about = {"name": ALPACA, "version": version, "label": "Alpaca farm"}
    files = {
        "package/package.json": json.dumps(about).encode(),
        "package/ast.json": json.dumps(AST).encode(),
        "package/types/index.d.ts": INDEX.encode(),
        "package/types/http.d.ts": HTTP_TYPES.encode(),
    }
    return {**files, **changes}


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def integrity(archive: bytes, algorithm: str = "sha512") -> str:
    digest = hashlib.new(algorithm, archive).digest()
    return f"{algorithm}-{base64.b64encode(digest).decode()}"


class FakeRegistry:
    """Answers as told. `asked` lists the paths that were requested."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.delay = 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                time.sleep(outer.delay)
                status, body = outer.answers.get(self.path, (404, b"{}"))
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def has(self, archive: bytes, version: str = "1.2.3", **dist: Any) -> None:
        """Offer `archive` as that version, with a right checksum unless told otherwise."""
        file = f"/{ALPACA}/-/language-alpaca-{version}.tgz"
        entry = {"tarball": self.address + file, "integrity": integrity(archive), **dist}
        listing = {"versions": {version: {"dist": entry}}, "dist-tags": {"latest": version}}
        self.answers[f"/{ALPACA.replace('/', '%2F')}"] = (200, json.dumps(listing).encode())
        self.answers[file] = (200, archive)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
