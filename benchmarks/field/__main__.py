"""The ledger of the field: records a version, prints one table, and fails where the check half fell.

    python -m benchmarks.field decide --data DIR [DIR ...]
    python -m benchmarks.field check --data DIR [DIR ...] --for "what this look is for"
    python -m benchmarks.field check --data DIR --for TEXT --version 0.2.0 --code TREE/src
    python -m benchmarks.field table [--markdown | --write]

`decide` may be run at any time and alone chooses what stays. `check` is looked at when a piece of work begins and when
it ends; every look is listed in benchmarks/field.json, and a paired fall against the best earlier version ends with
exit code 1 until the reason is written beside the figure there. `--only PART` records and enters one part alone.
`table` prints what the file holds; with `--markdown` as README quotes it, every earlier version beside, and with
`--write` it is put into the pages that quote it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agenticiqa.errors import UsageError
from benchmarks.field.ledger import LEDGER, Entry, FieldLedger
from benchmarks.field.recording import ROOT
from benchmarks.field.sources import Data, Half
from benchmarks.field.table import FRONT, markdown, write_tables
from benchmarks.field.versions import RECORDS, UNRELEASED, Versions, parts_of


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 where a figure of the check half is red."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("decide", "check", "table"))
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="folders with the sources")
    parser.add_argument("--for", dest="purpose", help="what this look at the check half is for")
    parser.add_argument("--version", default=UNRELEASED, help="under which name the records are kept")
    parser.add_argument("--code", type=Path, default=ROOT / "src", help="the version's own source folder")
    parser.add_argument("--only", nargs="+", metavar="PART", help="these parts only")
    parser.add_argument("--terms", choices=("research", "commercial"), default="research", help="whose weights")
    parser.add_argument("--markdown", action="store_true", help="with table: as README quotes it")
    parser.add_argument("--write", action="store_true", help="with table: into the pages that quote it")
    parser.add_argument("--recorded", action="store_true", help="only what is recorded already")
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    given = parser.parse_args(arguments)
    ledger = FieldLedger.read(given.ledger)
    if given.what != "table":
        if given.what == "check" and not given.purpose:
            parser.error("a look at the check half is listed: say what it is for with --for")
        try:
            run(ledger, given, Versions(Data(given.data), given.records, given.terms))
        except UsageError as error:
            parser.error(str(error))
        ledger.write(given.ledger)
    if given.write:
        write_tables(ledger)
    if given.markdown:
        print(markdown(ledger, FRONT), end="")
    else:
        print_table(ledger)
    red = [name for name, entry in ledger.figures.items() if entry.is_red]
    if red:
        print(f"\nfell against the best version, no reason given in {given.ledger.name}: {', '.join(red)}")
    return 1 if red else 0


def run(ledger: FieldLedger, given: argparse.Namespace, versions: Versions) -> None:
    """Record what is missing and enter its figures."""
    half: Half = given.what
    wanted = given.only or parts_of(half)
    if strange := sorted(set(wanted) - set(parts_of(half))):
        raise UsageError(f"--only {', '.join(strange)}: the {half} half has {', '.join(parts_of(half))}")
    if not given.recorded:
        for part in wanted:
            versions.record(given.version, part, given.code)
    if half == "check":
        codes = versions.codes(given.version)
        made_with = "+".join(sorted({codes[part] for part in wanted if part in codes}))
        ledger.list_look(given.version, made_with, wanted, given.purpose)
    for part in wanted:
        before = {name: {m.name: m for m in versions.figures(name, part)} for name in versions.earlier(given.version)}
        for measured in versions.figures(given.version, part):
            known = {name: found[measured.name] for name, found in before.items() if measured.name in found}
            ledger.enter(given.version, measured, known)


def print_table(ledger: FieldLedger) -> None:
    """One row a figure, decide first."""
    for half in ("decide", "check"):
        rows = [(name, entry) for name, entry in ledger.figures.items() if entry.half == half]
        if rows:
            print(f"\n## {half}\n\n| figure | version | n | value | best earlier | apart | |\n|{'---|' * 7}")
            print("\n".join(line(name, entry) for name, entry in rows))
    print(f"\n{len(ledger.looks)} looks at the check half")


def line(name: str, entry: Entry) -> str:
    """A figure as a row of the table."""
    best = f"{entry.best_value:.3f} ({entry.best})" if entry.best_value is not None else ""
    apart = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*entry.apart) if entry.apart else ""
    mark = "RED" if entry.is_red else f"fell: {entry.reason or 'decide'}" if entry.fall else ""
    value = f"{entry.value:.3f} [{entry.low:.3f}, {entry.high:.3f}]"
    return f"| {name} | {entry.version} | {entry.n} | {value} | {best} | {apart} | {mark} |"


if __name__ == "__main__":
    sys.exit(main())
