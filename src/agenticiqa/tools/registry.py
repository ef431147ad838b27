"""The registry: every tool by its name, run, calibrated and remembered, in memory and on disk."""

from __future__ import annotations

import difflib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from agenticiqa.cache import Cache, Recent, cache_key
from agenticiqa.errors import AgenticIQAError, ToolUnavailableError, UnknownToolError
from agenticiqa.images import Align, LoadedImage
from agenticiqa.state import GLOBAL, OVERALL, Region, ToolExecutionLog
from agenticiqa.tools.calibration import HIGHEST, Calibration
from agenticiqa.tools.running import Prepared, measure, out_of_range, prepare
from agenticiqa.tools.tool import Measurement, Tool, ToolCard

if TYPE_CHECKING:
    from agenticiqa.tools.synthetic.ladder import LadderCalibrations

logger = logging.getLogger("agenticiqa.tools")

NAMESPACE = "tools"
REMEMBERED = 4096
"""Results kept in memory."""
RawResult = tuple[float, tuple[str, ...]]
"""A raw value and the notes on how it came about."""
_COST_ORDER = {"cheap": 0, "medium": 1, "heavy": 2}
# Tools whose rank correlations differ by less are equals, and then the cheaper one goes first.
_EQUAL_SRCC = 0.05
_UNKNOWN_SRCC = 0.5


