"""Two ways of working that agents may take up."""

from __future__ import annotations

from agenticiqa.mcp.arguments import SentenceServer


def add_prompts(server: SentenceServer) -> None:
    """Offers both to the agent's host."""

    @server.prompt("check_a_folder", description="Find the bad pictures of a folder and say why each is bad")
    def check_a_folder(folder: str) -> str:
        return (
            f"Call audit_folder on {folder}. For up to five of the worst pictures call assess_image with the question "
            "'What is wrong with this photo?'. Answer with a table: file, score, what is wrong, keep or drop."
        )

    @server.prompt("compare_two_exports", description="Say which export keeps more of the original, and what was lost")
    def compare_two_exports(original: str, first: str, second: str) -> str:
        return (
            f"Call compare_images with {first} and {second} and the reference {original}. Then call assess_image on "
            f"the lower one with the reference {original} and the question 'What was lost?'. Answer in three sentences."
        )
