"""AgenticIQA."""
