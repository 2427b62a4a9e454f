#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares trainer with what a user would pick instead: the same works on the same data, run in
turn, each peer at its best setting. Installs nothing. docs/peers.md has the method.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import table
from peers import (
    FOLDER,
    Outcome,
    Peer,
    PeerError,
    ScriptPeer,
    Setting,
    XGBoost,
    all_peers,
    find_python,
    run_command,
    usable_cpus,
)
from works import WORKS, Work, data_files, write_description, write_trainer_config

ROOT = FOLDER.parent.parent
FASHION = ROOT / "configs" / "data" / "fashion-mnist"
NUM_TIMED_EPOCHS = 3  # after one to warm up
CLEARLY_FASTER = 0.97  # of the time of another setting; less may be noise
SLOW = 0.75  # of the most GFLOP/s that a probe has shown: below, the machine is in its slow state


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def prepare(work: Work, scratch: Path, num_rows: int) -> tuple[Path, str, dict[str, str]]:
    """Makes the folder of a work; returns it, the name of the data and their checksums."""
    folder = scratch / work.name
    folder.mkdir()
    names = data_files(work).values()
    has_fashion = not work.is_table() and all((FASHION / f"{name}.gz").exists() for name in names)
    run_command(
        [
            find_python("numpy")[0],
            FOLDER / "make_data.py",
            folder,
            work.name,
            num_rows,
            *([FASHION] if has_fashion else []),
        ]
    )
    write_description(work, folder)
    write_trainer_config(work, folder)
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    made = "rows of a made table" if work.is_table() else "made images"
    return folder, "images of Fashion-MNIST" if has_fashion else made, sums


def first_setting(peer: Peer, work: Work) -> Setting:
    """The setting without a search: one thread for a tiny model, else all."""
    setting = {key: values[0] for key, values in peer.axes().items()}
    if "threads" in setting and work.name != "tiny":
        setting["threads"] = usable_cpus()
    return setting


def find_setting(peer: Peer, work: Work, folder: Path) -> tuple[Setting, dict[str, float]]:
    """The fastest setting, found by short trials: the best value of one key after the other. Also
    the seconds of each trial."""
    setting = first_setting(peer, work)
    trials: dict[str, float] = {}

    def seconds(candidate: Setting) -> float:
        name = table.setting_text(candidate)
        if name not in trials:
            outcome = peer.run(folder, candidate, 1 + NUM_TIMED_EPOCHS, 0, work.trial_rows)
            trials[name] = min(outcome.epoch_seconds[1:])  # least disturbed by other programs
        return trials[name]

    for key, values in peer.axes().items():
        for value in values:
            candidate = {**setting, key: value}
            if seconds(candidate) < CLEARLY_FASTER * seconds(setting):
                setting = candidate
    if trials:
        say(f"{work.name}: {peer.name} is fastest with {table.setting_text(setting)}")
    return setting, trials


def run_in_turn(
    work: Work, folder: Path, peers: list[Peer], settings: dict[str, Setting], repetitions: int
) -> dict[str, list[Outcome]]:
    outcomes: dict[str, list[Outcome]] = {peer.name: [] for peer in peers}
    for number in range(repetitions):
        times = []
        first = number % len(peers)  # so that none always follows the same other one
        for peer in [*peers[first:], *peers[:first]]:
            outcome = peer.run(folder, settings[peer.name], 1 + NUM_TIMED_EPOCHS, number)
            outcomes[peer.name].append(outcome)
            probes = " - ".join(f"{value:.0f}" for value in outcome.probes)
            times.append(f"{peer.name} {median(outcome.epoch_seconds[1:]):.3f} s ({probes})")
        say(f"{work.name}: repetition {number + 1} of {repetitions}: {'; '.join(times)}")
    return outcomes


def states(outcomes: list[Outcome], most: float) -> list[str]:
    """Of each run: fast, slow, or mixed, whose time says nothing. `most`: GFLOP/s of the fastest
    probe of all."""

    def state(outcome: Outcome) -> str:
        is_slow = {value < SLOW * most for value in outcome.probes}
        return "mixed" if len(is_slow) > 1 else "slow" if is_slow.pop() else "fast"

    return [state(outcome) for outcome in outcomes]


def summary(
    work: Work, num_rows: int, outcomes: list[Outcome], reference: list[Outcome], most: float
) -> dict[str, Any]:
    """Times in the unit of the work, and the ratio of each to the reference's median in the same
    state of the machine, where it has one."""
    parts = work.num_steps(num_rows) if work.unit.endswith("step") else 1
    factor = {"us": 1e6, "ms": 1e3, "s": 1}[work.unit.split("/")[0]] / parts

    def by_state(runs: list[Outcome]) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {"fast": [], "slow": [], "mixed": []}
        for run, state in zip(runs, states(runs, most)):
            times[state].append(factor * median(run.epoch_seconds[1:]))
        return times

    times, base = by_state(outcomes), by_state(reference)
    return {
        "setting": outcomes[0].setting,
        "times": times,
        "ratios": {
            state: [time / median(base[state]) for time in times[state]]
            for state in ("fast", "slow")
            if base[state]
        },
        "accuracies": [outcome.accuracy for outcome in outcomes],
        "epoch_seconds": [outcome.epoch_seconds for outcome in outcomes],
        "probes": [outcome.probes for outcome in outcomes],
    }


