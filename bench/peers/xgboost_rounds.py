#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long gradient boosting by XGBoost takes until it is right as often on the test part as asked,
counted from the arrays in memory. Ends without it after some rounds or seconds.
"""

import json
import time

import numpy as np
import xgboost

import peer


def main() -> None:
    parser = peer.parser(__doc__)
    parser.add_argument("--accuracy", type=float, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True, help="at most")
    parser.add_argument("--seconds", type=float, default=120, help="at most")
    given = parser.parse_args()
    num_classes = peer.read_work(given.folder)["layers"][-1]
    (x, y), (x_test, y_test) = peer.load(given)
    test = xgboost.DMatrix(x_test, nthread=given.threads)
    options = {
        "objective": "multi:softmax",
        "num_class": num_classes,
        "tree_method": "hist",
        "nthread": given.threads,
        "seed": given.seed,
    }
    start = time.perf_counter()
    train = xgboost.QuantileDMatrix(x, y, nthread=given.threads)
    model = xgboost.Booster(options, [train])
    seconds = time.perf_counter() - start
    accuracy, rounds = 0.0, 0
    while accuracy < given.accuracy and rounds < given.rounds and seconds < given.seconds:
        start = time.perf_counter()
        model.update(train, rounds)
        seconds += time.perf_counter() - start
        rounds += 1
        accuracy = float(np.mean(model.predict(test) == y_test))
    print(json.dumps({"seconds": seconds, "rounds": rounds, "accuracy": accuracy}))


if __name__ == "__main__":
    main()
