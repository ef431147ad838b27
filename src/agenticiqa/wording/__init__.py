"""Values turned into sentences in the asker's language: said once, last, and never read back."""

from agenticiqa.wording.phrases import known, phrase, phrases_in, say

__all__ = ["known", "phrase", "phrases_in", "say"]
