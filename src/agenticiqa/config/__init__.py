"""Settings: packaged defaults < model_backends.yaml < environment < arguments. The only reader of the environment."""

from agenticiqa.config.loading import find_settings_file, load_settings, packaged_defaults, read_sections, read_yaml
from agenticiqa.config.settings import (
    ADDRESS_VARIABLES,
    KEY_VARIABLES,
    ROLES,
    BackendLimits,
    FusionWeights,
    LoggingSettings,
    QwenSettings,
    RoleSettings,
    Settings,
    default_cache_directory,
    find_api_keys,
    process_variables,
    service_token,
)

__all__ = [
    "ADDRESS_VARIABLES",
    "KEY_VARIABLES",
    "ROLES",
    "BackendLimits",
    "FusionWeights",
    "LoggingSettings",
    "QwenSettings",
    "RoleSettings",
    "Settings",
    "default_cache_directory",
    "find_api_keys",
    "find_settings_file",
    "load_settings",
    "packaged_defaults",
    "process_variables",
    "read_sections",
    "read_yaml",
    "service_token",
]
