"""A share of the fault matrix; `make chaos` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.fault_server import TASKS
from tests.chaos.faults import FAULTS, Fault
from tests.chaos.matrix import MODES, PROVIDERS, Cell, Mode, cells, run_matrix


def share(mode: Mode) -> list[Cell]:
    """Every fault once, the providers and tasks in turn, so that each of them is met."""
    return [_cell(number, fault, mode) for number, fault in enumerate(FAULTS)]


def _cell(number: int, fault: Fault, mode: Mode) -> Cell:
    tasks = fault.tasks or TASKS
    turn = number + MODES.index(mode)
    return Cell(PROVIDERS[turn % len(PROVIDERS)], fault, tasks[turn % len(tasks)], mode)


def test_the_share_meets_every_provider_task_and_fault() -> None:
    met = [cell for mode in MODES for cell in share(mode)]

    assert {cell.provider for cell in met} == set(PROVIDERS)
    assert {cell.task for cell in met} == set(TASKS)
    assert {cell.fault for cell in met} == set(FAULTS)
    assert len(cells()) > 1200


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_a_fault_ends_in_an_answer_a_named_stand_in_or_a_reason_with_an_exact_ledger(
    mode: Mode, tmp_path: Path
) -> None:
    outcomes = run_matrix(share(mode), tmp_path)

    assert [(outcome.cell, outcome.problems) for outcome in outcomes if outcome.problems] == []
    assert not any(outcome.leaked or outcome.crashed for outcome in outcomes)
