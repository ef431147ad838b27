"""Prints the longest functions, the largest files, the import cycles and the size of the package beside its budget.

    python scripts/shape.py

Exit code 1 when modules import each other in a circle or a size is above its budget.
"""

from __future__ import annotations

import ast
import runpy
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "agenticiqa"
SHOWN = 3
# What the package may hold. To raise a number is a decision: say in the commit what the growth buys. To be lowered
# whenever the measured number falls, until 38,000 lines, 290 files, 1,581 lines of words and 75 files crossed.
BUDGET = {
    "lines of Python": 43_000,
    "files of Python": 285,
    "lines of YAML that hold words": 1_200,
    "files one question crosses": 90,
}


def main() -> int:
    """Prints the shape; the exit code says whether there is a cycle or a size above its budget."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    functions = sorted((found for path, tree in trees.items() for found in lengths(path, tree)), reverse=True)
    files = sorted(((len(path.read_text(encoding="utf-8").splitlines()), shown(path)) for path in trees), reverse=True)
    cycles = circles(imports(trees))
    median = statistics.median(length for length, _ in functions)
    say("longest functions", functions[:SHOWN], f"median {median:g} lines of {len(functions)}")
    say("largest files", files[:SHOWN], f"median {statistics.median(n for n, _ in files):g} lines of {len(files)}")
    sys.stdout.write(f"import cycles: {len(cycles)}\n" + "".join(f"  {' ↔ '.join(circle)}\n" for circle in cycles))
    sizes = {
        "lines of Python": sum(length for length, _ in files),
        "files of Python": len(files),
        "lines of YAML that hold words": lines_of_words(PACKAGE),
        "files one question crosses": files_crossed(),
    }
    sys.stdout.writelines(f"{what}: {size:,} of {BUDGET[what]:,}\n" for what, size in sizes.items())
    excess = above_budget(sizes, BUDGET)
    sys.stdout.writelines(f"above the budget: {line}\n" for line in excess)
    return 1 if cycles or excess else 0


def above_budget(sizes: dict[str, int], budget: dict[str, int]) -> list[str]:
    """A line about every size that is larger than its budget."""
    return [
        f"{what}: {size:,}, {size - budget[what]:,} more than {budget[what]:,}"
        for what, size in sizes.items()
        if size > budget[what]
    ]


def lines_of_words(package: Path) -> int:
    """The lines of the YAML files with the words of questions and answers."""
    files = [path for room in ("question", "wording") for path in (package / room).rglob("*.yaml")]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def files_crossed() -> int:
    """The files of the package that run to answer one question."""
    ask = runpy.run_path(str(ROOT / "scripts" / "one_question.py"))["ask"]
    return len(ask()[1].files)


def say(what: str, found: list[tuple[int, str]], overall: str) -> None:
    """One line about one kind of size."""
    listed = ", ".join(f"{name} {length}" for length, name in found)
    sys.stdout.write(f"{what}: {listed} ({overall})\n")


def lengths(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The length in lines of every function, with its place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1, f"{shown(path)}:{node.name}"


def imports(trees: dict[Path, ast.Module]) -> dict[str, set[str]]:
    """Which of our modules each module loads when it is imported; those for type checkers only do not count."""
    names = {module_name(path) for path in trees}
    return {
        module_name(path): {target for target in loaded(tree.body, names) if target != module_name(path)}
        for path, tree in trees.items()
    }


def loaded(body: list[ast.stmt], names: set[str]) -> Iterator[str]:
    """The modules that statements at the top of a module load."""
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            whole = {f"{statement.module}.{alias.name}" for alias in statement.names} & names
            # `from package import name` needs the package itself only where the name is no module of it.
            yield from whole or ({statement.module} & names)
        elif isinstance(statement, ast.Import):
            yield from {alias.name for alias in statement.names} & names
        elif isinstance(statement, ast.Try):
            yield from loaded(statement.body, names)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other, by Tarjan's algorithm."""
    found: list[list[str]] = []
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(graph[name]):
            if target not in index:
                visit(target)
            if target in stack:
                low[name] = min(low[name], low[target])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def module_name(path: Path) -> str:
    """The module's dotted name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def shown(path: Path) -> str:
    """The path as a reader knows it."""
    return str(path.relative_to(PACKAGE))


if __name__ == "__main__":
    raise SystemExit(main())
