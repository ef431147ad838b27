"""Makes torchvision importable on the CPU build of torch."""

from __future__ import annotations

from training.reference_values import complete_torchvision

complete_torchvision()
