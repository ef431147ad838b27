"""Model names as people type them, and as services know them."""

from __future__ import annotations

# A retired model stays itself: another one in its place would be a silent substitution.
ALIASES: dict[str, dict[str, str]] = {
    "openai": {
        "gpt4o": "gpt-4o",
        "gpt-4-o": "gpt-4o",
        "gpt4o-mini": "gpt-4o-mini",
        "gpt4.1": "gpt-4.1",
        "gpt5": "gpt-5",
    },
    "anthropic": {
        "claude-3-sonnet": "claude-3-sonnet-20240229",
        "claude-3-opus": "claude-3-opus-20240229",
        "claude-3-haiku": "claude-3-haiku-20240307",
        "claude-3.5-sonnet": "claude-3-5-sonnet-20241022",
        "claude-3-5-sonnet": "claude-3-5-sonnet-20241022",
        "claude-3.5-haiku": "claude-3-5-haiku-20241022",
        "claude-3.7-sonnet": "claude-3-7-sonnet-20250219",
        "claude-sonnet-4": "claude-sonnet-4-0",
        "claude-opus-4": "claude-opus-4-0",
        "claude-opus-4.1": "claude-opus-4-1",
        "claude-sonnet-4.5": "claude-sonnet-4-5",
        "claude-haiku-4.5": "claude-haiku-4-5",
        "claude-opus-4.5": "claude-opus-4-5",
    },
    "google": {
        "gemini-pro-2.5": "gemini-2.5-pro",
        "gemini-flash-2.5": "gemini-2.5-flash",
        "gemini-flash": "gemini-flash-latest",
    },
    "qwen": {
        "qwen2.5-vl-3b": "Qwen/Qwen2.5-VL-3B-Instruct",
        "qwen2.5-vl-7b": "Qwen/Qwen2.5-VL-7B-Instruct",
        "qwen2.5-vl-72b": "Qwen/Qwen2.5-VL-72B-Instruct",
    },
}


def official_name(provider: str, model: str) -> str:
    """The service's own name for a model; names it does not list pass unchanged."""
    return ALIASES.get(provider, {}).get(model.lower(), model)
