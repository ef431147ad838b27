"""The assessment as a tool for LangChain agents; needs langchain-core alone, which comes with LangGraph."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field

from agenticiqa.assessor import Assessment, Assessor, assess
from agenticiqa.assessor.wording import assessment_in_words
from agenticiqa.errors import AgenticIQAError

DESCRIPTION = (
    "Judges the technical quality of an image file and answers questions about it (blur, noise, exposure, colour, "
    "compression), with a score from 1 to 5 and the evidence. Compares with an original if one is given."
)


class ToolArguments(BaseModel):
    """What an agent passes."""

    image: Annotated[str, Field(description="path of the image file")]
    question: Annotated[str | None, Field(description="what to find out; without it the quality is rated")] = None
    reference: Annotated[str | None, Field(description="path of the undamaged original, if there is one")] = None
    choices: Annotated[list[str] | None, Field(description="the answers to choose from, if there are any")] = None


def tool(assessor: Assessor | None = None, *, name: str = "assess_image_quality") -> BaseTool:
    """A LangChain tool; its message is the answer in words, its artifact the whole `Assessment`.

    Without an `assessor` the default settings hold. An image or a question that cannot be used is told to the agent as
    the tool's error.
    """
    judge = assessor.assess if assessor is not None else assess

    def run(**arguments: Any) -> tuple[str, Assessment]:
        given = ToolArguments(**arguments)
        try:
            found = judge(given.image, given.question, reference=given.reference, choices=given.choices)
        except AgenticIQAError as error:
            raise ToolException(str(error)) from error
        return assessment_in_words(found, evidence=True), found

    return StructuredTool(
        name=name,
        description=DESCRIPTION,
        args_schema=ToolArguments,
        func=run,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
