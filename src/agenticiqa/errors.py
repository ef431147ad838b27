"""Every error this package raises on purpose.

AgenticIQAError
├── UsageError                  the caller asked for something that cannot be (exit code 2)
│   ├── SettingsError           a settings file, key, type or environment variable is wrong
│   │   └── UntrustedFolderError  the working folder's file alone would send pictures away
│   ├── UnknownBackendError     no such model backend
│   ├── UnknownToolError        no such IQA tool
│   ├── QueryError              the question itself cannot be used
│   ├── ReportError             a file of results cannot be read
│   ├── RuleError               a rule of the gate cannot be read
│   ├── ManifestError           a list of samples cannot be used (says the line)
│   ├── DatasetError            a data set or manifest is not there or not as expected
│   └── OutputError             a result cannot be written where it should go
│       ├── OutputInUseError    another run writes to the same file
│       └── ChangedSettingsError  the file was begun with other settings or samples
├── MissingExtraError           an optional dependency is not installed (says the pip command)
├── ImageError                  an image cannot be used
│   ├── ImageNotFoundError      no such file
│   ├── ImageIsDirectoryError   a folder where a file is expected
│   ├── ImagePermissionError    a file that may not be read
│   ├── ImageOutsideRootError   the path leaves the allowed folder
│   ├── ImageFormatError        not an image, or a format that needs an extra
│   ├── ImageTruncatedError     an image whose data ends early or is damaged
│   │   └── ImageDamagedError   an empty file, or a damaged one that goes on to its end
│   ├── ImageTooLargeError      more pixels or bytes than the limit
│   ├── ImageTooSmallError      fewer pixels than the minimum
│   ├── ImageShapeError         a strip too long for its width
│   └── ImageSizeMismatchError  test and reference differ in size
│       └── ImageAspectMismatchError  and in aspect ratio
├── ToolError                   a tool ran and failed
│   ├── ToolUnavailableError    weights, extra or reference missing (says the remedy)
│   └── ToolTimeoutError        a tool took longer than allowed
├── CalibrationError            a calibration file or fit cannot be used
├── EncodingError               no encoder setting gives what is asked for (exit code 3)
├── BackendError                a model backend failed
│   ├── AuthenticationError     key missing, wrong or expired
│   ├── RateLimitError          too many requests; `retry_after` seconds if the server said so
│   ├── BackendTimeoutError     no answer in time
│   ├── OverloadedError         the service is overloaded or has an internal error
│   ├── RefusedError            the model or its filter declined
│   ├── BadReplyError           the reply is not what the protocol promises
│   ├── UnavailableError        the service cannot be reached
│   └── OfflineError            a network backend was asked for in offline mode
├── JournalError                records cannot be kept: the disk is full or failing, or their file is damaged
├── ModelReplyError             no reply passed validation after all attempts and the fallback
│   ├── ModelUnreachableError   no backend gave a reply: none can be reached, or none accepts the key
│   ├── ModelRefusedError       every backend that could be reached declined
│   └── UnusableAnswerError     services answered, but not with the reply of a model
└── ModelFileError              a shipped weight file is missing or its hash is wrong
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Naming = Callable[[str, str], str]
"""How an interface tells its users to choose a value for an option."""


class AgenticIQAError(Exception):
    """Root of the tree; its message names the culprit and the way out."""

    exit_code = 1
    """What the command line exits with: 1 for a failure, 2 for a request that cannot be carried out as written."""

    details: tuple[str, ...] = ()
    """Further lines, one for each thing that is wrong."""

    def __str__(self) -> str:
        return "\n  ".join([self.message_naming(lambda name, value: f"set {name} to {value}"), *self.details])

    def message_naming(self, naming: Naming) -> str:
        """The message with the option that would help named as the interface calls it: a flag, a field, an argument."""
        return super().__str__()


class UsageError(AgenticIQAError):
    """The request cannot be carried out as written."""

    exit_code = 2


class SettingsError(UsageError):
    """A settings file, key, type or environment variable is wrong."""


class UntrustedFolderError(SettingsError):
    """A file only found in the working folder would send pictures away; `danger` says it without the remedy."""

    def __init__(self, danger: str, remedy: str) -> None:
        super().__init__(f"{danger}; {remedy}")
        self.danger = danger


class UnknownBackendError(UsageError):
    """No model backend has this name."""


class UnknownToolError(UsageError):
    """No IQA tool has this name; an interface with a list of its own sets `listed_by`."""

    listed_by = "`agenticiqa tools`"

    def message_naming(self, naming: Naming) -> str:
        return f"{super().message_naming(naming)}; {self.listed_by} lists all"


class QueryError(UsageError):
    """The question cannot be used."""


class RuleError(UsageError):
    """A rule of the gate cannot be read; the message says what was expected."""


class ReportError(UsageError):
    """A file of results cannot be read."""


class DatasetError(UsageError):
    """A data set, manifest or file of recorded outputs is not there or not as expected."""


class OutputError(UsageError):
    """A result cannot be written where it should go."""


class ManifestError(UsageError):
    """A list of samples cannot be used; the message names the lines."""


class OutputInUseError(OutputError):
    """Another run writes to the same file."""


class ChangedSettingsError(OutputError):
    """The file was begun with other settings or other samples."""


class MissingExtraError(AgenticIQAError):
    """An optional dependency is missing; the message holds the pip command."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency; install it with: pip install 'agenticiqa[{extra}]'")
        self.what = what
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)


