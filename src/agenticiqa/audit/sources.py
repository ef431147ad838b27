"""Where an audit's pictures come from: a folder, a list, an archive, or a data set of another library."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agenticiqa.batch import Manifest, Sample, open_manifest
from agenticiqa.batch.manifest import IMAGE_SUFFIXES
from agenticiqa.errors import ImageFormatError, ImageTruncatedError, ManifestError
from agenticiqa.images import ImageSource, ImageStore, NamedBytes

Opener = Callable[[Sample], ImageSource]
"""Gives the picture of a sample in whatever form the loader takes, or raises ImageError; can be sent to a process."""


@dataclass(frozen=True)
class Source:
    """The pictures of an audit: what they are called, how to open one, and what they depend on besides files."""

    manifest: Manifest
    opener: Opener
    identity: dict[str, Any]
    in_memory: bool = False


def open_source(given: Any, store: ImageStore) -> Source:
    """The source behind a folder, list, pattern, archive or data set.

    A data set is anything with a length whose items are pictures, tuples that begin with one (torchvision), or
    mappings that hold one (Hugging Face `datasets`).
    """
    if isinstance(given, str | Path):
        if str(given).lower().endswith(".zip") and Path(given).is_file():
            store.require_allowed(Path(given))
            return _zip(Path(given))
        return Source(open_manifest(given), _file, {})
    if isinstance(given, list | tuple) and given and all(isinstance(item, str | Path) for item in given):
        return Source(open_manifest([str(item) for item in given]), _file, {})
    if hasattr(given, "__len__") and hasattr(given, "__getitem__"):
        samples = [Sample(str(number), f"item {number}", metadata={"index": number}) for number in range(len(given))]
        fingerprint = getattr(given, "_fingerprint", None) or f"{type(given).__name__} of {len(given)}"
        identity = {"dataset": str(fingerprint)}
        return Source(Manifest.of(samples, type(given).__name__), partial(_item, given), identity, in_memory=True)
    raise ManifestError(f"{type(given).__name__} is no source of pictures; name a folder, a list, a zip or a data set")


def _file(sample: Sample) -> ImageSource:
    return sample.image_path


def _member(archive: str, sample: Sample) -> ImageSource:
    try:
        with zipfile.ZipFile(archive) as opened:
            return NamedBytes(sample.sample_id, opened.read(sample.sample_id))
    except (OSError, KeyError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise ImageTruncatedError(f"{sample.sample_id}: cannot be read from the archive ({error})") from error


def _item(dataset: Any, sample: Sample) -> ImageSource:
    index = int(sample.metadata["index"])
    return _picture_in(dataset[index], index)


def _picture_in(item: Any, index: int) -> ImageSource:
    """The picture of an item: itself, the first of a tuple, or a mapping's first value that is one."""
    from PIL import Image

    if isinstance(item, tuple | list) and len(item):
        return _picture_in(item[0], index)
    if isinstance(item, dict):
        pictures = [value for value in item.values() if isinstance(value, Image.Image)]
        pictures += [value["bytes"] for value in item.values() if isinstance(value, dict) and value.get("bytes")]
        if not pictures:
            raise ImageFormatError(f"item {index}: none of {', '.join(map(str, item))} is a picture")
        return _picture_in(pictures[0], index)
    if hasattr(item, "detach") and hasattr(item, "numpy"):
        # A tensor has its channels first.
        array = item.detach().numpy()
        return _picture_in(array.transpose(1, 2, 0) if array.ndim == 3 else array, index)
    if isinstance(item, Image.Image | bytes | str | Path) or hasattr(item, "__array__"):
        source: ImageSource = item
        return source
    raise ImageFormatError(f"item {index}: {type(item).__name__} is no picture")


def _zip(path: Path) -> Source:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir() and _is_image(entry.filename)]
    except (OSError, zipfile.BadZipFile) as error:
        raise ManifestError(f"{path}: cannot be read as an archive ({error})") from error

    def samples() -> Iterator[Sample]:
        return (Sample(name, f"{path.absolute()}/{name}") for name in sorted(set(names)))

    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Source(Manifest(str(path), samples), partial(_member, str(path.absolute())), {"archive": digest})


def _is_image(name: str) -> bool:
    return Path(name).suffix.lower() in IMAGE_SUFFIXES and not Path(name).name.startswith(".")
