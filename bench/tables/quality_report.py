# SPDX-License-Identifier: Apache-2.0
"""Errors of several learners on several tables, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log
from statistics import mean, stdev
from typing import Any

Record = dict[str, Any]  # table, split, learner, error, fit_seconds, predict_seconds


class Results:
    """The measurements by learner, table and split."""

    def __init__(self, records: list[Record], learners: list[str]) -> None:
        self.by_key = {(r["learner"], r["table"], r["split"]): r for r in records}
        present = {r["learner"] for r in records}
        self.learners = [name for name in learners if name in present]
        self.tables = sorted({r["table"] for r in records})

    def of(self, learner: str, table: str, value: str) -> list[float]:
        """Of all splits."""
        return [
            r[value]
            for (name, where, _), r in sorted(self.by_key.items())
            if name == learner and where == table
        ]

    def ratios(self, learner: str, peer: str) -> list[float]:
        """The errors of one divided by those of the other, of what both were measured on."""
        return [
            r["error"] / self.by_key[peer, table, split]["error"]
            for (name, table, split), r in sorted(self.by_key.items())
            if name == learner and (peer, table, split) in self.by_key
        ]

    def wins(self, learner: str, peers: list[str]) -> tuple[int, int]:
        """On how many tables the mean error is below those of all peers, and of how many."""
        compared = [
            table
            for table in self.tables
            if all(self.of(name, table, "error") for name in [learner, *peers])
        ]
        won = [
            table
            for table in compared
            if all(
                mean(self.of(learner, table, "error")) < mean(self.of(peer, table, "error"))
                for peer in peers
            )
        ]
        return len(won), len(compared)


def geometric_mean(values: list[float]) -> float:
    return exp(mean(map(log, values)))


def error_cell(errors: list[float]) -> str:
    if not errors:
        return "-"
    spread = f" +- {stdev(errors):.3f}" if len(errors) > 1 else ""
    return f"{mean(errors):.3f}{spread}"


def error_rows(results: Results) -> Iterator[list[str]]:
    yield ["error", *results.tables]
    for name in results.learners:
        yield [name, *(error_cell(results.of(name, table, "error")) for table in results.tables)]


def time_rows(results: Results) -> Iterator[list[str]]:
    yield ["seconds to fit", *results.tables, "predict, all tables"]
    for name in results.learners:
        times = [results.of(name, table, "fit_seconds") for table in results.tables]
        predict = [
            mean(seconds)
            for table in results.tables
            if (seconds := results.of(name, table, "predict_seconds"))
        ]
        yield [
            name,
            *(f"{mean(cell):.1f}" if cell else "-" for cell in times),
            f"{sum(predict):.2f}",
        ]


def ratio_rows(results: Results, of: list[str]) -> Iterator[list[str]]:
    yield ["error / error of", *(cell for name in of for cell in (name, "better on"))]
    for peer in results.learners:
        cells = []
        for name in of:
            ratios = results.ratios(name, peer) if name != peer else []
            won, compared = results.wins(name, [peer])
            cells += [
                f"{geometric_mean(ratios):.3f}" if ratios else "",
                f"{won} of {compared}" if ratios else "",
            ]
        yield [peer, *cells]


def aligned(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:])),
            ]
        ).rstrip()
        for row in rows
    )


def as_markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def transposed(rows: list[list[str]]) -> list[list[str]]:
    return [list(column) for column in zip(*rows)]


def render(records: list[Record], learners: list[str], markdown: bool) -> str:
    """All tables of the report."""
    results = Results(records, learners)
    ours = [name for name in results.learners if name.startswith("trainer")]
    tables = [
        transposed(list(error_rows(results))),
        list(ratio_rows(results, ours)),
        transposed(list(time_rows(results))),
    ]
    return "\n\n".join((as_markdown if markdown else aligned)(rows) for rows in tables)
