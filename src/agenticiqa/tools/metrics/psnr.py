"""PSNR: peak signal-to-noise ratio over the three colour channels, in decibels; higher is better."""

from __future__ import annotations

import math

import cv2

from agenticiqa.tools.metrics.planes import Image, require_pair

SMALLEST_SIDE = 1
CEILING_DB = 100.0


def psnr(test: Image, reference: Image) -> float:
    """The PSNR in dB, at most 100, which an identical pair gets."""
    require_pair(test, reference, SMALLEST_SIDE)
    squared_error = cv2.norm(test, reference, cv2.NORM_L2SQR) / test.size
    if squared_error == 0:
        return CEILING_DB
    return min(CEILING_DB, 10 * math.log10(255**2 / squared_error))
