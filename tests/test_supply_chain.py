"""What is shipped and what it stands on: pinned, licensed, verified, and free of code inside data."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import audit, licences

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PINNED = {licences.canonical(name) for name in audit.pinned_versions((ROOT / "constraints.txt").read_text())}
# Installed for `make test-torch` only, from files of their own.
ELSEWHERE = {"torch", "transformers", "pyiqa", "atheris"}
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def requirements() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    yield from project["dependencies"]
    for needed in project["optional-dependencies"].values():
        yield from (name for name in needed if not name.startswith("agenticiqa["))


def calls(source: Path) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Call))


def keyword(call: ast.Call, name: str) -> str | None:
    return next((ast.unparse(given.value) for given in call.keywords if given.arg == name), None)


def test_every_dependency_is_pinned() -> None:
    named = {licences.canonical(requirement) for requirement in requirements()}

    assert named - PINNED - ELSEWHERE == set()


def test_every_package_of_the_default_install_and_the_extras_has_a_licence_in_the_list() -> None:
    listed = (ROOT / "docs" / "licences.md").read_text()

    missing = [name for name in map(licences.canonical, requirements()) if f"| {name} |" not in listed
               and name not in development()]  # fmt: skip
    assert missing == []


def development() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {licences.canonical(name) for group in ("dev", "fuzz")
            for name in project["optional-dependencies"].get(group, ())}  # fmt: skip


def test_the_default_install_has_no_licence_that_forbids_selling_it() -> None:
    default = (ROOT / "docs" / "licences.md").read_text().partition("## Extra")[0]

    assert not re.search(r"\|[^|]*(?<!L)GPL[^|]*\|", default)
    assert "not installed" not in default
    assert "see the package" not in default


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_nothing_is_unpickled(source: Path) -> None:
    tree = ast.parse(source.read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert not {name.partition(".")[0] for name in imported} & FORBIDDEN_MODULES
    for call in calls(source):
        function = ast.unparse(call.func)
        assert function not in ("torch.load", "eval", "exec", "yaml.unsafe_load", "os.system")
        if function == "np.load":
            assert keyword(call, "allow_pickle") == "False"
        if function == "yaml.load":
            assert "SafeLoader" in (keyword(call, "Loader") or "")
        assert keyword(call, "shell") != "True"
        assert keyword(call, "trust_remote_code") != "True"


def manifests() -> Iterator[tuple[Path, dict[str, str]]]:
    """Every table of hashes, as file name → SHA-256."""
    for path in sorted((ROOT / "src").rglob("*.json")):
        found = dict(_hashes(json.loads(path.read_text())))
        if found:
            yield path, found


def _hashes(content: object) -> Iterator[tuple[str, str]]:
    if not isinstance(content, dict):
        return
    for name, value in content.items():
        digest = value.get("sha256") if isinstance(value, dict) else value
        is_hash = isinstance(digest, str) and re.fullmatch(r"[0-9a-f]{64}", digest)
        if is_hash:
            yield name, str(digest)
        else:
            yield from _hashes(value)


def test_every_model_file_has_its_hash_and_matches_it() -> None:
    weights = {path for suffix in ("*.npz", "*.onnx") for path in (ROOT / "src").rglob(suffix)}
    known = {name: digest for _, found in manifests() for name, digest in found.items()}

    assert {path.name for path in weights} - set(known) == set()
    for path in weights:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == known[path.name], path.name


def test_every_test_that_the_security_page_names_is_there() -> None:
    from tests.chaos.__main__ import ATTACKS

    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page)
    lost = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).is_file() or (test and f"def {test}(" not in (ROOT / file).read_text(encoding="utf-8"))
    ]

    assert len(named) > 40
    assert lost == []
    assert set(re.findall(r"`--only ([a-z-]+)`", page)) == set(ATTACKS)
    table = page.partition("| attack | what happens | test |\n|---|---|---|\n")[2].partition("\n\n")[0]
    assert len(table.splitlines()) > 20
    assert [line for line in table.splitlines() if "`tests/" not in line] == []
