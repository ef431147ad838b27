"""Opening an image safely; what was done to it is written down."""

from agenticiqa.images.load import ImageLimits, ImageSource, LoadedImage, NamedBytes, load_image

__all__ = ["ImageLimits", "ImageSource", "LoadedImage", "NamedBytes", "load_image"]
