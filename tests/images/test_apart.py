"""Decoding in a process that can be ended: the same pixels, an end in time, and no process left behind."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agenticiqa.errors import ImageTooLargeError, ImageTruncatedError
from agenticiqa.images import load_image
from agenticiqa.images.decoder_process import decode_apart

# Loads its first argument, then says so and waits.
LOADING = """
import signal, sys, time
# A shell starts what runs in the background deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
from agenticiqa.images.decoder_process import decode_apart
image = open(sys.argv[1], "rb").read()
decode_apart("AVIF", image)
print("decoded", flush=True)
decode_apart("AVIF", image)
time.sleep(60)
"""


def avif(width: int, height: int) -> bytes:
    """A gradient that decodes slowly for its bytes."""
    content = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(content, "AVIF", speed=10)
    return content.getvalue()


@pytest.fixture(scope="module")
def large() -> bytes:
    return avif(6000, 4000)


def test_the_pixels_are_those_of_the_decoder() -> None:
    data = avif(300, 200)

    found = load_image(data)

    assert np.array_equal(found.pixels, np.asarray(Image.open(io.BytesIO(data)).convert("RGB")))


def test_what_takes_too_long_is_ended_and_the_next_picture_is_read(large: bytes) -> None:
    started = time.monotonic()
    with pytest.raises(ImageTooLargeError, match="takes longer than"):
        decode_apart("AVIF", large, seconds=0.01)

    assert time.monotonic() - started < 10
    assert load_image(avif(64, 64)).size == (64, 64)


def test_damaged_data_is_said_to_be_damaged_by_the_same_process() -> None:
    data = avif(64, 64)

    for _ in range(2):
        with pytest.raises(ImageTruncatedError, match="AVIF"):
            load_image(data[:-40])
    assert load_image(data).size == (64, 64)


@pytest.mark.skipif(not hasattr(os, "killpg") or not Path("/proc/self/task").exists(), reason="needs Linux")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_whoever_decodes_and_its_decoder(ending: signal.Signals, large: bytes, tmp_path: Path) -> None:
    (tmp_path / "large.avif").write_bytes(large)
    command = [sys.executable, "-c", LOADING, str(tmp_path / "large.avif")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"decoded\n"
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        running.send_signal(ending)
        running.wait(timeout=5)

    assert len(children) == 1
    deadline = time.monotonic() + 20
    while Path(f"/proc/{children[0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{children[0]}").exists()
