"""Settings: packaged defaults < model_backends.yaml < environment < arguments. The only reader of the environment."""

from agenticiqa.config.loading import load_settings as load_settings
from agenticiqa.config.loading import packaged_defaults as packaged_defaults
from agenticiqa.config.loading import read_sections as read_sections
from agenticiqa.config.loading import read_yaml as read_yaml
from agenticiqa.config.settings import ADDRESS_VARIABLES as ADDRESS_VARIABLES
from agenticiqa.config.settings import KEY_VARIABLES as KEY_VARIABLES
from agenticiqa.config.settings import ROLES as ROLES
from agenticiqa.config.settings import BackendLimits as BackendLimits
from agenticiqa.config.settings import LoggingSettings as LoggingSettings
from agenticiqa.config.settings import QwenSettings as QwenSettings
from agenticiqa.config.settings import RoleSettings as RoleSettings
from agenticiqa.config.settings import Settings as Settings
from agenticiqa.config.settings import default_cache_directory as default_cache_directory
from agenticiqa.config.settings import find_api_keys as find_api_keys
from agenticiqa.config.settings import process_variables as process_variables
from agenticiqa.config.settings import service_token as service_token