class ToolRegistry:
    """Tools by name, with the calibrations, cache and limits they run under."""

    def __init__(
        self,
        tools: Iterable[Tool],
        calibrations: Mapping[str, Calibration] | None = None,
        cache: Cache | None = None,
        timeout: float = 60.0,
        find: Callable[[str], Tool | None] | None = None,
        first_use: LadderCalibrations | None = None,
        *,
        remembered: int = REMEMBERED,
    ) -> None:
        """`find` may supply a tool that is not listed, for example any of pyiqa's metrics by name.

        No tool may take longer than `timeout` seconds. `first_use` calibrates metrics that have no curve; without it
        they are reported raw and do not vote.
        `remembered` results are kept in memory beside the cache.
        """
        self._tools = {tool.name: tool for tool in tools}
        self._calibrations = dict(calibrations or {})
        self._timeout = timeout
        self._cache = cache
        self._recent = Recent[RawResult](remembered)
        self._find = find
        self._first_use = first_use
        self._lock = threading.Lock()

    def get(self, name: str) -> Tool:
        """The tool of this name; upper and lower case do not matter."""
        found = self._tools.get(name) or self._look_up(name)
        if found is None:
            close = ", ".join(self._closest(name))
            raise UnknownToolError(f"no IQA tool named {name!r}{f'; did you mean: {close}' if close else ''}")
        return found

    def names(self) -> list[str]:
        """All names, available or not, in the catalogue's order."""
        return list(self._tools)

    def card(self, name: str) -> ToolCard:
        """What the catalogue says of this tool."""
        return self.get(name).card

    def find_card(self, name: str) -> ToolCard | None:
        """What the catalogue says of this tool; None if it does not know it."""
        try:
            return self.card(name)
        except UnknownToolError:
            return None

    def available(self, name: str) -> str | None:
        """Why the tool cannot run here, with the remedy; None when it can."""
        return self.get(name).unavailable()

    def calibration(self, name: str) -> Calibration | None:
        """The tool's curves, if it has any."""
        tool = self.get(name)
        own = self._calibrations.get(tool.name) or tool.calibration
        return own or (self._first_use.known(tool) if self._first_use else None)

    def votes(self, name: str) -> bool:
        """Whether the tool's score may enter the fusion: calibrated, and a judgement rather than an attribute."""
        return self.card(name).role != "attribute" and self.calibration(name) is not None

    def may_contradict(self, name: str, category: str) -> bool:
        """Whether a high score of this tool speaks against a distortion: its score falls with that damage."""
        card = self.find_card(name)
        return card is None or card.contradicts is None or category in (*card.contradicts, OVERALL)

    def is_calibrated_on_first_use(self, name: str) -> bool:
        """Whether the tool has no curve yet and will be given one when it is used."""
        tool = self.get(name)
        if self._first_use is None or tool.card.role != "metric" or self.calibration(name) is not None:
            return False
        return self._first_use.refusal(tool) is None

    def refusal(self, name: str) -> str | None:
        """Why the tool was given no curve when it was first used; None otherwise."""
        return self._first_use.refusal(self.get(name)) if self._first_use else None

    def suitable(self, category: str, has_reference: bool) -> list[ToolCard]:
        """Cards of available tools that vote, or will once used, for a distortion category or "Overall", best first.

        With a reference, full-reference tools come before the others; among equals the cheaper one is first.
        """
        cards = [
            tool.card
            for tool in list(self._tools.values())
            if (has_reference or tool.card.reference == "NR")
            and tool.unavailable() is None
            and (self.votes(tool.name) or self.is_calibrated_on_first_use(tool.name))
        ]
        return sorted(cards, key=lambda card: self._rank(card, category))

    def execute(
        self,
        name: str,
        test: LoadedImage,
        reference: LoadedImage | None = None,
        region: Region | None = None,
        kinds: Mapping[str, float] | None = None,
        align: Align | None = None,
    ) -> Measurement:
        """What the tool says of this image; `kinds` are probabilities of categories or kinds of distortion.

        Raises UnknownToolError, ToolUnavailableError, ToolTimeoutError, ToolError or an ImageError.
        """
        started = time.perf_counter()
        tool = self.get(name)
        prepared, result = self._measured(tool, test, reference, region, align)
        if self._first_use is not None and self.is_calibrated_on_first_use(name):
            self._first_use.calibrate(self, tool)
        return self._read(tool, prepared, *result, kinds, time.perf_counter() - started)

    def raw(self, name: str, test: LoadedImage, reference: LoadedImage | None = None) -> float:
        """The tool's raw value alone; raises as `execute` does."""
        return self._measured(self.get(name), test, reference)[1][0]

    def _measured(
        self,
        tool: Tool,
        test: LoadedImage,
        reference: LoadedImage | None,
        region: Region | None = None,
        align: Align | None = None,
    ) -> tuple[Prepared, RawResult]:
        reason = tool.unavailable()
        if reason is not None:
            raise ToolUnavailableError(f"{tool.name} is not available: {reason}")
        prepared = prepare(tool.card, test, reference, region, align)
        key = _key(tool, test, reference, region, align)
        result = self._recent.get(key) or self._kept_on_disk(key)
        if result is None:
            result = measure(tool, prepared, self._timeout)
            if self._cache:
                self._cache.put(NAMESPACE, key, json.dumps(result))
        self._recent.put(key, result)
        return prepared, result

    def _kept_on_disk(self, key: str) -> RawResult | None:
        text = self._cache.get(NAMESPACE, key) if self._cache else None
        if text is None:
            return None
        raw, notes = json.loads(text)
        return raw, tuple(notes)

    def execute_with_fallback(
        self,
        name: str,
        test: LoadedImage,
        reference: LoadedImage | None = None,
        region: Region | None = None,
        kinds: Mapping[str, float] | None = None,
        *,
        object_name: str = GLOBAL,
        distortion: str = OVERALL,
        substitute: bool = True,
    ) -> list[ToolExecutionLog]:
        """One log per attempt, the outcome last; a tool or image that fails is a log with `error`, not an exception.

        A failing tool is replaced by the cheapest suitable one that runs, marked `fallback=True`; when none is left
        the last log has an error, no score, and a note that says so. A tool the query names must not be replaced:
        pass `substitute=False`.
        """
        logs: list[ToolExecutionLog] = []
        comparable = reference is not None and reference.size == test.size
        side = min(test.size if region is None else (region.right - region.left, region.bottom - region.top))
        for candidate in self._attempts(name, distortion, comparable, side) if substitute else (name,):
            started = time.perf_counter()
            fields = {"object_name": object_name, "distortion": distortion, "fallback": candidate != name}
            try:
                said = self.execute(candidate, test, reference, region, kinds)
            except AgenticIQAError as error:
                logger.warning("%s on %s: %s", candidate, object_name, error)
                seconds = time.perf_counter() - started
                logs.append(ToolExecutionLog(tool_name=candidate, execution_time=seconds, error=str(error), **fields))
                continue
            logs.append(
                ToolExecutionLog(
                    tool_name=candidate,
                    raw_score=said.raw,
                    normalized_score=said.calibrated,
                    execution_time=said.seconds,
                    notes=list(said.notes),
                    **fields,
                )
            )
            return logs
        if substitute:
            logs[-1].notes.append("no suitable tool is left to replace it")
        return logs

    def _look_up(self, name: str) -> Tool | None:
        with self._lock:
            folded = name.casefold()
            found = next((tool for known, tool in self._tools.items() if known.casefold() == folded), None)
            if found is None and self._find is not None:
                found = self._find(name)
                if found is not None:
                    self._tools[found.name] = found
            return found

    def _closest(self, name: str) -> list[str]:
        by_folded = {known.casefold(): known for known in self._tools}
        return [by_folded[match] for match in difflib.get_close_matches(name.casefold(), by_folded, cutoff=0.5)]

    def _rank(self, card: ToolCard, category: str) -> tuple[bool, float, int, str]:
        calibration = self.calibration(card.name)
        srcc = None
        # On made damage alone nearly every tool ranks well: that says little of its agreement with people.
        if calibration is not None and calibration.method != "ladder":
            srcc = calibration.kinds.get(category, calibration.overall).srcc
        merit = abs(srcc if srcc is not None else _UNKNOWN_SRCC)
        if category in card.strengths:
            merit += _EQUAL_SRCC
        return card.reference == "NR", -round(merit / _EQUAL_SRCC), _COST_ORDER[card.cost], card.name

    def _read(
        self,
        tool: Tool,
        prepared: Prepared,
        raw: float,
        notes: tuple[str, ...],
        kinds: Mapping[str, float] | None,
        seconds: float,
    ) -> Measurement:
        calibration = self.calibration(tool.name)
        warning = out_of_range(tool.card, raw)
        if warning or calibration is None or not self.votes(tool.name):
            extra = (warning,) if warning else ()
            return Measurement(tool.name, raw, None, None, seconds, notes + extra)
        if prepared.identical:
            return Measurement(tool.name, raw, HIGHEST, 0.0, seconds, (*notes, "test and reference are identical"))
        score, spread = calibration.score(raw, kinds)
        return Measurement(tool.name, raw, score, spread, seconds, notes)

    def _attempts(self, name: str, distortion: str, comparable: bool, side: int) -> Iterable[str]:
        """The tool itself, then what can replace it on a pair or image like this, the cheapest first."""
        yield name
        cards = self.suitable(distortion, comparable)
        for card in sorted(cards, key=lambda card: (card.reference == "NR", _COST_ORDER[card.cost])):
            if card.name != name and side >= card.min_side:
                yield card.name


def _key(
    tool: Tool, test: LoadedImage, reference: LoadedImage | None, region: Region | None, align: Align | None
) -> str:
    card = tool.card
    other = reference.sha256 if reference is not None and card.reference == "FR" else None
    box = (region.left, region.top, region.right, region.bottom) if region else None
    how = (card.implementation, card.version, card.max_pixels, card.oversize, card.sampled_above)
    return cache_key(card.name, *how, test.sha256, other, box, align)
