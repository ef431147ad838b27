"""Asks the open vulnerability database about every pinned dependency: python scripts/audit.py.

Ends with 1 if a pinned version has a known vulnerability, and with 0 and a sentence if the database is out of reach.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
DATABASE = "https://api.osv.dev/v1/querybatch"
SECONDS = 20


def main() -> int:
    pinned = pinned_versions(CONSTRAINTS.read_text(encoding="utf-8"))
    try:
        answers = ask(pinned)
    except (OSError, ValueError) as error:
        sys.stdout.write(f"not checked: the vulnerability database cannot be reached ({error})\n")
        return 0
    found = {name: ids for name, answer in zip(pinned, answers, strict=True) if (ids := identifiers(answer))}
    for name, ids in found.items():
        sys.stdout.write(f"{name} {pinned[name]}: {', '.join(ids)}\n")
    sys.stdout.write(f"{len(pinned)} pinned packages, {len(found)} with known vulnerabilities\n")
    return 1 if found else 0


def pinned_versions(text: str) -> dict[str, str]:
    """Name and version of every pinned package."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return dict(line.split("==", 1) for line in lines if "==" in line)


def ask(pinned: dict[str, str]) -> list[dict[str, Any]]:
    """The database's answers, one per package in their order."""
    asked = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in pinned.items()]
    content = json.dumps({"queries": asked}).encode()
    request = urllib.request.Request(DATABASE, content, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        results: list[dict[str, Any]] = json.load(answer)["results"]
    if len(results) != len(pinned):
        raise ValueError("it answered another question")
    return results


def identifiers(answer: dict[str, Any]) -> list[str]:
    """The vulnerabilities an answer names."""
    return [entry["id"] for entry in answer.get("vulns", ())]


if __name__ == "__main__":
    sys.exit(main())