class ImageError(AgenticIQAError):
    """An image cannot be used."""


class ImageNotFoundError(ImageError):
    """There is no such file."""

    exit_code = 2


class ImageIsDirectoryError(ImageError):
    """A folder was given where an image is expected."""

    exit_code = 2


class ImagePermissionError(ImageError):
    """The file may not be read."""


class ImageOutsideRootError(ImageError):
    """The path leads outside the allowed folder."""

    exit_code = 2


class ImageFormatError(ImageError):
    """The bytes are not an image we can read."""


class ImageTruncatedError(ImageError):
    """The image's data ends early or is damaged."""


class ImageDamagedError(ImageTruncatedError):
    """The file is empty, or is there to its end and damaged in between."""


class ImageTooLargeError(ImageError):
    """The image has more pixels or bytes than the limit."""


class ImageTooSmallError(ImageError):
    """The image is smaller than the minimum."""


class ImageShapeError(ImageError):
    """The image is a strip too long for its width."""


class ImageSizeMismatchError(ImageError):
    """Test and reference differ in size."""

    def message_naming(self, naming: Naming) -> str:
        return f"{super().message_naming(naming)}, or {naming('align', 'resize')} to scale the reference"


class ImageAspectMismatchError(ImageSizeMismatchError):
    """Test and reference differ in aspect ratio, and scaling would stretch one of them."""

    def message_naming(self, naming: Naming) -> str:
        return AgenticIQAError.message_naming(self, naming)


class ToolError(AgenticIQAError):
    """An IQA tool failed."""


class ToolUnavailableError(ToolError):
    """The tool cannot run here; the message says what would make it run."""


class ToolTimeoutError(ToolError):
    """The tool took longer than allowed."""


class CalibrationError(AgenticIQAError):
    """A calibration cannot be fitted or used."""


class EncodingError(AgenticIQAError):
    """No encoder setting gives what is asked for."""

    exit_code = 3


class BackendError(AgenticIQAError):
    """A model backend failed; `attempts` says how often it was tried, `retry_after` when the service wants the next."""

    retry_after: float | None = None
    usage: Any = None
    """What was consumed without a reply, a `vlm_client.Usage`, as far as the service said; None for one try."""

    @property
    def attempts(self) -> int:
        return int(self.usage.transport_attempts) if self.usage else 1


class AuthenticationError(BackendError):
    """The key is missing, wrong or expired."""


