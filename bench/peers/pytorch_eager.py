#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work in PyTorch, eager or compiled, in float32 or with autocast to bfloat16. The data is
resident in a tensor, or comes by a DataLoader.
"""

from __future__ import annotations

import inspect
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import peer


def make_model(layers: list[int]) -> nn.Module:
    modules: list[nn.Module] = []
    for width, next_width in zip(layers, layers[1:]):
        modules += [nn.Linear(width, next_width), nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def make_optimizer(model: nn.Module, work: dict[str, Any], kind: str) -> torch.optim.Optimizer:
    options = {} if kind == "plain" else {kind: True}
    return torch.optim.AdamW(
        model.parameters(),
        lr=work["learning_rate"],
        betas=(work["beta1"], work["beta2"]),
        eps=work["epsilon"],
        weight_decay=work["weight_decay"],
        **options,
    )


def clip_options(kind: str) -> dict[str, bool]:
    """Clipping has a foreach of its own from PyTorch 2.0 on."""
    known = "foreach" in inspect.signature(nn.utils.clip_grad_norm_).parameters
    return {"foreach": True} if known and kind != "plain" else {}


Batch = tuple[torch.Tensor, torch.Tensor]


class ResidentBatches:
    def __init__(self, x: torch.Tensor, y: torch.Tensor, batch_size: int) -> None:
        self.x, self.y, self.batch_size = x, y, batch_size

    def __iter__(self) -> Iterator[Batch]:
        for rows in torch.randperm(len(self.x)).split(self.batch_size):
            yield self.x[rows], self.y[rows]


def make_batches(
    given: Namespace, x: torch.Tensor, y: torch.Tensor, batch_size: int
) -> Iterable[Batch]:
    if given.feed == "resident":
        return ResidentBatches(x, y, batch_size)
    return DataLoader(
        TensorDataset(x, y),
        batch_size,
        shuffle=True,
        num_workers=given.workers,
        persistent_workers=given.workers > 0,
    )


def train_epoch(
    model: nn.Module,
    batches: Iterable[Batch],
    optimizer: torch.optim.Optimizer,
    clip_norm: float,
    options: dict[str, bool],
    precision: str,
) -> None:
    loss_of = nn.CrossEntropyLoss()
    for x, y in batches:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss = loss_of(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip_norm, **options)
        optimizer.step()


def main() -> None:
    parser = peer.parser(__doc__)
    parser.add_argument("--feed", choices=["resident", "dataloader"], default="resident")
    parser.add_argument("--workers", type=int, default=0, help="processes of the DataLoader")
    parser.add_argument("--optimizer", choices=["plain", "foreach", "fused"], default="plain")
    parser.add_argument(
        "--compile",
        choices=["off", "default", "max-autotune"],
        default="off",
        help="mode of torch.compile",
    )
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32")
    given = parser.parse_args()
    work = peer.read_work(given.folder)
    (x, y), (x_test, y_test) = peer.load(given)
    torch.manual_seed(given.seed)
    model = make_model(work["layers"])
    optimizer = make_optimizer(model, work, given.optimizer)
    batches = make_batches(given, torch.from_numpy(x), torch.from_numpy(y), work["batch_size"])
    options = clip_options(given.optimizer)
    trained = model if given.compile == "off" else torch.compile(model, mode=given.compile)
    seconds = peer.time_epochs(
        given.epochs,
        lambda: train_epoch(
            trained, batches, optimizer, work["gradient_clip_norm"], options, given.precision
        ),
    )
    with torch.no_grad():
        predicted = model(torch.from_numpy(x_test)).argmax(1).numpy()
    peer.report(seconds, predicted, y_test)


if __name__ == "__main__":
    main()
