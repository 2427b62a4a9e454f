#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work with scikit-learn's MLPClassifier, as far as it can do it: its Adam has no clipping and
no decoupled decay, its initial weights are Glorot's, and two classes have one logistic output."""

import numpy as np
from sklearn.neural_network import MLPClassifier

import peer


def main() -> None:
    given = peer.parser(__doc__).parse_args()
    work = peer.read_work(given.folder)
    (x, y), (x_test, y_test) = peer.load(given)
    model = MLPClassifier(
        hidden_layer_sizes=work["layers"][1:-1],
        activation="relu",
        solver="adam",
        alpha=0,
        batch_size=work["batch_size"],
        learning_rate_init=work["learning_rate"],
        beta_1=work["beta1"],
        beta_2=work["beta2"],
        epsilon=work["epsilon"],
        random_state=np.random.RandomState(given.seed),
    )  # a number: one order
    classes = np.arange(work["layers"][-1])
    seconds = peer.time_epochs(given.epochs, lambda: model.partial_fit(x, y, classes=classes))
    peer.report(seconds, model.predict(x_test), y_test)


if __name__ == "__main__":
    main()
