"""Opening an image safely; what was done to it is written down."""

from agenticiqa.images.load import ImageLimits, ImageSource, LoadedImage, NamedBytes, load_image
from agenticiqa.images.store import Align, ImageStore, LabelledImage, Role, in_role

__all__ = [
    "Align",
    "ImageLimits",
    "ImageSource",
    "ImageStore",
    "LabelledImage",
    "LoadedImage",
    "NamedBytes",
    "Role",
    "in_role",
    "load_image",
]
