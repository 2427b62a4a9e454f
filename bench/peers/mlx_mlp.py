#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work in MLX, whose layers begin as PyTorch's do: plain or compiled, on its default device."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
import peer


class Network(nn.Module):
    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.layers = [
            nn.Linear(width, next_width) for width, next_width in zip(widths, widths[1:])
        ]

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers[:-1]:
            x = nn.relu(layer(x))
        return self.layers[-1](x)


def make_optimizer(work: dict[str, Any]) -> optim.Optimizer:
    return optim.AdamW(
        work["learning_rate"],
        betas=[work["beta1"], work["beta2"]],
        eps=work["epsilon"],
        weight_decay=work["weight_decay"],
        bias_correction=True,
    )


def main() -> None:
    parser = peer.parser(__doc__)
    parser.add_argument("--compile", choices=["off", "on"], default="off", help="mx.compile")
    given = parser.parse_args()
    work = peer.read_work(given.folder)
    (x, y), (x_test, y_test) = peer.load(given)
    mx.random.seed(given.seed)
    model = Network(work["layers"])
    optimizer = make_optimizer(work)
    features, classes = mx.array(x), mx.array(y)
    state = [model.state, optimizer.state]

    def loss_of(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), y, reduction="mean")

    loss_and_gradients = nn.value_and_grad(model, loss_of)

    def step(rows: mx.array) -> mx.array:
        loss, gradients = loss_and_gradients(features[rows], classes[rows])
        gradients, _ = optim.clip_grad_norm(gradients, work["gradient_clip_norm"])
        optimizer.update(model, gradients)
        return loss

    trained = mx.compile(step, inputs=state, outputs=state) if given.compile == "on" else step

    def train_epoch() -> None:
        order = mx.random.permutation(len(x))
        for start in range(0, len(x), work["batch_size"]):
            mx.eval(trained(order[start : start + work["batch_size"]]), state)

    seconds = peer.time_epochs(given.epochs, train_epoch)
    predicted = np.array(mx.argmax(model(mx.array(x_test)), axis=1))
    peer.report(seconds, predicted, y_test)


if __name__ == "__main__":
    main()
