"""The service a batch under fire talks to: faults by chance, and an exact account of who asked what how often."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

from tests.chaos.fault_server import provider_of, task_of
from tests.chaos.faults import FAULTS, Healthy, status
from tests.support import agent
from tests.wire.serving import Answer, ScriptedServer, Seen

_SAMPLE = re.compile(r"sample-\d+")
_RETRY = re.compile(r"\\n\\nAttempt \d: your last reply was not accepted; [^.]*\.")
_REPLIES = agent.script()
_NAMES = ("429 with Retry-After", "reset before the body", "reset in the body", "truncated JSON", "empty content",
          "reply of the wrong shape", "refusal", "200 with an HTML page")  # fmt: skip


def _question(seen: Seen) -> str:
    """What is asked, without the sentence a retry adds; other evidence from an earlier step makes another question."""
    words = _RETRY.sub("", json.dumps(seen.body))
    return hashlib.sha256(words.encode()).hexdigest()


class BatchService:
    """Answers every request about a sample with that sample's own words, or with a fault."""

    def __init__(self, share: float, seed: int) -> None:
        self.requests: Counter[str] = Counter()
        """Requests by sample."""
        self.answers: Counter[str] = Counter()
        """Good answers by question; the words a retry adds make no other question."""
        self.faults = 0
        self._share, self._rng, self._lock = share, random.Random(seed), Lock()
        self._makers = [fault.make for fault in FAULTS if fault.name in _NAMES] + [status(503, retry_after="0")]
        self._http = ScriptedServer().script_by(self._answer)
        self._http.keeps_requests = False
        self.url = self._http.url

    @contextmanager
    def running(self) -> Iterator[BatchService]:
        with self._http.running():
            yield self

    def _answer(self, seen: Seen) -> Answer:
        found = _SAMPLE.search(json.dumps(seen.body))
        assert found is not None
        sample, task = found.group(), task_of(seen.body)
        text = json.dumps(_REPLIES[task]).replace("Moderate blur,", f"Moderate blur in {sample},")
        healthy = Healthy(provider_of(seen.path), task, text)
        with self._lock:
            self.requests[sample] += 1
            if self._rng.random() < self._share:
                self.faults += 1
                return self._rng.choice(self._makers)(healthy)
            self.answers[_question(seen)] += 1
        # Long enough for a kill to find calls under way.
        return replace(healthy.answer(), silence=0.02)

    def repeated(self) -> int:
        """Good answers that were asked for again."""
        return sum(count - 1 for count in self.answers.values())
