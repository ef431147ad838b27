"""Models that look at images, behind one interface."""

from agenticiqa.images import LabelledImage as LabelledImage
from agenticiqa.vlm_client.client import Sampling as Sampling
from agenticiqa.vlm_client.client import Usage as Usage
from agenticiqa.vlm_client.client import VLMClient as VLMClient
from agenticiqa.vlm_client.client import VLMReply as VLMReply
from agenticiqa.vlm_client.client import VLMRequest as VLMRequest
from agenticiqa.vlm_client.factory import create_role_clients as create_role_clients
from agenticiqa.vlm_client.factory import create_vlm_client as create_vlm_client
from agenticiqa.vlm_client.factory import provider_names as provider_names
from agenticiqa.vlm_client.providers.scripted import ScriptedVLMClient as ScriptedVLMClient
from agenticiqa.vlm_client.structured import ask_for as ask_for
from agenticiqa.vlm_client.structured import parse_reply as parse_reply
