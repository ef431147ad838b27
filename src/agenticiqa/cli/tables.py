"""Tables on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]], piped_width: int) -> None:
    """Prints the cells as they are, wrapped to the terminal, or to this width where there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A file or pipe has no width of its own; nothing may be cut off there.
    console = Console() if Console().is_terminal else Console(width=piped_width)
    console.print(table)
