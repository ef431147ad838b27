"""Settings: layers, interpolation, and errors that name file, key and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenticiqa.config import Settings, load_settings, packaged_defaults
from agenticiqa.errors import SettingsError

ROOT = Path(__file__).parents[2]
KEY = "sk-test-0123456789abcdef"


def write(folder: Path, text: str) -> Path:
    path = folder / "model_backends.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path | None, **environ: str) -> Settings:
    return load_settings(path, environ=environ, directory=Path("/nonexistent"))


def test_without_any_file_every_role_uses_the_embedded_backend() -> None:
    settings = load(None)

    assert {settings.role(name).backend for name in ("planner", "executor", "summarizer")} == {"builtin.perception"}
    assert settings.sources == ("packaged defaults",)


def test_the_packaged_numbers_are_those_of_the_documents() -> None:
    settings = load(None)

    assert settings.planner.model_dump(include={"temperature", "top_p", "max_tokens", "retry_attempts"}) == {
        "temperature": 0.0, "top_p": 0.1, "max_tokens": 2048, "retry_attempts": 3,
    }  # fmt: skip
    assert (settings.summarizer.temperature, settings.summarizer.max_tokens) == (0.0, 512)
    assert settings.pipeline.max_replan_iterations == 2


def test_the_repository_and_the_package_ship_the_same_settings() -> None:
    repository = load_settings(ROOT / "configs" / "model_backends.yaml", environ={})

    assert repository.model_dump() == load(None).model_dump()
    assert packaged_defaults()["planner"]["backend"] == "builtin.perception"


def test_the_example_file_is_the_documents_own() -> None:
    example = load_settings(ROOT / "configs" / "model_backends.example.yaml", environ={})

    assert example.planner.backend == "openai.gpt-4o"
    assert example.planner.fallback_backend == "anthropic.claude-3.5-sonnet"
    assert (example.summarizer.backend, example.summarizer.temperature) == ("openai.gpt-4o", 0.0)
    assert example.summarizer.max_tokens == 512


def test_a_file_overrides_only_what_it_names(tmp_path: Path) -> None:
    settings = load(write(tmp_path, "planner:\n  backend: openai.gpt-4o\n"))

    assert settings.planner.backend == "openai.gpt-4o"
    assert settings.planner.max_tokens == 2048
    assert settings.executor.backend == "builtin.perception"


def test_environment_beats_file_and_argument_beats_environment(tmp_path: Path) -> None:
    path = write(tmp_path, "pipeline:\n  max_replan_iterations: 3\n")
    environ = {"AGENTICIQA_PIPELINE__MAX_REPLAN_ITERATIONS": "5", "AGENTICIQA_BACKEND": "google.gemini"}

    from_environment = load_settings(path, environ=environ)
    from_arguments = load_settings(path, {"pipeline": {"max_replan_iterations": 0}}, environ=environ)

    assert from_environment.pipeline.max_replan_iterations == 5
    assert from_environment.executor.backend == "google.gemini"
    assert from_arguments.pipeline.max_replan_iterations == 0


def test_references_to_the_environment_are_filled_in(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "planner:\n  backend: compatible.${MODEL}\n  base_url: ${URL:-http://localhost:8000/v1}\n"
        "  temperature: ${HEAT:-0.5}\n  top_p: null\n",
    )

    settings = load(path, MODEL="llava", HEAT="")

    assert settings.planner.backend == "compatible.llava"
    assert settings.planner.base_url == "http://localhost:8000/v1"
    assert settings.planner.temperature == 0.5


def test_a_missing_variable_is_an_error_with_file_key_and_remedy(tmp_path: Path) -> None:
    path = write(tmp_path, "planner:\n  backend: openai.${MODEL}\n")

    with pytest.raises(SettingsError) as caught:
        load(path)

    for part in (str(path), "planner.backend", "MODEL is not set", "${MODEL:-default}"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("planner:\n  temprature: 1\n", ("planner.temprature", "unknown key", "config show")),
        ("plannr: {}\n", ("plannr", "unknown key")),
        ("planner:\n  temperature: hot\n", ("planner.temperature", "number", "'hot'")),
        ("planner:\n  retry_attempts: 0\n", ("planner.retry_attempts", "greater than or equal to 1")),
        ("planner: [\n", ("not valid YAML",)),
        ("- a\n", ("must hold sections",)),
        ("pipeline:\n  terms: free\n", ("pipeline.terms", "'research' or 'commercial'")),
        ("planner:\n  api_key: sk-123\n", ("planner.api_key", "environment only", "OPENAI_API_KEY")),
        ("api_keys: {}\n", ("api_keys", "unknown key")),
    ],
)
def test_a_wrong_file_is_an_error_naming_file_key_and_remedy(tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    path = write(tmp_path, text)

    with pytest.raises(SettingsError) as caught:
        load(path)

    for part in (str(path), *parts):
        assert part in str(caught.value)


def test_a_wrong_variable_is_blamed_on_the_environment() -> None:
    with pytest.raises(SettingsError, match=r"environment: pipeline\.speed: unknown key"):
        load(None, AGENTICIQA_PIPELINE__SPEED="9")


@pytest.mark.parametrize(
    ("environ", "parts"),
    [
        (
            {"AGENTICIQA_PIPELINE__DEVICE": "[cpu"},
            ("AGENTICIQA_PIPELINE__DEVICE", "'[cpu' is not valid YAML", "quotes"),
        ),
        (
            {"AGENTICIQA_PIPELINE__CACHE": "x", "AGENTICIQA_PIPELINE__CACHE__DIRECTORY": "/tmp"},
            ("AGENTICIQA_PIPELINE__CACHE__DIRECTORY", "another variable sets cache itself"),
        ),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(environ: dict[str, str], parts: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError) as caught:
        load(None, **environ)

    for part in ("environment", *parts):
        assert part in str(caught.value)


def test_a_filled_in_reference_that_cannot_be_read_names_file_and_key(tmp_path: Path) -> None:
    path = write(tmp_path, "planner:\n  base_url: ${URL}\n")

    with pytest.raises(SettingsError, match=r"model_backends\.yaml: planner\.base_url: '\*x' is not valid YAML"):
        load(path, URL="*x")


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load(write(tmp_path, "")).model_dump() == load(None).model_dump()


def test_files_are_searched_in_the_documented_order(tmp_path: Path) -> None:
    local = tmp_path / "configs" / "model_backends.yaml"
    local.parent.mkdir()
    other = tmp_path / "other.yaml"
    for path in (local, other):
        path.write_text("pipeline: {mode: fast}\n")
    named = {"AGENTICIQA_CONFIG": str(other)}

    def files(path: Path | None, environ: dict[str, str], folder: Path) -> list[str]:
        return [each for each in load_settings(path, environ=environ, directory=folder).sources if "/" in each]

    assert files(None, {}, tmp_path) == [str(local)]
    assert files(None, named, tmp_path) == [str(other)]
    assert files(local, named, tmp_path) == [str(local)]
    assert files(None, {}, tmp_path / "configs") == []


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"\$AGENTICIQA_CONFIG"):
        load_settings(environ={"AGENTICIQA_CONFIG": str(tmp_path / "no.yaml")})


def test_keys_are_found_in_the_environment_and_never_shown() -> None:
    settings = load(None, OPENAI_API_KEY=KEY, GEMINI_API_KEY="gem-key")

    assert settings.api_key("openai") == KEY
    assert settings.api_key("google") == "gem-key"
    assert settings.api_key("anthropic") is None
    assert settings.secrets() == (KEY, "gem-key")
    for shown in (repr(settings), str(settings), settings.model_dump_json(), str(settings.model_dump())):
        assert KEY not in shown
        assert "gem-key" not in shown


def test_an_empty_key_counts_as_no_key() -> None:
    assert load(None, OPENAI_API_KEY="").api_key("openai") is None


def stand_in(folder: Path, text: str) -> Path:
    """A working folder with settings nobody named."""
    (folder / "configs").mkdir()
    (folder / "configs" / "model_backends.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("planner:\n  base_url: http://127.0.0.1:9/v1\n", "planner.base_url"),
        ("summarizer:\n  fallback_base_url: http://127.0.0.1:9/v1\n", "summarizer.fallback_base_url"),
        ("pipeline:\n  logging: {file: stolen.log}\n", "pipeline.logging.file"),
        ("pipeline:\n  transport: {record: stolen.jsonl}\n", "pipeline.transport.record"),
        ("pipeline:\n  transport: {replay: answers.jsonl}\n", "pipeline.transport.replay"),
        ("pipeline:\n  transport: {keep_metadata: true}\n", "pipeline.transport.keep_metadata"),
        ("pipeline:\n  cache: {directory: /tmp/elsewhere}\n", "pipeline.cache.directory"),
        ("pipeline:\n  tools_overlay: tools.yaml\n", "pipeline.tools_overlay"),
        ("pipeline:\n  weights_directory: hub\n", "pipeline.weights_directory"),
        ("planner:\n  backend: openai.${AWS_SECRET_ACCESS_KEY}\n", "planner.backend"),
    ],
)
def test_settings_found_in_the_working_folder_cannot_send_or_write_anything(
    tmp_path: Path, text: str, key: str
) -> None:
    folder = stand_in(tmp_path, text)

    with pytest.raises(SettingsError, match=key) as refused:
        load_settings(environ={"AWS_SECRET_ACCESS_KEY": "x"}, directory=folder)

    assert "--config" in str(refused.value)


def test_they_may_choose_backends_and_numbers_and_the_file_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "planner:\n  backend: openai.gpt-4o\n  timeout: 9\npipeline:\n  limits: {min_side: 16}\n"
    folder = stand_in(tmp_path, text)

    settings = load_settings(environ={}, directory=folder, trust_folder=True)

    assert (settings.planner.backend, settings.planner.timeout) == ("openai.gpt-4o", 9)
    assert settings.pipeline.limits.min_side == 16
    assert str(folder / "configs" / "model_backends.yaml") in caplog.text


@pytest.mark.parametrize("key", ["planner.backend", "summarizer.fallback_backend"])
def test_a_backend_that_sends_pictures_away_needs_a_trusted_folder(tmp_path: Path, key: str) -> None:
    role, _, name = key.partition(".")
    folder = stand_in(tmp_path, f"{role}:\n  {name}: anthropic.claude-opus-4-5\n")

    with pytest.raises(SettingsError, match=rf"{key}: anthropic\.claude-opus-4-5 would send pictures away") as refused:
        load_settings(environ={}, directory=folder)

    assert "--trust-folder" in str(refused.value)
    assert load_settings(environ={"AGENTICIQA_PIPELINE__OFFLINE": "true"}, directory=folder).pipeline.offline
    chosen = {role: {"backend": "builtin.perception", "fallback_backend": "builtin.perception"}}
    assert load_settings(None, chosen, environ={}, directory=folder).planner.backend == "builtin.perception"


@pytest.mark.parametrize("backend", ["builtin.perception", "scripted", "qwen.Qwen2.5-VL-3B-Instruct"])
def test_a_backend_on_this_machine_may_be_named_by_any_folder(tmp_path: Path, backend: str) -> None:
    folder = stand_in(tmp_path, f"planner:\n  backend: {backend}\n")

    assert load_settings(environ={}, directory=folder).planner.backend == backend


def bomb(levels: int) -> str:
    """A text of a few lines whose aliases stand for ten to the power of `levels` values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bomb(12), "its aliases stand for more than"),
        ("planner: &a {backend: *a}", "an alias stands inside what it stands for"),
        ("planner: " + "[" * 20_000, "nested too deeply|not valid YAML"),
    ],
)
def test_a_yaml_bomb_is_refused_in_files_and_in_variables(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bomb.yaml").write_text(text)

    with pytest.raises(SettingsError, match=words):
        load_settings(tmp_path / "bomb.yaml", environ={})
    with pytest.raises(SettingsError, match="is not valid YAML"):
        load_settings(environ={"AGENTICIQA_PIPELINE__LIMITS": text}, directory=tmp_path)


def test_an_alias_that_saves_words_is_no_bomb(tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text(
        "planner: &model {backend: builtin.perception, timeout: 7}\nexecutor: *model\n"
    )

    assert load_settings(tmp_path / "short.yaml", environ={}).executor.timeout == 7


def test_a_file_that_was_named_may_set_everything(tmp_path: Path) -> None:
    folder = stand_in(tmp_path, "planner:\n  base_url: http://127.0.0.1:9/v1\n")

    named = load_settings(folder / "configs" / "model_backends.yaml", environ={}, directory=folder)

    assert named.planner.base_url == "http://127.0.0.1:9/v1"


def test_the_users_own_file_counts_everywhere_and_the_working_folder_lies_over_it(tmp_path: Path) -> None:
    own = tmp_path / "home" / ".config" / "agenticiqa"
    own.mkdir(parents=True)
    write(own, "planner:\n  base_url: http://127.0.0.1:9/v1\n  timeout: 7\n")
    folder = stand_in(tmp_path, "planner:\n  timeout: 8\n")

    settings = load_settings(environ={"HOME": str(tmp_path / "home")}, directory=folder)

    assert (settings.planner.base_url, settings.planner.timeout) == ("http://127.0.0.1:9/v1", 8)
