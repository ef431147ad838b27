"""What is put around a model's client: retries, breaker, limits, price, recording, samples, cache on disk."""

from __future__ import annotations

import json
import math
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agenticiqa.cache import Cache
from agenticiqa.errors import (
    AuthenticationError,
    BackendError,
    BadReplyError,
    ModelReplyError,
    OverloadedError,
    RateLimitError,
    SettingsError,
    UnavailableError,
)
from agenticiqa.vlm_client import Sampling, ScriptedVLMClient, Usage, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.client import WrappingVLMClient
from agenticiqa.vlm_client.middleware.caching import CachingVLMClient
from agenticiqa.vlm_client.middleware.recording import RecordingVLMClient, ReplayingVLMClient
from agenticiqa.vlm_client.middleware.retrying import (
    BreakerVLMClient,
    LimitedVLMClient,
    RetryingVLMClient,
    RetryPolicy,
)
from agenticiqa.vlm_client.middleware.sampling import SamplingVLMClient
from agenticiqa.vlm_client.models import PricingVLMClient, load_prices
from agenticiqa.vlm_client.providers.http import retry_after_seconds
from agenticiqa.vlm_client.structured import ask_for
from agenticiqa.vlm_client.tasks import AnswerReply
from tests.wire.asking import GOOD, answer_request, score_request


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def saying(*lines: Any, task: str = "answer") -> ScriptedVLMClient:
    return ScriptedVLMClient({task: list(lines)}, model="openai.gpt-4o")


def retrying(client: ScriptedVLMClient, clock: Clock, chance: float = 0.0, **policy: Any) -> RetryingVLMClient:
    return RetryingVLMClient(client, RetryPolicy(**policy), clock=clock.read, sleep=clock.sleep, chance=lambda: chance)


def test_waits_double_up_to_the_longest() -> None:
    clock = Clock()
    client = retrying(saying(OverloadedError("busy")), clock, attempts=8, max_seconds=1000)

    with pytest.raises(OverloadedError) as caught:
        client.ask(answer_request())

    assert clock.slept == [1, 2, 4, 8, 16, 30, 30]
    assert caught.value.attempts == 8


def test_chance_takes_off_up_to_half_of_a_wait() -> None:
    clock = Clock()
    client = retrying(saying(OverloadedError("busy"), OverloadedError("busy"), GOOD), clock, chance=1.0)

    reply = client.ask(answer_request())

    assert clock.slept == [0.5, 1.0]
    assert reply.usage.transport_attempts == 3


def test_no_try_is_begun_after_the_time_is_up() -> None:
    clock = Clock()
    client = retrying(saying(RateLimitError("slow", retry_after=50.0)), clock, attempts=10, max_seconds=120)

    with pytest.raises(RateLimitError) as caught:
        client.ask(answer_request())

    assert clock.slept == [50.0, 50.0]
    assert caught.value.attempts == 3


@pytest.mark.parametrize("error", [AuthenticationError("no"), BadReplyError("odd"), BackendError("invalid")])
def test_errors_that_do_not_pass_are_raised_at_once(error: BackendError) -> None:
    clock = Clock()

    with pytest.raises(type(error)):
        retrying(saying(error), clock).ask(answer_request())

    assert clock.slept == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None), ({"retry-after": "2"}, 2.0), ({"retry-after": "0.5"}, 0.5), ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25), ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
    ],
)  # fmt: skip
def test_the_wait_a_service_asks_for_is_read_from_its_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, now=30.0) == seconds


def test_a_backend_that_keeps_failing_rests_and_is_then_tried_once() -> None:
    clock, inner = Clock(), saying(OverloadedError("down"))
    client = BreakerVLMClient(inner, failures=3, seconds=30, clock=clock.read)
    outcomes: list[tuple[type[BackendError], int]] = []

    for moment in (0, 1, 2, 3, 20, 33, 34):
        clock.now = moment
        with pytest.raises(BackendError) as caught:
            client.ask(answer_request())
        outcomes.append((type(caught.value), caught.value.attempts))

    down, rests = (OverloadedError, 1), (UnavailableError, 0)
    assert outcomes == [down, down, down, rests, rests, down, rests]
    assert len(inner.requests) == 4


