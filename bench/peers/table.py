# SPDX-License-Identifier: Apache-2.0
"""Prints the measurements as aligned text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import floor, log10
from statistics import mean, median
from typing import Any

FOOTNOTES = {
    "scikit-learn": """
[1] scikit-learn has neither clipping nor decoupled weight decay, draws other initial weights
    (Glorot's), and gives two classes one logistic output: less work in each step."""
}


def setting_text(setting: dict[str, Any]) -> str:
    return ", ".join(
        f"{value} {key.rstrip('s') if value == 1 else key}" for key, value in setting.items()
    )


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:.{max(0, 2 - floor(log10(value)))}f}"


def spread(values: list[float]) -> str:
    return f"{number(min(values))} - {number(max(values))}"


def rows_of(result: dict[str, Any]) -> Iterator[list[str]]:
    yield [
        "",
        "state",
        "runs",
        result["unit"],
        "min - max",
        "ratio",
        "min - max",
        "accuracy",
        "setting",
    ]
    for name, peer in result["peers"].items():
        marked = f"{name} [1]" if name in FOOTNOTES else name
        for state, times in peer["times"].items():
            if not times:
                continue
            ratios = peer["ratios"].get(state)
            yield [
                marked,
                state,
                str(len(times)),
                number(median(times)),
                spread(times),
                f"{median(ratios):.2f}" if ratios else "-",
                f"{min(ratios):.2f} - {max(ratios):.2f}" if ratios else "",
                f"{100 * mean(peer['accuracies']):.1f} %",
                setting_text(peer["setting"]),
            ]


def aligned(rows: Iterable[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1])]
        yield "  ".join([*cells, row[-1]]).rstrip()


def boosting_line(times: list[dict[str, Any]]) -> str:
    """XGBoost's time to the accuracy of trainer, the medians of the runs."""
    ours = median(time["ours"] for time in times)
    theirs = median(time["seconds"] for time in times)
    accuracy = 100 * mean(time["wanted"] for time in times)
    rounds = f"{median(time['rounds'] for time in times):.0f} rounds"
    if any(time["accuracy"] < time["wanted"] for time in times):
        reached = 100 * mean(time["accuracy"] for time in times)
        return (
            f"XGBoost has {reached:.1f} % after {rounds} and {number(theirs)} s; trainer "
            f"{accuracy:.1f} % after {number(ours)} s"
        )
    return (
        f"XGBoost has {accuracy:.1f} % after {rounds} and {number(theirs)} s, trainer after "
        f"{number(ours)} s: {theirs / ours:.2f}"
    )


def facts_lines(report: dict[str, Any]) -> Iterator[str]:
    machine = report["machine"]
    build = machine["build"]
    yield (
        f"machine     {machine['cpu']}, {machine['usable_cpus']} usable CPUs, {machine['os']}, "
        f"load {machine['load_before']:.1f} before"
    )
    yield f"trainer     {build['version']} ({build['git_commit'][:9]}), {build['compiler']}"
    yield f"libraries   LibTorch {build['libtorch']}, {machine['blas']}" + "".join(
        f", {name} {version}" for name, version in machine["versions"].items()
    )
    yield (
        f"method      medians of {report['repetitions']} turns, each with 1 epoch to warm "
        f"up and {report['timed_epochs']} timed; ratios within one state of the machine (probe.py)"
    )


def render(report: dict[str, Any]) -> str:
    lines = [*facts_lines(report)]
    if report["quick"]:
        lines.append("note        --quick: little data, settings not searched; not for quoting")
    for name, install in report["absent"].items():
        lines.append(f"absent      {name} ({install})")
    # One table: the columns of all works stand under each other.
    tables = [list(rows_of(result)) for result in report["works"]]
    text = iter(aligned([row for rows in tables for row in rows]))
    for result, rows in zip(report["works"], tables):
        lines += ["", result["title"], *(next(text) for _ in rows)]
        if result["boosting"]:
            lines.append(boosting_line(result["boosting"]))
    lines += [text for name, text in FOOTNOTES.items() if name in report["works"][0]["peers"]]
    return "\n".join(lines)
