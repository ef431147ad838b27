"""`agenticiqa sort`: pictures copied, moved or labelled by what was found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from agenticiqa.errors import UsageError
from agenticiqa.logs import printable, printable_lines
from agenticiqa.outputs import refuse_overwriting

if TYPE_CHECKING:
    from agenticiqa.audit.sorting import FileStep


def sort(
    result: Annotated[
        Path,
        typer.Argument(
            help="The folder of an audit, a .txt list, the results of a batch, or with --undo an undo.jsonl."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to sort into; without it only --xmp is written.")
    ] = None,
    move: Annotated[bool, typer.Option("--move", help="Move the pictures instead of copying them.")] = False,
    xmp: Annotated[
        Literal["darktable", "digikam", "lightroom"] | None,
        typer.Option(help="Write ratings, labels and keywords as sidecars for this program."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without it, only say what would be done.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what this undo.jsonl lists.")] = False,
) -> None:
    """Sort pictures by an audit (keep, maybe, reject) or by the scores of a batch (excellent to bad).

    Without --yes nothing is done: the command says what it would do. Pictures are copied, or moved with --move, into
    one folder per verdict (the pictures of keep.txt into keep); sidecars go beside the sorted pictures, or beside the
    originals without -o. No file is ever written over, and no picture is changed. undo.jsonl in the folder of the
    output takes everything back.

    Exit codes: 0 done, 1 some could not be taken back, 2 wrong request or a file in the way.

    \b
    Examples:
      agenticiqa sort audit -o sorted
      agenticiqa sort audit -o sorted --move --yes
      agenticiqa sort keep.txt -o sorted --yes
      agenticiqa sort results.jsonl --xmp darktable --yes
      agenticiqa sort sorted/undo.jsonl --undo --yes
    """
    from agenticiqa.audit.sorting import UNDO, carry_out, plan, undo_all, verdicts_of

    if undo:
        done, left = undo_all(result, do=yes)
        count = f"{done} {'file' if done == 1 else 'files'}"
        typer.echo(f"{count} taken back" if yes else f"take back {count}")
        for line in left:
            typer.echo(printable(f"left as it is: {line}"), err=True)
        if not yes:
            typer.echo(_NOTHING_DONE)
        raise typer.Exit(1 if left else 0)
    if output is None and xmp is None:
        raise UsageError("nothing to write: name a folder with -o, or a program with --xmp")
    if move and output is None:
        raise UsageError("--move needs a folder to move to: name it with -o")
    steps = plan(verdicts_of(result), output, move, xmp)
    typer.echo(_in_words(steps))
    if not yes:
        typer.echo(_NOTHING_DONE)
        return
    log = (output or (result if result.is_dir() else result.parent)) / UNDO
    refuse_overwriting([output, log], [result, *(step.source for step in steps if step.action != "sidecar")])
    carry_out(steps, log)
    typer.echo(printable(f"Done. To take it back: agenticiqa sort {log} --undo --yes"))


_NOTHING_DONE = "Nothing was done. Add --yes to do it."


def _in_words(steps: list[FileStep]) -> str:
    if not steps:
        return "Everything is there already."
    counts = Counter((step.action, step.target.parent) for step in steps)
    return printable_lines(
        f"{action} {count} {'file' if count == 1 else 'files'} {'beside' if action == 'sidecar' else 'to'} {folder}"
        for (action, folder), count in sorted(counts.items(), key=lambda item: (item[0][0], str(item[0][1])))
    )