def test_a_backend_that_answers_again_is_trusted_again() -> None:
    clock = Clock()
    down = OverloadedError("down")
    client = BreakerVLMClient(saying(down, down, GOOD, down, GOOD), 2, 30, clock=clock.read)

    for _ in range(2):
        with pytest.raises(OverloadedError):
            client.ask(answer_request())
    clock.now = 31
    client.ask(answer_request())
    with pytest.raises(OverloadedError):
        client.ask(answer_request())

    assert client.ask(answer_request()).text == GOOD


def test_a_refused_key_does_not_make_a_backend_rest() -> None:
    client = BreakerVLMClient(saying(AuthenticationError("no")), failures=1)

    for _ in range(3):
        with pytest.raises(AuthenticationError):
            client.ask(answer_request())


def test_requests_keep_the_rate() -> None:
    clock = Clock()
    client = LimitedVLMClient(saying(GOOD), requests_per_minute=30, clock=clock.read, sleep=clock.sleep)

    for _ in range(4):
        client.ask(answer_request())

    assert clock.slept == [2.0, 2.0, 2.0]


def test_no_more_requests_run_at_once_than_allowed() -> None:
    running, most, lock, gate = 0, 0, threading.Lock(), threading.Event()

    def look(request: VLMRequest) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        gate.wait(0.05)
        with lock:
            running -= 1
        return GOOD

    client = LimitedVLMClient(ScriptedVLMClient({"answer": look}), concurrency=2)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: client.ask(answer_request()), range(6)))

    assert most == 2


def test_the_cost_follows_the_dated_table() -> None:
    # gpt-4o: 200 fresh tokens at 2.50, 1000 cached at 1.25, 30 written at 10.00 dollars per million.
    reply = VLMReply(GOOD, "openai.gpt-4o", usage=Usage(1200, 30, 1000, cost_usd=None))
    price = load_prices().of("openai.gpt-4o")

    client = PricingVLMClient(saying(reply), price)

    assert client.ask(answer_request()).usage.cost_usd == pytest.approx(0.00205, abs=1e-12)


def test_an_unknown_price_is_unknown() -> None:
    reply = VLMReply(GOOD, "compatible.mine", usage=Usage(1200, 30, cost_usd=None))

    client = PricingVLMClient(saying(reply), load_prices().of("compatible.mine"))

    assert client.ask(answer_request()).usage.cost_usd is None


def test_a_dated_snapshot_has_its_models_price() -> None:
    prices = load_prices()

    assert prices.of("openai.gpt-4o-2024-08-06") == prices.of("openai.gpt-4o")
    assert prices.of("anthropic.claude-3-5-sonnet-20241022") == prices.of("anthropic.claude-3-5-sonnet")
    assert prices.of("openai.gpt-4o-audio") is None


def test_the_users_prices_win(tmp_path: Path) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text("openai.gpt-4o: {input: 1, output: 2, date: 2026-11-01}\n")

    price = load_prices(own).of("openai.gpt-4o")

    assert price is not None
    assert (price.input, price.output, price.date.isoformat()) == (1, 2, "2026-11-01")


@pytest.mark.parametrize("text", ["openai.gpt-4o: 3", "- a", "openai.x: {input: 1, output: 2}", "a: {b"])
def test_a_price_table_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text(text)

    with pytest.raises(SettingsError, match=r"prices\.yaml: not a price table"):
        load_prices(own)


