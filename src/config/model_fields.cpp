// SPDX-License-Identifier: Apache-2.0
#include "config/bounds.h"
#include "config/field_makers.h"

namespace trainer::config {
namespace {

std::vector<Field> network_fields() {
  return {
      choice(TRAINER_MEMBER(model.name), "Architecture of the network: a multilayer perceptron.",
             {.aliases = {"architecture", "model_type"}}),
      integer(TRAINER_MEMBER(model.hidden_size), kWidth, "Width of each hidden layer.",
              {.aliases = {"hidden_dim", "hidden_units"}}),
      integer(TRAINER_MEMBER(model.num_layers), kDepth,
              "Number of hidden layers; 0: a linear model.",
              {.aliases = {"num_hidden_layers", "depth"}}),
      integers(TRAINER_MEMBER(model.hidden_sizes), kWidth,
               "Widths of the hidden layers, instead of hidden_size and num_layers.",
               {.aliases = {"hidden_layer_sizes", "layers"}}),
      choice(TRAINER_MEMBER(model.activation), "Activation function f after each hidden layer."),
      boolean(TRAINER_MEMBER(model.parametric_activation),
              "Whether the activation is x + (f(x) - x) a, with a learned number a per neuron that "
              "begins at 1."),
      number(TRAINER_MEMBER(model.dropout), kFraction,
             "Probability that an activation is zeroed in training.",
             {.aliases = {"dropout_rate", "dropout_prob"}}),
      choice(TRAINER_MEMBER(model.norm), "Normalization between a hidden layer and its activation.",
             {.aliases = {"batch_norm", "layer_norm", "normalization"}}),
      boolean(TRAINER_MEMBER(model.residual),
              "Whether each hidden layer after the first adds its input to its output (residual "
              "connection); requires equal widths."),
      boolean(
          TRAINER_MEMBER(model.activation_checkpointing),
          "Whether a step keeps the activations of some layers only and recomputes the others in "
          "the backward pass: less memory for deep models, somewhat more time, the same gradients.",
          {.aliases = {"gradient_checkpointing", "activation_checkpointing"}}),
  };
}

std::vector<Field> input_and_weight_fields() {
  return {
      boolean(TRAINER_MEMBER(model.input_scale),
              "Whether each input of the first layer is multiplied by a learned number, which "
              "begins at 1: a soft choice of features."),
      integer(
          TRAINER_MEMBER(model.ensemble_size), kEnsembleSize,
          "Members of the network (TabM-mini, arXiv:2410.24210), which share the hidden layers; "
          "each has its own input scale, output layer and loss, and the means of their "
          "predictions are predicted. 1: an ordinary network.",
          {.aliases = {"k", "tabm_k", "num_members"}}),
      choice(
          TRAINER_MEMBER(model.numeric_embedding),
          "Embedding of numeric features, beside the features themselves. periodic: for each "
          "feature x a linear map of cos(2 pi x w + p) with learned w, p (PBLD, "
          "arXiv:2407.04491). piecewise_linear: a learned function of x, linear between quantiles "
          "of the training rows (PLE, arXiv:2203.05556).",
          {.aliases = {"num_emb_type", "plr", "ple"}}),
      integer(TRAINER_MEMBER(model.numeric_embedding_size), kNumericEmbedding,
              "Size of the embedding of a numeric feature."),
      integer(TRAINER_MEMBER(model.num_frequencies), kNumericEmbedding,
              "periodic: number of frequencies w per feature.", {.aliases = {"n_frequencies"}}),
      number(TRAINER_MEMBER(model.frequency_deviation), kPositive,
             "periodic: standard deviation of the initial w.",
             {.aliases = {"sigma", "frequency_init_scale", "plr_sigma"}}),
      integer(TRAINER_MEMBER(model.num_bins), kBins,
              "piecewise_linear: number of bins per feature.", {.aliases = {"n_bins"}}),
      choice(TRAINER_MEMBER(model.init),
             "Initial weights: nn.Linear's default; He normal (2015); Glorot uniform (2010); "
             "normal with standard deviation 0.02, divided by sqrt(R) in the R residual layers "
             "(GPT-2); ntk: normal with variance 1/inputs, biases normal with variance 1; data: as "
             "ntk, then scaled so that outputs on training rows have the standard deviation 1, "
             "and biases from training rows; ridge: the output layer is fitted to the training "
             "rows in "
             "closed form, by ridge regression. Biases are 0 otherwise, except with pytorch.",
             {.aliases = {"initializer", "weight_init"}}),
      boolean(TRAINER_MEMBER(model.zero_output),
              "Whether weights and biases of the output layer begin at 0."),
      choice(TRAINER_MEMBER(model.parametrization),
             "standard, or ntk: weights of linear layers are trained as if they were stored as "
             "sqrt(inputs) times themselves, so that their learning rate is divided by "
             "sqrt(inputs). adamw only."),
      file(TRAINER_MEMBER(model.init_from),
           "Initial weights from a trainer checkpoint, a state dict saved with torch.save, or a "
           "safetensors file.",
           {.aliases = {"pretrained", "init_checkpoint", "load_weights"},
            .on_resume = OnResume::kMayChange}),
      texts(TRAINER_MEMBER(model.init_skip),
            "Tensors that keep their random initialization in spite of init_from, as patterns with "
            "* and ?: [\"layers.2.*\"]."),
  };
}

}  // namespace

std::vector<Field> model_fields() {
  return concatenated({network_fields(), input_and_weight_fields()});
}

}  // namespace trainer::config
