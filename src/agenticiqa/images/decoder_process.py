"""Decoding in a process of its own, which can be ended: for files that do not say how long decoding them takes.

An AVIF or a HEIC may hold thousands of frames that are never shown, and of any size; a decoder stops for no signal.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import signal
import struct
import subprocess
import sys
from contextlib import suppress
from typing import IO

from PIL import Image

from agenticiqa.errors import ImageTooLargeError
from agenticiqa.images.colour import strips
from agenticiqa.images.decode import open_header

SECONDS = 60.0
"""How long one picture may take."""
# The other process: no module of the working folder, no interrupt meant for this one.
_COMMAND = (sys.executable, "-P", "-c", "from agenticiqa.images.decoder_process import serve; serve()")
_Process = subprocess.Popen[bytes]
_LENGTH = struct.Struct("!Q")
# Those that wait for a picture, with the process that started them: a fork shares pipes it must not use.
_waiting: list[tuple[int, _Process]] = []


def decode_apart(kind: str, data: bytes, seconds: float = SECONDS) -> Image.Image:
    """The decoded picture; raises ImageTooLargeError when that takes too long, ValueError for damaged data."""
    process = _taken()
    try:
        image = _asked(process, kind, data, seconds)
    except BaseException as error:
        ended = _end(process)
        if not isinstance(error, EOFError | BrokenPipeError):
            raise
        if ended > 0 or ended == -signal.SIGKILL:
            raise ImageTooLargeError(
                f"takes longer than {seconds:g} seconds to decode; save it again with the usual settings"
            ) from None
        raise ValueError("its decoder broke down") from None
    _waiting.append((os.getpid(), process))
    if isinstance(image, str):
        raise ValueError(image)
    return image


def _taken() -> _Process:
    while _waiting:
        owner, process = _waiting.pop()
        if owner == os.getpid() and process.poll() is None:
            return process
    return subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


@atexit.register
def _end_waiting() -> None:
    for owner, process in _waiting:
        if owner == os.getpid():
            _end(process)


def _end(process: _Process) -> int:
    process.kill()
    # What was not yet written to it is of no use.
    with suppress(OSError), process:
        pass
    return process.wait()


def _asked(process: _Process, kind: str, data: bytes, seconds: float) -> Image.Image | str:
    """What the process makes of the data: the picture, or what is wrong with it."""
    requests, replies = process.stdin, process.stdout
    assert requests is not None
    assert replies is not None
    _send(requests, json.dumps([kind, seconds]).encode())
    _send(requests, data)
    requests.flush()
    wrong, mode, size = json.loads(_received(replies))
    if wrong:
        return str(wrong)
    # Strip by strip, so that a large picture is not held twice.
    image = Image.new(mode, tuple(size))
    for top, strip in strips(image):
        strip.frombytes(_received(replies))
        image.paste(strip, (0, top))
    return image


def serve() -> None:
    """Decodes what is asked for, until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    # The end of the requests: whoever asked is gone.
    with suppress(EOFError):
        while True:
            kind, seconds = json.loads(_received(requests))
            data = _received(requests)
            # Also where whoever asked has ended meanwhile, and while the decoder answers to nothing else.
            faulthandler.dump_traceback_later(seconds, exit=True)
            try:
                image = open_header(kind, data)
                image.load()
            except Exception as error:  # decoders of damaged files raise nearly anything
                _send(replies, json.dumps([str(error) or type(error).__name__, None, None]).encode())
            else:
                _send(replies, json.dumps([None, image.mode, image.size]).encode())
                for _, strip in strips(image):
                    _send(replies, strip.tobytes())
            faulthandler.cancel_dump_traceback_later()
            replies.flush()


def _send(stream: IO[bytes], content: bytes) -> None:
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)


def _received(stream: IO[bytes]) -> bytes:
    """The next content sent; EOFError where the stream ends before it does."""
    (length,) = _LENGTH.unpack(_whole(stream, _LENGTH.size))
    return _whole(stream, length)


def _whole(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