def test_a_recording_answers_in_order_without_the_backend(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "calls.jsonl"
    levels = {"A": math.log(0.5), "B": math.log(0.5), "C": -math.inf, "D": -math.inf, "E": -math.inf}
    full = VLMReply(GOOD, "openai.gpt-4o", levels, "logprobs", (1.5, 2.5), Usage(5, 6), ("test image sent as PNG",))
    live = RecordingVLMClient(saying(full, RateLimitError("slow", 3.0), task="score"), file)
    request = score_request()

    live.ask(request)
    with pytest.raises(RateLimitError):
        live.ask(request)
    replay = ReplayingVLMClient("openai.gpt-4o", file)
    first = replay.ask(request)

    assert (first.text, first.level_logprobs, first.interval) == (GOOD, levels, (1.5, 2.5))
    assert first.notes == ("test image sent as PNG", "replayed from calls.jsonl")
    assert first.usage == Usage(from_cache=True)
    with pytest.raises(RateLimitError) as caught:
        replay.ask(request)
    assert caught.value.retry_after == 3.0


def test_a_recording_has_words_and_hashes_but_no_image(tmp_path: Path) -> None:
    file, request = tmp_path / "calls.jsonl", answer_request()

    RecordingVLMClient(saying(GOOD), file).ask(request)

    entry = json.loads(file.read_text())
    assert entry["user"] == request.user
    assert entry["images"] == {"test image": request.images[0].image.sha256}
    assert file.stat().st_size < 2000
    assert file.stat().st_mode & 0o077 == 0


def test_a_request_nobody_recorded_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    RecordingVLMClient(saying(GOOD), file).ask(answer_request())

    with pytest.raises(BadReplyError, match="record again"):
        ReplayingVLMClient("openai.gpt-4o", file).ask(answer_request(user="Something else?"))


ODD_TEXT = GOOD.replace("}", ' , "x": "one\u2028two\x85three\ud83d"}')
"""Separators that some readers take for the end of a line, and half of a surrogate pair."""


def test_a_recording_holds_any_text_a_model_can_write(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    RecordingVLMClient(saying(ODD_TEXT), file).ask(answer_request())

    replayed = ReplayingVLMClient("openai.gpt-4o", file).ask(answer_request())

    assert replayed.text == ODD_TEXT


def kept_by(client: VLMClient, request: VLMRequest) -> VLMReply:
    """The reply, accepted by whoever asked."""
    reply = client.ask(request)
    client.keep(request, reply)
    return reply


def test_a_reply_that_fails_a_check_is_in_no_cache(tmp_path: Path) -> None:
    def check(reply: AnswerReply) -> AnswerReply:
        raise ValueError("final_answer was 'B'; allowed: A, C")

    with pytest.raises(ModelReplyError):
        ask_for(AnswerReply, on_disk(tmp_path, saying(GOOD)), answer_request(), check=check)
    fresh = saying(GOOD)
    ask_for(AnswerReply, on_disk(tmp_path, fresh), answer_request())

    assert len(fresh.requests) == 1


def test_what_a_model_refuses_is_part_of_the_key(tmp_path: Path) -> None:
    class Refusing(ScriptedVLMClient):
        identity = "compatible.m"

        def asked_without(self, request: VLMRequest) -> frozenset[str]:
            return frozenset({"temperature"})

    plain, refusing = saying(GOOD), Refusing({"answer": GOOD})
    plain.identity = "compatible.m"

    kept_by(on_disk(tmp_path, plain), answer_request())
    kept_by(on_disk(tmp_path, refusing), answer_request())

    assert len(refusing.requests) == 1


def test_a_reply_on_disk_may_hold_any_text_a_model_can_write(tmp_path: Path) -> None:
    kept_by(on_disk(tmp_path, saying(ODD_TEXT)), answer_request())

    kept = on_disk(tmp_path, saying(UnavailableError("must not be asked"))).ask(answer_request())

    assert kept.text == ODD_TEXT


@pytest.mark.parametrize("text", ["not JSON", "[]", "{}"])
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)

    with pytest.raises(SettingsError, match=r"x\.jsonl: not a recording"):
        ReplayingVLMClient("openai.gpt-4o", tmp_path / "x.jsonl")


def level(letter: str) -> VLMReply:
    return VLMReply(GOOD.replace('"B"', f'"{letter}"'), "m", usage=Usage(10, 2, cost_usd=0.5))


def test_samples_give_the_shares_of_the_levels() -> None:
    # One reply at temperature 0, then B, B, C, an unusable one, D: 2, 1 and 1 of 4, half a vote added to each of 5.
    inner = saying(level("A"), level("B"), level("B"), level("C"), "no JSON", level("D"), task="score")

    reply = SamplingVLMClient(inner, samples=5).ask(score_request())

    assert reply.probability_source == "samples"
    assert reply.level_logprobs is not None
    shares = {letter: math.exp(value) for letter, value in reply.level_logprobs.items()}
    assert shares == pytest.approx({"A": 0.5 / 6.5, "B": 2.5 / 6.5, "C": 1.5 / 6.5, "D": 1.5 / 6.5, "E": 0.5 / 6.5})
    assert '"A"' in reply.text
    assert (reply.usage.input_tokens, reply.usage.cost_usd, reply.usage.transport_attempts) == (50, 2.5, 6)
    assert [request.sampling.temperature for request in inner.requests] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert len({request.sampling.seed for request in inner.requests}) == 6


def test_no_samples_are_drawn_when_the_model_has_probabilities_or_no_level_is_asked_for() -> None:
    known = VLMReply(GOOD, "m", {"A": 0.0}, "logprobs")
    scoring, answering = saying(known, task="score"), saying(GOOD)

    SamplingVLMClient(scoring, samples=5).ask(score_request())
    SamplingVLMClient(answering, samples=5).ask(answer_request())

    assert len(scoring.requests) == len(answering.requests) == 1


def on_disk(path: Path, client: ScriptedVLMClient, **options: Any) -> CachingVLMClient:
    return CachingVLMClient(client, Cache(path / "cache.sqlite"), **options)


def test_a_reply_on_disk_comes_back_whole(tmp_path: Path) -> None:
    levels = {"A": -math.inf, "B": 0.0, "C": -1.5, "D": -2.0, "E": -3.0}
    full = VLMReply(GOOD, "m", levels, "logprobs", (1.0, 2.0), Usage(5, 6, cost_usd=None), ("a note",))
    kept_by(on_disk(tmp_path, saying(full, task="score")), score_request())
    silent = saying(UnavailableError("must not be asked"), task="score")

    kept = on_disk(tmp_path, silent).ask(score_request())

    assert (kept.text, kept.level_logprobs, kept.interval, kept.notes) == (GOOD, levels, (1.0, 2.0), ("a note",))
    assert kept.usage == Usage(from_cache=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda: score_request(user="Other words"),
        lambda: score_request(system="Other words"),
        lambda: score_request(sampling=Sampling(max_tokens=99)),
        lambda: score_request(images=()),
        lambda: answer_request(task="locate"),
    ],
)
def test_another_request_is_asked_anew(tmp_path: Path, change: Callable[[], VLMRequest]) -> None:
    inner = ScriptedVLMClient({"score": GOOD, "locate": GOOD})
    client = on_disk(tmp_path, inner)

    client.ask(score_request())
    client.ask(change())

    assert len(inner.requests) == 2


