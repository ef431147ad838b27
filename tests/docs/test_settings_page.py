"""The page of settings is the one the models give, says something of every key, and its examples can be used."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenticiqa.config import load_settings
from agenticiqa.vlm_client.models import load_prices
from tests.docs.blocks import ROOT, blocks

PAGE = ROOT / "docs" / "settings.md"


@pytest.fixture(scope="module")
def script() -> Any:
    found = importlib.util.spec_from_file_location("settings_page", ROOT / "scripts" / "settings_page.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def lines() -> list[list[str]]:
    text = PAGE.read_text(encoding="utf-8")
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]


def test_the_page_is_up_to_date(script: Any) -> None:
    assert PAGE.read_text(encoding="utf-8") == script.page(), "run python scripts/settings_page.py"


def test_every_key_has_a_meaning() -> None:
    assert [line[0] for line in lines() if len(line) != 4 or not line[3].strip()] == []


def test_every_setting_in_force_is_on_the_page() -> None:
    known = {line[0].strip("`") for line in lines()}

    def keys(values: dict[str, Any], prefix: str = "") -> list[str]:
        return [
            key
            for name, value in values.items()
            for key in (keys(value, f"{prefix}{name}.") if isinstance(value, dict) else [f"{prefix}{name}"])
        ]

    settings = load_settings(environ={}, directory=ROOT / "docs")
    in_force = keys(settings.model_dump(exclude={"pipeline": {"fusion_weights"}}))
    assert set(in_force) - known == set()


def test_the_price_file_on_the_page_is_read(tmp_path: Path) -> None:
    (example,) = [block for block in blocks(PAGE) if block.language == "yaml"]
    file = tmp_path / "prices.yaml"
    file.write_text(example.text, encoding="utf-8")

    price = load_prices(file).of("anthropic.my-model")

    assert price is not None
    assert (price.input, price.output) == (3, 15)
    assert yaml.safe_load(example.text)["openai.gpt-4o"]["cached_input"] == 1.25
