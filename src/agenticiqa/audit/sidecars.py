"""XMP sidecars: a rating, a colour label and keywords in a file beside a picture, which itself stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

Program = Literal["darktable", "digikam", "lightroom"]

# The byte order mark is part of the packet's beginning.
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'


def sidecar_path(picture: Path, program: Program) -> Path:
    """Where the program looks: photo.jpg.xmp, or photo.xmp for Lightroom."""
    return picture.with_suffix(".xmp") if program == "lightroom" else picture.with_name(f"{picture.name}.xmp")


def sidecar(rating: int | None, label: str | None, keywords: tuple[str, ...]) -> str:
    """The sidecar's text; a rating is 1 to 5 stars or -1 for rejected, a label the name of a colour."""
    given = {"xmp:Rating": None if rating is None else str(rating), "xmp:Label": label}
    attributes = "".join(f"\n   {name}={quoteattr(value)}" for name, value in given.items() if value is not None)
    items = "".join(f"<rdf:li>{escape(keyword)}</rdf:li>" for keyword in keywords)
    subject = f"\n   <dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>" if keywords else ""
    return (
        f'{_BEGIN}\n<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
        ' <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        '  <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/"\n'
        f'   xmlns:dc="http://purl.org/dc/elements/1.1/"{attributes}>{subject}\n'
        '  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end="w"?>\n'
    )
