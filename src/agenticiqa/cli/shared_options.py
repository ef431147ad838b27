"""Options that several commands share, and the settings and the log they lead to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agenticiqa.cli.command_frame import writing_to
from agenticiqa.logs import printable
from agenticiqa.outputs import Place, refuse_overwriting

if TYPE_CHECKING:
    from agenticiqa.config import Settings

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file; default $AGENTICIQA_CONFIG, then ~/.config/agenticiqa, ./configs/."),
]
Backend = Annotated[str | None, typer.Option("--backend", help="Model of all three roles.")]
MaxReplan = Annotated[
    int | None, typer.Option("--max-replan", min=0, help="0 and 1 never replan, 2 (the default) replans once.")
]
Mode = Annotated[
    Literal["full", "fast"] | None, typer.Option("--mode", help="fast asks the model fewer questions; default full.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Use no network: no hosted backend, no download.")]
TrustFolder = Annotated[
    bool,
    typer.Option("--trust-folder", help="Let ./configs/model_backends.yaml name a backend that pictures are sent to."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also show the evidence, the steps and the log.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no warnings.")]

# Layers of the settings that are read from no file.
_NO_FILES = ("packaged defaults", "environment", "arguments")


def effective_settings(
    config: Path | None = None,
    backend: str | None = None,
    offline: bool = False,
    max_replan: int | None = None,
    mode: Literal["full", "fast"] | None = None,
    *,
    trust_folder: bool = True,
) -> Settings:
    """The settings with what the options say laid over them; whoever asks no model may trust every folder."""
    from agenticiqa.config import ROLES

    pipeline: dict[str, Any] = {"offline": True} if offline else {}
    if max_replan is not None:
        pipeline["max_replan_iterations"] = max_replan
    if mode is not None:
        pipeline["mode"] = mode
    chosen: dict[str, Any] = {"pipeline": pipeline} if pipeline else {}
    if backend is not None:
        chosen |= {role: {"backend": backend} for role in ROLES}
    return trusted_settings(config, chosen, trust_folder)


def trusted_settings(config: Path | None, chosen: dict[str, Any] | None, trust_folder: bool) -> Settings:
    """The settings; on a terminal a person is asked whether the working folder may have pictures sent away."""
    from agenticiqa.config import load_settings
    from agenticiqa.errors import UntrustedFolderError

    try:
        return load_settings(config, chosen, trust_folder=trust_folder)
    except UntrustedFolderError as error:
        has_person = sys.stdin.isatty() and sys.stderr.isatty()
        if not has_person or not typer.confirm(printable(f"{error.danger}. Send them?"), err=True):
            raise
    return load_settings(config, chosen, trust_folder=True)


def guard_outputs(settings: Settings, outputs: Iterable[Path | None], inputs: Iterable[Place | None] = ()) -> None:
    """Raises OutputError before the work where an output, the log or a recording is an input or a settings file."""
    further = [Path(file) for file in (settings.pipeline.logging.file, settings.pipeline.transport.record) if file]
    files = [*settings_files(settings), settings.tools_overlay_path()]
    refuse_overwriting([*outputs, *further], chain(files, inputs))


def settings_files(settings: Settings) -> list[Path]:
    return [Path(source) for source in settings.sources if source not in _NO_FILES]


def start_logging(settings: Settings, verbose: bool, quiet: bool = False) -> None:
    """Sends the log where the settings say, at least at INFO when verbose; on a quiet stderr only errors."""
    from agenticiqa.logs import configure_logging

    wanted = settings.pipeline.logging
    level = "INFO" if verbose and wanted.level != "DEBUG" else wanted.level
    file = Path(wanted.file) if wanted.file else None
    if quiet and not verbose and file is None:
        level = "ERROR"
    with writing_to(file or Path("stderr")):
        configure_logging(level, wanted.format, file, settings.secrets())