def test_another_address_is_another_backend(tmp_path: Path) -> None:
    clients = [saying(GOOD, task="score") for _ in range(2)]
    for client, address in zip(clients, ("one", "two"), strict=True):
        client.identity = f"compatible.m at {address}"

    for client in clients:
        on_disk(tmp_path, client).ask(score_request())

    assert [len(client.requests) for client in clients] == [1, 1]


def test_sampled_replies_are_kept_only_if_asked_for(tmp_path: Path) -> None:
    inner = saying(GOOD, task="score")
    warm = score_request(sampling=Sampling(temperature=0.7))

    for _ in range(2):
        kept_by(on_disk(tmp_path, inner), warm)
    for _ in range(2):
        kept_by(on_disk(tmp_path, inner, sampled=True), warm)

    assert len(inner.requests) == 3


def ask_from_a_process(path: str) -> str:
    return kept_by(on_disk(Path(path), saying(GOOD, task="score")), score_request()).text


def test_a_reply_to_be_kept_reaches_the_cache_through_what_is_around_it() -> None:
    client = ScriptedVLMClient({"answer": ["no", GOOD]})
    around = WrappingVLMClient(CachingVLMClient(client))

    ask_for(AnswerReply, around, answer_request())
    again = ask_for(AnswerReply, around, answer_request())

    assert again.value.final_answer
    assert len(client.requests) == 2


def test_several_processes_share_the_cache(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        texts = pool.map(ask_from_a_process, [str(tmp_path)] * 6)

    silent = saying(UnavailableError("must not be asked"), task="score")
    assert texts == [GOOD] * 6
    assert on_disk(tmp_path, silent).ask(score_request()).text == GOOD
