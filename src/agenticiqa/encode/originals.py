"""What of an original its copies keep: transparency, colours with their profile, EXIF. Animations are refused."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, ImageColor

from agenticiqa.errors import EncodingError, UsageError
from agenticiqa.images import ImageSource, LoadedImage, load_image
from agenticiqa.images.colour import is_transparent, to_srgb
from agenticiqa.images.containers import inspect, sniff
from agenticiqa.images.decode import open_header
from agenticiqa.images.load import array_bytes, upright
from agenticiqa.images.tiff import exif_upright

Pixels = npt.NDArray[np.uint8]
Format = Literal["webp", "avif", "jpeg"]
# Their values go into a copy unchanged, together with the profile; other modes become sRGB.
_RGB_MODES = ("RGB", "RGBA", "P", "PA")


@dataclass(frozen=True)
class Original:
    """An upright RGB or RGBA picture to be encoded, its profile and EXIF, and the sRGB pixels copies are judged by."""

    picture: Image.Image
    profile: bytes | None
    exif: bytes | None
    judged: Pixels


def read_original(
    source: ImageSource,
    format: Format,
    *,
    background: str | None = None,
    strip: bool = False,
    max_side: int | None = None,
) -> Original:
    """The picture with everything a copy keeps; EncodingError where the format cannot hold it.

    `background` fills transparent places with a colour; `strip` leaves out EXIF and turns colours into sRGB; a picture
    with a side longer than `max_side` is shrunk.
    """
    loaded = load_image(source)
    if loaded.frames > 1 and loaded.media_type != "image/heic":
        raise EncodingError(
            f"{_name(loaded)}: holds {loaded.frames} pictures (an animation or pages), and a copy would hold the first "
            "only; leave it as it is, or save the frames one by one"
        )
    image = _decoded(source, loaded)
    colours, profile = _colours(image, strip)
    alpha = image.convert("RGBA").getchannel("A") if is_transparent(image) else None
    picture = Image.fromarray(upright(np.asarray(_joined(colours, alpha, background)), loaded.orientation)[0])
    if picture.mode == "RGBA" and format == "jpeg":
        raise EncodingError(
            f"{_name(loaded)}: has transparent places, which JPEG cannot hold; take webp or avif, or fill them "
            "(--background white)"
        )
    judged, whole = loaded.pixels, picture.size
    if max_side is not None:
        picture.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    if profile is not None:
        picture.info["icc_profile"] = profile
    if alpha is not None or picture.size != whole:
        judged = load_image(picture).pixels
    return Original(picture, profile, None if strip else _exif(loaded, image), judged)


def _name(loaded: LoadedImage) -> str:
    return str(loaded.path or "the picture")


def _decoded(source: ImageSource, loaded: LoadedImage) -> Image.Image:
    if isinstance(source, Image.Image):
        return source
    if isinstance(source, np.ndarray):
        values = array_bytes(source)[0]
        return Image.fromarray(values[:, :, 0] if values.shape[2:] == (1,) else values)
    data = loaded.original or b""
    kind = sniff(data) or ""
    image = open_header(kind, inspect(kind, data).data)
    image.load()
    return image


def _colours(image: Image.Image, strip: bool) -> tuple[Image.Image, bytes | None]:
    """The colours whatever is transparent, and the profile they are meant by; without one they are sRGB."""
    profile = image.info.get("icc_profile")
    rgb = image.mode in _RGB_MODES
    opaque = image.convert("RGBA").convert("RGB") if rgb else image
    if rgb and not strip:
        return opaque, profile if _is_rgb_profile(profile) else None
    if image.mode == "LA":
        opaque = image.getchannel("L")
    opaque.info = {"icc_profile": profile} if profile else {}
    return Image.fromarray(to_srgb(opaque)[0]), None


def _is_rgb_profile(profile: bytes | None) -> bool:
    if not profile:
        return False
    try:
        space: str = ImageCms.ImageCmsProfile(io.BytesIO(profile)).profile.xcolor_space
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return False
    return space.strip() == "RGB"


def _joined(colours: Image.Image, alpha: Image.Image | None, background: str | None) -> Image.Image:
    if alpha is None:
        return colours
    if background is None:
        return Image.merge("RGBA", (*colours.split(), alpha))
    filled = Image.new("RGB", colours.size, background_colour(background))
    filled.paste(colours, mask=alpha)
    return filled


def background_colour(name: str) -> tuple[int, int, int]:
    """The colour of a name like white or #f0f0f0; UsageError where there is none."""
    try:
        return ImageColor.getrgb(name)[:3]
    except ValueError:
        raise UsageError(f"{name!r} is no colour; write a name like white or a value like #f0f0f0") from None


def _exif(loaded: LoadedImage, image: Image.Image) -> bytes | None:
    """The EXIF of an upright picture: the same, but for the orientation, which has been applied."""
    exif = image.info.get("exif")
    if exif is None and loaded.media_type == "image/avif":
        # The loader's copy has none: AVIF is not turned by EXIF.
        exif = open_header("AVIF", loaded.original or b"").info.get("exif")
    return exif_upright(exif) if isinstance(exif, bytes) and exif else None
