"""How the service is run: where it listens, who may use it, and how much."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from agenticiqa.config import Settings, default_cache_directory
from agenticiqa.errors import UsageError
from agenticiqa.images.files import require_folders

MEGABYTE = 2**20


@dataclass(frozen=True)
class ServiceOptions:
    """What the operator chose; the defaults serve this machine only."""

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    allow_anonymous: bool = False
    allow_hosts: tuple[str, ...] = ()
    allow_folders: tuple[Path, ...] = ()
    folder: Path | None = None
    workers: int = 2
    queue: int = 32
    max_request_megabytes: int = 64
    max_megapixels: int = 50
    max_images: int = 16
    max_job_items: int = 10_000
    max_jobs: int = 16
    time_limit: float = 120.0
    read_timeout: float = 15.0
    upload_timeout: float = 120.0
    header_timeout: float = 10.0
    max_connections: int = 512
    max_connections_per_address: int = 256
    requests_per_minute: int = 0
    grace: float = 20.0
    keep_days: float = 7.0
    keep_megabytes: int = 2048

    @property
    def storage(self) -> Path:
        """The service's own folder: database, uploads, pictures."""
        # Absolute, because workers stand in the folders of their runs.
        return (self.folder or default_cache_directory() / "service").expanduser().absolute()

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the service."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def may_list(self) -> bool:
        """Whether everybody who may use the service may see the names of all its runs."""
        return self.is_local or self.token is not None

    def require_safe(self) -> None:
        """Raises UsageError where the options would open the service to others without a token."""
        if not self.is_local and not self.token and not self.allow_anonymous:
            raise UsageError(
                f"{self.host} can be reached from other machines; set a token (--token-file or $AGENTICIQA_TOKEN) "
                "or say --allow-anonymous"
            )

    def limited(self, settings: Settings) -> Settings:
        """The settings with the service's bounds on images laid over them; a UsageError if a folder lies outside.

        A run reads copies in the service's own folder, which lies below no allowed root; what is copied is checked.
        """
        require_folders(self.allow_folders, settings.pipeline.allowed_root)
        limits = settings.pipeline.limits
        narrowed = limits.model_copy(
            update={
                "max_pixels": min(limits.max_pixels, self.max_megapixels * 1_000_000),
                "max_file_megabytes": min(limits.max_file_megabytes, self.max_request_megabytes),
            }
        )
        pipeline = settings.pipeline.model_copy(update={"limits": narrowed, "allowed_root": None})
        return settings.model_copy(update={"pipeline": pipeline})
