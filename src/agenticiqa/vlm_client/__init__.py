"""Models that look at images, behind one interface."""

from agenticiqa.images import LabelledImage
from agenticiqa.vlm_client.client import Sampling, Usage, VLMClient, VLMReply, VLMRequest
from agenticiqa.vlm_client.factory import create_role_clients, create_vlm_client, provider_names
from agenticiqa.vlm_client.providers.scripted import ScriptedVLMClient
from agenticiqa.vlm_client.structured import Structured, ask_for, parse_reply

__all__ = [
    "LabelledImage",
    "Sampling",
    "ScriptedVLMClient",
    "Structured",
    "Usage",
    "VLMClient",
    "VLMReply",
    "VLMRequest",
    "ask_for",
    "create_role_clients",
    "create_vlm_client",
    "parse_reply",
    "provider_names",
]
