"""Coverage-guided fuzzing of the image loader and of the built-in metrics: `python -m tests.fuzz loader --seconds 300`.

It needs atheris: pip install 'agenticiqa[fuzz]'.
"""