class RateLimitError(BackendError):
    """Too many requests; `retry_after` holds the seconds the server asked for, if it did."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BackendTimeoutError(BackendError):
    """No answer came in time."""


class OverloadedError(BackendError):
    """The service is overloaded or has an internal error."""


class RefusedError(BackendError):
    """The model or its content filter declined to answer."""


class BadReplyError(BackendError):
    """The reply is not what the protocol promises."""


class UnavailableError(BackendError):
    """The service cannot be reached."""


class OfflineError(BackendError):
    """A network backend was asked for in offline mode."""


class ModelReplyError(AgenticIQAError):
    """No reply passed validation after all attempts and the fallback."""


class ModelUnreachableError(ModelReplyError):
    """No backend gave a reply at all: none is reachable, or none accepts the key."""


class ModelRefusedError(ModelReplyError):
    """Every backend that could be reached declined to answer."""


class UnusableAnswerError(ModelReplyError):
    """Services answered, but not with the reply of a model: an HTML page, an empty message."""


class ModelFileError(AgenticIQAError):
    """A shipped model file is missing or altered."""


class JournalError(AgenticIQAError):
    """Records cannot be kept: the disk is full or failing, or their file is damaged."""


def is_installed(*modules: str) -> bool:
    """Whether all these modules can be imported, found out without importing them."""
    try:
        return all(find_spec(module) is not None for module in modules)
    except ModuleNotFoundError:
        # The package that a module is in is missing.
        return False


def require_extra(what: str, extra: str, *modules: str) -> None:
    """Raises MissingExtraError, with the pip command of the extra, unless its modules are there."""
    if not is_installed(*modules):
        raise MissingExtraError(what, extra)


def plugin_failure(entry: EntryPoint, error: Exception) -> str:
    """In one line, which package's entry point cannot be loaded, and why."""
    package = f"the package {entry.dist.name}" if entry.dist else f"another package ({entry.value})"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{entry.name} of {package} cannot be loaded ({reason}); mend or uninstall it"


def cannot_write(path: object, error: Exception) -> OutputError:
    """The error of a file that cannot be written, with the system's reason."""
    reason = getattr(error, "strerror", None) or error
    return OutputError(f"{path}: cannot be written ({reason}); choose a place you may write to")


def unknown_name(name: str, allowed: Collection[str], kind: str) -> str:
    """That there is no such argument, field or tool, with the nearest one and all there are.

    >>> unknown_name("qery", ["image", "query"], "field")
    'there is no such field; did you mean query? allowed are image, query'
    """
    close = difflib.get_close_matches(name, allowed, 1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"there is no such {kind}; {hint}allowed are {', '.join(allowed) or 'none'}"


def wrong_values(complaints: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What is wrong with each value, by its name, in plain words; `complaints` are pydantic's `errors()`.

    >>> wrong_values([{"loc": ("images",), "type": "too_short", "ctx": {"min_length": 2, "actual_length": 1}}])
    {'images': 'needs at least 2 entries, not 1'}
    """
    found: dict[str, str] = {}
    for entry in complaints:
        # The branches of a union complain one by one; the first is the one meant.
        found.setdefault(str(entry["loc"][0]) if entry["loc"] else "", _complaint(entry))
    return found


def _complaint(entry: Mapping[str, Any]) -> str:
    limits = entry.get("ctx") or {}
    match entry["type"]:
        case "missing":
            return "is missing; give it"
        case "extra_forbidden":
            return "is unknown; leave it out"
        case "too_short":
            return f"needs at least {limits['min_length']} entries, not {limits['actual_length']}"
        case "too_long":
            return f"may have {limits['max_length']} entries, not {limits['actual_length']}"
        case "list_type":
            return f'must be a list such as ["a", "b"], not {_shown(entry["input"])}'
        case "json_invalid":
            return f"is not JSON ({limits['error']})"
        case "value_error":
            return str(limits["error"])
    message = str(entry["msg"])
    return f"{message[0].lower()}{message[1:]}, not {_shown(entry['input'])}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
