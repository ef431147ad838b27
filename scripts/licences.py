"""Lists every dependency of the default install and of each extra with its licence: python scripts/licences.py.

The names come from pyproject.toml and the licences from the metadata of the installed packages; a package that is not
installed here is listed as such. The list is written to docs/licences.md.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "licences.md"
SKIPPED_EXTRAS = ("all", "dev", "fuzz")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
HEAD = """\
# Licences of the dependencies

Written by `python scripts/licences.py` from the packages' own metadata. AgenticIQA itself is Apache-2.0; the shipped
weights have their own file, `src/agenticiqa/weights/LICENCE.md`. What a package needs in turn has a
line of its own.
"""


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"default install": project["dependencies"]}
    groups |= {f"extra `{name}`": needed for name, needed in project["optional-dependencies"].items()
               if name not in SKIPPED_EXTRAS}  # fmt: skip
    text = HEAD + "".join(section(name, needed) for name, needed in groups.items())
    TARGET.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text.count('| ') // 4} lines in {TARGET.relative_to(ROOT)}\n")
    return 0


def section(title: str, requirements: Iterable[str]) -> str:
    """One group's table: what it names, and everything that comes with it."""
    named = {canonical(requirement) for requirement in requirements}
    rows = [row(name, name in named) for name in sorted(closure(named))]
    return "\n".join([f"\n## {title.capitalize()}\n", "| package | version | licence | asked for by |",
                      "|---|---|---|---|", *rows, ""])  # fmt: skip


def row(name: str, is_named: bool) -> str:
    """One package's line."""
    found = installed(name)
    origin = "this project" if is_named else "another package"
    if found is None:
        return f"| {name} | not installed here | see the package | {origin} |"
    return f"| {name} | {found.version} | {licence(found)} | {origin} |"


def closure(names: set[str]) -> set[str]:
    """The packages and all that they need, as far as they are installed."""
    known: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        known.add(name)
        found = installed(name)
        needed = {canonical(text) for text in (found.requires if found else None) or () if "extra ==" not in text}
        waiting |= {other for other in needed - known if installed(other) is not None}
    return known


def licence(package: Distribution) -> str:
    """What the package's metadata says, the shortest form of it."""
    data = package.metadata.json
    classified = [line.rpartition("::")[2].strip() for line in data.get("classifier", ()) if "License ::" in line]
    written = str(data.get("license", "")).strip().splitlines()
    said = str(data.get("license_expression", "")) or ", ".join(c for c in classified if c != "OSI Approved")
    return said or (written[0] if written and len(written[0]) < 80 else "see the package")


def installed(name: str) -> Distribution | None:
    """The package's metadata, if it is installed here."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def canonical(requirement: str) -> str:
    """The name in a requirement, as indexes spell it."""
    found = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", found.group()).lower() if found else requirement


if __name__ == "__main__":
    sys.exit(main())
