"""What the service counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

# Seconds.
_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """Counters of one service in a registry of their own."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.requests = Counter(
            "agenticiqa_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self.refused = Counter("agenticiqa_refused", "Requests refused because the queue was full.", registry=registry)
        self.shared = Counter("agenticiqa_shared", "Requests answered by an identical run.", registry=registry)
        self._ended = Counter("agenticiqa_runs", "Runs ended, by outcome.", ("kind", "outcome"), registry=registry)
        self._seconds = Histogram(
            "agenticiqa_run_seconds", "How long a run took.", ("kind",), buckets=_BUCKETS, registry=registry
        )

    def watch(self, name: str, what: str, value: Callable[[], float]) -> None:
        """Adds a gauge that reads its value whenever it is asked for."""
        Gauge(f"agenticiqa_{name}", what, registry=self._registry).set_function(value)

    def ended(self, kind: str, outcome: str, seconds: float) -> None:
        self._ended.labels(kind, outcome).inc()
        self._seconds.labels(kind).observe(seconds)

    def text(self) -> bytes:
        """Everything, in the format Prometheus reads."""
        return generate_latest(self._registry)
