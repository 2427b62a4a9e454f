# SPDX-License-Identifier: Apache-2.0
"""Steps of eager PyTorch with the network `mid` of docs/peers.md, to count operators:

    for steps in 1 11; do
      LD_PRELOAD=build/release/lib/libsimulated_mps.so SIMULATED_DEVICE=fp64=1 \
      SIMULATED_DEVICE_COUNTERS=1 python3 tests/simulated_device/eager_steps.py $steps
    done

Ten steps are the difference. Further words: clip, adamw (without: no update), foreach.
"""
import sys

import torch
from torch import nn


def main(num_steps: int, words: list[str]) -> None:
    device = torch.device("mps")
    model = nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
    ).to(device)
    features = torch.randn(128, 784).to(device)
    classes = torch.randint(0, 10, (128,)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), foreach="foreach" in words)
    for _ in range(num_steps):
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(features), classes).backward()
        if "clip" in words:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if "adamw" in words:
            optimizer.step()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
