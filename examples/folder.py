"""A folder of photographs: assessed, kept as records that a second run does not repeat, shown on one page.

python examples/folder.py [PHOTOS] [RECORDS]
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

from agenticiqa.batch import BatchOptions, open_manifest, run_batch
from agenticiqa.report.page import write_report
from agenticiqa.tools.synthetic.ladder import photographs


def main(photos: Path | None = None, records: Path = Path("results.jsonl")) -> None:
    """Prints what was done and writes the records and report.html; without a folder, of the shipped photographs."""
    folder = photos or shipped(Path("photos"))
    summary = run_batch(open_manifest([str(folder)]), records, BatchOptions(engine="threads", concurrency=2))
    sys.stdout.write(f"{summary.answered} answered, {summary.failed} failed, {summary.done_before} done before\n")
    write_report(records, records.with_name("report.html"), title="My photographs")


def shipped(folder: Path) -> Path:
    """The shipped photographs as files."""
    folder.mkdir(exist_ok=True)
    for name, image in photographs().items():
        Image.fromarray(image.pixels).save(folder / f"{name}.png")
    return folder


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
