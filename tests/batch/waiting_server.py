"""A stand-in for a model service that answers every call after a while and counts how many wait at once."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NO_TOOLS = dict.fromkeys(("distortion_detection", "distortion_analysis", "tool_selection", "tool_execution"), False)
PLAN = {
    "query_type": "IQA",
    "query_scope": "Global",
    "distortion_source": "Explicit",
    "distortions": {"Global": ["Blurs"]},
    "reference_mode": "No-Reference",
    "required_tool": None,
    "plan": NO_TOOLS,
}
ANSWER = {"final_answer": "C", "quality_reasoning": "A stand-in says so."}


class WaitingServer(ThreadingHTTPServer):
    """Plans without tools and answers C, each after `seconds`."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self, seconds: float, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.seconds = seconds
        self.calls = self.waiting = self.most_waiting = 0
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    @contextmanager
    def running(self) -> Iterator[WaitingServer]:
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()

    def count(self, change: int) -> None:
        with self.lock:
            self.waiting += change
            self.calls += change > 0
            self.most_waiting = max(self.most_waiting, self.waiting)


class _Handler(BaseHTTPRequestHandler):
    server: WaitingServer
    protocol_version = "HTTP/1.1"
    # Small answers must not wait for the acknowledgement of the one before.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.count(+1)
        time.sleep(self.server.seconds)
        self.server.count(-1)
        content = json.dumps(_completion(PLAN if b"tool_selection" in body else ANSWER)).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
        self.wfile.write(head.encode() + content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests read the counts."""


def _completion(reply: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps(reply)}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "stand-in",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


if __name__ == "__main__":
    server = WaitingServer(float(sys.argv[1]))
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()
    server.serve_forever()
