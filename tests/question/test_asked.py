"""What is asked survives being kept and taken up again, with everything a question can hold."""

from __future__ import annotations

import pytest

from agenticiqa.graph.checkpoints import state_serializer
from agenticiqa.question.asked import Conditions, Flaw, Measure, Question, Reply, Score, Topic, Use, YesNo
from agenticiqa.question.scales import Scale


@pytest.mark.parametrize(
    "question",
    [
        YesNo(
            Topic(Flaw("blur"), use=Use("print", 11.7, 300)),
            Reply("de"),
            "fine",
            polarity_probability=0.93,
            conditions=Conditions("both", (Flaw("blur"), Flaw("noise", "chroma_noise"))),
        ),
        Score(Topic(Flaw("exposure")), Reply(), None, Scale(-5, 5, ends=("dark", "bright"))),
        Measure(Topic(Flaw("resolution"), use=Use("print", per_inch=200)), Reply(), fact="print"),
    ],
)
def test_a_question_is_the_same_after_it_was_kept(question: Question) -> None:
    serializer = state_serializer()

    assert serializer.loads_typed(serializer.dumps_typed(question)) == question
