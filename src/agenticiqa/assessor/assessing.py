"""What Python users hold: an assessor that keeps its parts loaded, and the assessments it gives."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from agenticiqa.assessor.assessment import Assessment, assessment_of, failed_assessment
from agenticiqa.config import ROLES, Settings, load_settings
from agenticiqa.errors import AgenticIQAError, ImageNotFoundError, UsageError
from agenticiqa.graph.flow import initial_state, prepare_run
from agenticiqa.images import Align, ImageSource, NamedBytes
from agenticiqa.nodes.context import OnEvent, ProgressEvent
from agenticiqa.parts import Parts, build_parts
from agenticiqa.question.asked import DEFAULT_QUERY
from agenticiqa.question.choices import Choices

if TYPE_CHECKING:
    from agenticiqa.assessor.ranking import Ranking


class AssessOptions(TypedDict, total=False):
    """What `Assessor.assess` takes besides the image and the question."""

    reference: ImageSource | None
    choices: Choices | None
    align: Align | None
    regions: Sequence[str]
    max_replan_iterations: int | None
    on_event: OnEvent | None
    checkpointer: BaseCheckpointSaver[Any] | None
    thread_id: str | None


class Assessor:
    """Answers questions about images, one after the other or from several threads, with the same loaded parts."""

    def __init__(self, settings: Settings | None = None, parts: Parts | None = None) -> None:
        self.parts = parts or build_parts(settings)

    def assess(
        self,
        image: ImageSource,
        query: str | None = None,
        *,
        reference: ImageSource | None = None,
        choices: Choices | None = None,
        align: Align | None = None,
        regions: Sequence[str] = (),
        max_replan_iterations: int | None = None,
        on_event: OnEvent | None = None,
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        thread_id: str | None = None,
    ) -> Assessment:
        """The assessment of an image; raises the typed error of an image, question or setting that cannot be used.

        Without a query the quality is rated. `choices` are texts by letter, or a list like ["Yes", "No"]. 0 or 1 replan
        iterations never replan, 2 (the default) replans once.
        `align="resize"` scales a reference of another size instead of refusing it.
        `regions` names things ("face", "subject", "cat") to be located and judged besides, whatever is asked.
        A model that fails is no exception: the assessment says "Unable to determine", and why.
        """
        store = self.parts.settings.image_store(align)
        test, other = store.place(image), None
        if reference is not None:
            other = store.place(reference, "reference")
        state = initial_state(query or DEFAULT_QUERY, test, other, max_replan_iterations, choices)
        config: RunnableConfig = {"configurable": {**vars(self.parts), "images": store}}
        final = prepare_run(state, config, checkpointer, thread_id, on_event).carry_out()
        return assessment_of(final, self.parts, store, regions)

    def assess_many(
        self,
        images: Iterable[ImageSource],
        query: str | None = None,
        *,
        on_error: Callable[[ImageSource, AgenticIQAError], None] | Literal["record"] | None = None,
        **options: Unpack[AssessOptions],
    ) -> Iterator[Assessment]:
        """One assessment after the other, as they are asked for; options as in `assess`.

        An image that cannot be used raises its typed error and ends the rest. With `on_error="record"` it is one
        assessment like the others, "Unable to determine" with the reason in `error`, so that there are as many as
        images; with a function it is told to that function and left out.
        """
        for image in images:
            try:
                found = self.assess(image, query, **options)
            except AgenticIQAError as error:
                if on_error is None:
                    error.add_note('assess_many(..., on_error="record") records such a picture and goes on')
                    raise
                if on_error != "record":
                    on_error(image, error)
                    continue
                found = failed_assessment(query or DEFAULT_QUERY, error, self.parts)
            yield found

    async def aassess(
        self, image: ImageSource, query: str | None = None, **options: Unpack[AssessOptions]
    ) -> Assessment:
        """The same as `assess`, without holding up the event loop."""
        return await asyncio.to_thread(self.assess, image, query, **options)

    async def aprogress(
        self, image: ImageSource, query: str | None = None, **options: Unpack[AssessOptions]
    ) -> AsyncIterator[ProgressEvent | Assessment]:
        """Every step as it begins and ends, and the assessment last; options as in `assess`."""
        loop, events = asyncio.get_running_loop(), asyncio.Queue[ProgressEvent | None]()

        def report(event: ProgressEvent | None) -> None:
            loop.call_soon_threadsafe(events.put_nowait, event)

        def work() -> Assessment:
            try:
                return self.assess(image, query, **options)
            finally:
                report(None)

        options["on_event"] = report
        working = asyncio.create_task(asyncio.to_thread(work))
        while (event := await events.get()) is not None:
            yield event
        yield await working

    def compare(
        self,
        images: Sequence[ImageSource],
        query: str | None = None,
        *,
        reference: ImageSource | None = None,
        align: Align | None = None,
        on_event: OnEvent | None = None,
    ) -> Ranking:
        """The images in the order the question asks for (without one, from the best to the worst), each assessed alone.

        "Which one is the noisiest?" ranks by noise; `Ranking.answer` names the image, or says why none can be named.
        """
        from agenticiqa.assessor.ranking import query_for_each

        if len(images) < 2:
            raise UsageError(f"comparing needs at least two images, not {len(images)}; name another one")
        for image in images:
            # Before time goes into the images that are there.
            if isinstance(image, str | Path) and not Path(image).exists():
                raise ImageNotFoundError(f"{image}: no such file; check the path")
        each = query_for_each(query, self.parts.settings.pipeline.limits.max_query_characters)
        assessments = [
            self.assess(image, each, reference=reference, align=align, on_event=on_event) for image in images
        ]
        return self.rank(images, assessments, query)

    def rank(
        self,
        images: Sequence[ImageSource],
        assessments: Sequence[Assessment],
        query: str | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> Ranking:
        """The images ranked by the assessments they have, and by what the configured backend sees of what is asked."""
        from agenticiqa.assessor.ranking import ask_to_rank, rank

        compared, ledger = ask_to_rank(query, images, self.parts) if query else (None, None)
        return rank(names or _names(images), assessments, compared, ledger)


def assess(
    image: ImageSource,
    query: str | None = None,
    *,
    reference: ImageSource | None = None,
    choices: Choices | None = None,
    backend: str | None = None,
    align: Align | None = None,
    regions: Sequence[str] = (),
    max_replan_iterations: int | None = None,
    on_event: OnEvent | None = None,
) -> Assessment:
    """The assessment of an image with the default settings, or with this backend in every role; see `Assessor.assess`.

    >>> from agenticiqa.tools.synthetic.ladder import photographs
    >>> found = assess(photographs()["chelsea"].pixels)
    >>> found.level in "ABCDE", 1 <= found.score <= 5
    (True, True)
    >>> assess("no-such-file.jpg")
    Traceback (most recent call last):
    agenticiqa.errors.ImageNotFoundError: no-such-file.jpg: no such file; check the path
    """
    return _default_assessor(backend).assess(
        image,
        query,
        reference=reference,
        choices=choices,
        align=align,
        regions=regions,
        max_replan_iterations=max_replan_iterations,
        on_event=on_event,
    )


async def aassess(
    image: ImageSource, query: str | None = None, *, backend: str | None = None, **options: Unpack[AssessOptions]
) -> Assessment:
    """The same as `assess`, without holding up the event loop."""
    return await _default_assessor(backend).aassess(image, query, **options)


def compare(
    images: Sequence[ImageSource],
    query: str | None = None,
    *,
    reference: ImageSource | None = None,
    backend: str | None = None,
    align: Align | None = None,
    on_event: OnEvent | None = None,
) -> Ranking:
    """The images ranked with the default settings, or with this backend in every role.

    >>> from agenticiqa.tools.synthetic.kinds import distort
    >>> from agenticiqa.tools.synthetic.ladder import photographs
    >>> clean = photographs()["chelsea"].pixels
    >>> ranking = compare([distort(clean, "gaussian_blur", 5), clean])
    >>> ranking.best.name, ranking.pairs[0].verdict
    ('image 2', 'better')
    """
    return _default_assessor(backend).compare(images, query, reference=reference, align=align, on_event=on_event)


@lru_cache(maxsize=4)
def _default_assessor(backend: str | None) -> Assessor:
    return Assessor(load_settings(overrides={role: {"backend": backend} for role in ROLES}) if backend else None)


def _names(images: Sequence[ImageSource]) -> list[str]:
    """A name for each image, none twice: its path, or its place in the list."""
    paths = [str(image) if isinstance(image, str | Path) else None for image in images]
    counts = Counter(paths)
    return [
        f"image {place} ({image.name})"
        if isinstance(image, NamedBytes)
        else path
        if path is not None and counts[path] == 1
        else f"{path or 'image'} {place}"
        for place, (path, image) in enumerate(zip(paths, images, strict=True), 1)
    ]
