"""Pairs by folder: copies beside their originals, matched by relative path and stem, whatever the formats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from agenticiqa.batch.manifest import Entry, Manifest, open_manifest
from agenticiqa.batch.manifest_tables import BadLine
from agenticiqa.batch.samples import Sample
from agenticiqa.errors import ManifestError


@dataclass(frozen=True)
class Pairing:
    """The copies with their originals, those that have none, and originals that nobody copied."""

    manifest: Manifest
    without_original: tuple[str, ...]
    without_copy: tuple[str, ...]


def pair_by_folder(copies: Manifest, references: Path) -> Pairing:
    """Every copy with the original of the same relative path, else of the same path up to the suffix.

    A copy without an original keeps the path where it should lie, so that it fails instead of being judged alone. Two
    originals that fit equally well are a problem of that line.
    """
    if not references.is_dir():
        raise ManifestError(f"{references}: is no folder; name the folder of the originals")
    exact, by_stem = _originals(references)
    paired = [_with_original(entry, references, exact, by_stem) for entry in copies.entries()]
    lonely = tuple(entry.sample_id for entry in paired if isinstance(entry, Sample) and not _exists(entry))
    used = {entry.reference_path for entry in paired if isinstance(entry, Sample)}
    unused = tuple(name for name, path in exact.items() if path not in used)
    return Pairing(replace(copies, entries=lambda: iter(paired)), lonely, unused)


def _originals(folder: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The originals' files by relative path, and their relative paths by what stands before the suffix."""
    exact = {sample.sample_id: sample.image_path for sample in open_manifest(folder)}
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for name in exact:
        by_stem[_stem(name)].append(name)
    return exact, by_stem


def _with_original(entry: Entry, folder: Path, exact: dict[str, str], by_stem: dict[str, list[str]]) -> Entry:
    if isinstance(entry, BadLine) or entry.reference_path is not None:
        return entry
    name = entry.sample_id
    if name in exact:
        return replace(entry, reference_path=exact[name])
    close = by_stem.get(_stem(name), [])
    if len(close) > 1:
        return BadLine(entry.line, f"{name}: fits {' and '.join(close)} in {folder}; keep one of them")
    found = exact[close[0]] if close else str((folder / name).absolute())
    return replace(entry, reference_path=found)


def _exists(sample: Sample) -> bool:
    return sample.reference_path is not None and Path(sample.reference_path).exists()


def _stem(name: str) -> str:
    return str(PurePosixPath(name).with_suffix(""))


def in_words(pairing: Pairing, references: Path) -> Iterator[str]:
    """What a person should hear about copies and originals that stand alone."""
    for names, what in (
        (pairing.without_original, f"have no original in {references} and fail"),
        (pairing.without_copy, f"of {references} have no copy"),
    ):
        if names:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            yield f"{len(names)} {what}: {', '.join(names[:10])}{more}"