def boosting_times(work: Work, folder: Path, reference: list[Outcome]) -> list[dict[str, Any]]:
    """How long XGBoost takes to be right as often as trainer is after its epochs, for each run."""
    xgboost = XGBoost()
    if xgboost.absent:
        return []
    say(f"{work.name}: XGBoost until it is right as often as trainer")
    times = xgboost.time_to(folder, [outcome.accuracy for outcome in reference])
    return [{**time, "ours": sum(outcome.epoch_seconds)} for time, outcome in zip(times, reference)]


def compare(
    work: Work, scratch: Path, peers: list[Peer], given: argparse.Namespace
) -> dict[str, Any]:
    num_rows = work.quick_rows if given.quick else work.num_rows
    folder, data, sums = prepare(work, scratch, num_rows)
    settings: dict[str, Setting] = {}
    trials: dict[str, dict[str, float]] = {}
    for peer in peers:
        if given.quick:
            settings[peer.name] = first_setting(peer, work)
        else:
            settings[peer.name], trials[peer.name] = find_setting(peer, work, folder)
    outcomes = run_in_turn(work, folder, peers, settings, given.repetitions)
    reference = outcomes[peers[0].name]
    boosting = []
    if given.precision == "fp32":  # the precision of trees cannot be chosen, so once is enough
        boosting = boosting_times(work, folder, reference[:1] if given.quick else reference)
    return {
        "num_rows": num_rows,
        "work": work.name,
        "title": f"{work.title()}, {num_rows:,} {data}",
        "unit": work.unit,
        "sha256": sums,
        "trials": trials,
        "system": reference[0].system,
        "boosting": boosting,
        "peers": outcomes,
    }


def machine_facts(system: dict[str, Any], peers: list[Peer], load_before: float) -> dict[str, Any]:
    versions = {
        peer.module: peer.version
        for peer in [*peers, XGBoost()]
        if isinstance(peer, (ScriptPeer, XGBoost)) and peer.version
    }
    return {
        "cpu": system["host"]["cpu"],
        "usable_cpus": usable_cpus(),
        "os": system["host"]["os"],
        "build": system["build"],
        "blas": system["blas"],
        "versions": versions,
        "load_before": load_before,
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", action="append", choices=WORKS, help="only this one; repeatable")
    parser.add_argument("--repetitions", type=int, metavar="N", help="default 5; 2 with --quick")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="less data and no search for the best settings: to try the script",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes all measurements too")
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build" / "release",
        metavar="FOLDER",
        help="where trainer was built (default: build/release)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another value for trainer, such as training.step=autograd",
    )
    parser.add_argument(
        "--precision",
        choices=["fp32", "bf16"],
        default="fp32",
        help="bf16: trainer's, and PyTorch's autocast",
    )
    given = parser.parse_args()
    if given.repetitions is None:
        given.repetitions = 2 if given.quick else 5
    if given.repetitions < 1:
        parser.error(f"--repetitions: expected a number >= 1, got {given.repetitions}")
    if given.json and not given.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {given.json.absolute().parent}")
    return given


def present_peers(given: argparse.Namespace) -> tuple[list[Peer], list[Peer]]:
    """The peers that are here; says what is absent and how to get it."""
    peers = all_peers(given.build.resolve(), given.set, given.precision)
    everything: list[Peer | XGBoost] = [*peers, XGBoost()]
    for peer in everything:
        if peer.absent:
            say(f"absent: {peer.name}. To have it: {peer.absent}")
    if peers[0].absent:
        raise PeerError("without trainer there is nothing to compare")
    if find_python("numpy")[0] is None:
        raise PeerError(
            "no Python with NumPy, which writes the data. To have it: Debian: apt-get "
            "install python3-numpy; elsewhere: pip install numpy; or name a Python "
            "by TRAINER_PYTHON"
        )
    return [peer for peer in peers if not peer.absent], [peer for peer in peers if peer.absent]


def run(given: argparse.Namespace) -> None:
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"note: other programs are at work here (load {load:.1f}); they disturb the times")
    present, absent = present_peers(given)
    with tempfile.TemporaryDirectory(prefix="bench_peers_") as scratch:
        results = [
            compare(WORKS[name], Path(scratch), present, given) for name in given.work or WORKS
        ]
    runs = [run for result in results for runs in result["peers"].values() for run in runs]
    most = max(value for run in runs for value in run.probes)
    for result in results:
        work, reference = WORKS[result["work"]], result["peers"][present[0].name]
        result["peers"] = {
            name: summary(work, result["num_rows"], outcomes, reference, most)
            for name, outcomes in result["peers"].items()
        }
    facts = machine_facts(results[0]["system"], present, load)
    report = {
        "machine": facts,
        "repetitions": given.repetitions,
        "quick": given.quick,
        "timed_epochs": NUM_TIMED_EPOCHS,
        "works": results,
        "absent": {peer.name: peer.absent for peer in absent},
    }
    print(table.render(report))
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n")


def main() -> int:
    given = parse_arguments()
    # As Ctrl-C: the peer at work ends and the scratch folder goes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        run(given)
    except KeyboardInterrupt:
        say("interrupted; nothing is left behind")
        return 130
    except (PeerError, OSError) as error:
        say(f"error: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
