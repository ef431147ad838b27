"""The published JSON Schema of an assessment: `python -m agenticiqa.assessor.schema` prints it."""

from __future__ import annotations

import json
import sys

from agenticiqa.assessor.assessment import SCHEMA_VERSION, Assessment


def schema_text() -> str:
    """The schema as it stands in docs/schema/assessment.schema.json."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"schema_version {SCHEMA_VERSION}",
        **Assessment.model_json_schema(mode="serialization"),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
