// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/fields.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "config/field_makers.h"

namespace trainer::config {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool valid_device(std::string_view value) {
  if (value == "auto" || value == "cpu" || value == "mps" || value == "cuda") return true;
  if (value.substr(0, 5) != "cuda:") return false;
  const std::string_view index = value.substr(5);
  return !index.empty() && index.size() <= 3 && std::all_of(index.begin(), index.end(), is_digit);
}

bool valid_tag(std::string_view value) {
  return value.size() <= 100 && std::all_of(value.begin(), value.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                  c == '-';
         });
}

std::vector<Field> run_fields() {
  return {
      integer(TRAINER_MEMBER(seed), kAtLeast0,
              "Names every random choice: split, order, initial weights, dropout. The same seed on "
              "the same machine and build gives the same bits.",
              {.flag = "--seed", .aliases = {"random_seed", "seed_everything"}}),
      text(TRAINER_MEMBER(device), "auto, cpu, mps, cuda or cuda:N", valid_device,
           "Where tensors are computed. auto takes CUDA, else MPS, else the CPU.",
           {.flag = "--device", .aliases = {"accelerator"}, .on_resume = OnResume::kMayChange}),
      boolean(TRAINER_MEMBER(device_fallback),
              "Whether a device that is absent is replaced by the CPU with a warning (true) or is "
              "an error (false).",
              {.on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(precision),
             "Number format of the products and of the values between them; weights, norms, losses "
             "and the optimizer stay fp32. fp16 scales the loss so that small gradients survive. "
             "A device that lacks it computes in fp32, or ends the run (device_fallback).",
             {.flag = "--precision", .aliases = {"dtype", "amp", "mixed_precision"}}),
      integer_or_auto(TRAINER_MEMBER(threads), kThreads,
                      "CPU threads. auto obeys OMP_NUM_THREADS where it is set, else tries how "
                      "many make a step fastest. The results of the fused step do not depend on "
                      "it; those of autograd may in their last bits.",
                      {.flag = "--threads",
                       .aliases = {"num_threads", "nthread"},
                       .on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(output_dir), "Folder that receives the run folders.",
           {.flag = "--output-dir",
            .aliases = {"default_root_dir", "run_dir"},
            .on_resume = OnResume::kMayChange}),
      text(TRAINER_MEMBER(tag), "at most 100 letters, digits, '.', '_' and '-'", valid_tag,
           "Ends the name of the run folder.",
           {.flag = "--tag",
            .aliases = {"run_name", "experiment_name"},
            .on_resume = OnResume::kMayChange}),
  };
}

std::vector<Field> model_fields() {
  return {
      choice(TRAINER_MEMBER(model.name), "Architecture of the network: a multilayer perceptron.",
             {.aliases = {"architecture", "model_type"}}),
      integer(TRAINER_MEMBER(model.hidden_size), kWidth, "Width of each hidden layer.",
              {.aliases = {"hidden_dim", "hidden_units"}}),
      integer(TRAINER_MEMBER(model.num_layers), kDepth, "Number of hidden layers.",
              {.aliases = {"num_hidden_layers", "depth"}}),
      integers(TRAINER_MEMBER(model.hidden_sizes), kWidth,
               "Widths of the hidden layers, in place of hidden_size and num_layers.",
               {.aliases = {"hidden_layer_sizes", "layers"}}),
      choice(TRAINER_MEMBER(model.activation), "After each hidden layer."),
      number(TRAINER_MEMBER(model.dropout), kFraction,
             "Probability that a hidden value is zeroed in training.",
             {.aliases = {"dropout_rate", "dropout_prob"}}),
      choice(TRAINER_MEMBER(model.norm), "Normalisation between a hidden layer and its activation.",
             {.aliases = {"batch_norm", "layer_norm", "normalization"}}),
      boolean(TRAINER_MEMBER(model.residual),
              "Whether each hidden layer after the first adds its input to its output; needs equal "
              "widths."),
      boolean(TRAINER_MEMBER(model.activation_checkpointing),
              "Whether a step keeps the values of some layers only and computes the others again "
              "on its way back: less memory for deep models, some more time, the same gradients.",
              {.aliases = {"gradient_checkpointing", "activation_checkpointing"}}),
      choice(
          TRAINER_MEMBER(model.init),
          "Initial weights: nn.Linear's default; He normal (2015); Glorot uniform (2010); normal "
          "with deviation 0.02, divided by sqrt(R) in the R residual layers (GPT-2). Biases are "
          "0 but for pytorch.",
          {.aliases = {"initializer", "weight_init"}}),
      file(TRAINER_MEMBER(model.init_from),
           "Initial weights from a checkpoint of trainer, from a state dict that Python wrote "
           "with torch.save, or from a safetensors file.",
           {.aliases = {"pretrained", "init_checkpoint", "load_weights"},
            .on_resume = OnResume::kMayChange}),
      texts(TRAINER_MEMBER(model.init_skip),
            "Tensors that keep their own initial values in spite of init_from, as patterns with * "
            "and ?: [\"layers.2.*\"]."),
  };
}

std::vector<Field> training_fields() {
  return {
      integer(TRAINER_MEMBER(training.epochs), kCount1, "Passes over the training data.",
              {.flag = "--epochs",
               .aliases = {"max_epochs", "num_epochs", "num_train_epochs", "n_epochs"},
               .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(training.batch_size), kCount1,
              "Rows in one batch. A step uses batch_size * gradient_accumulation_steps rows.",
              {.flag = "--batch-size", .aliases = {"per_device_train_batch_size"}}),
      number(TRAINER_MEMBER(training.learning_rate), kPositive,
             "Highest learning rate of the schedule.",
             {.flag = "--lr", .aliases = {"lr", "optimizer.lr", "eta", "alpha"}}),
      choice(TRAINER_MEMBER(training.loss),
             "auto: cross_entropy for classification, mse (mean squared error) for regression. "
             "binary_cross_entropy is for two classes and one output; l1 is the mean absolute "
             "error; huber is squared up to huber_delta and linear beyond (times huber_delta).",
             {.aliases = {"loss_function", "criterion", "objective"}}),
      number(TRAINER_MEMBER(training.label_smoothing), kFraction,
             "Part of the target's probability that is spread over all classes; cross-entropy "
             "only."),
      number(TRAINER_MEMBER(training.huber_delta), kPositive,
             "Where huber turns linear, in units of the scaled target.", {.aliases = {"delta"}}),
      number(TRAINER_MEMBER(training.gradient_clip_norm), kAtLeast0,
             "Gradients with a larger norm (over all parameters) are scaled down to it. 0: never.",
             {.aliases = {"gradient_clip_val", "max_grad_norm", "clip_grad_norm", "grad_clip"}}),
      integer(TRAINER_MEMBER(training.gradient_accumulation_steps), kCount1,
              "Batches whose gradients make one step; the result is that of the one big batch, "
              "in the last, short window too.",
              {.aliases = {"accumulate_grad_batches", "grad_accum_steps"}}),
      choice(
          TRAINER_MEMBER(training.step),
          "Implementation of the training step: fused uses hand-written forward and backward code "
          "(fp32 on the CPU), autograd LibTorch's automatic differentiation (everywhere). Both "
          "compute the same; auto is fused where it can be."),
      choice(TRAINER_MEMBER(training.best_metric),
             "What decides which epoch is best (best.pt) and when to stop early, of the validation "
             "part; loss or accuracy of the training part when there is no validation part. f1, "
             "auroc and pr_auc are means over the classes, binary_f1 is that of the second of two, "
             "log_loss is the cross-entropy without weights and label smoothing.",
             {.aliases = {"monitor", "metric_for_best_model"}}),
      choice(
          TRAINER_MEMBER(training.on_nonfinite),
          "When loss or gradient of a step is not finite, found before the weights change: end "
          "the run; leave the step out; go back to the last checkpoint of an epoch and on with "
          "half the learning rate.",
          {.aliases = {"detect_anomaly", "terminate_on_nan"}, .on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(training.on_out_of_memory),
             "When memory runs out: take each batch in halves (and halves of those), with the same "
             "result; that, and when not even single rows fit, go on on the CPU; end the run.",
             {.aliases = {"auto_find_batch_size", "auto_scale_batch_size"},
              .on_resume = OnResume::kMayChange}),
      texts(TRAINER_MEMBER(training.freeze),
            "Parameters that keep their values, as patterns with * and ?: [\"layers.0.*\"]. A norm "
            "that is frozen whole uses its running statistics and leaves them as they are.",
            {.aliases = {"freeze_layers", "frozen_layers"}}),
      number(TRAINER_MEMBER(training.ema_decay), kFraction,
             "Decay, a step, of a moving average of the weights, which is evaluated and tested in "
             "their place: 0.999, say. 0: none.",
             {.aliases = {"ema", "use_ema", "model_ema_decay"}}),
      choice(TRAINER_MEMBER(training.optimizer.name), "Update rule, with PyTorch's definitions.",
             {.aliases = {"optim", "optimizer.type", "optimizer.name"}}),
      number(TRAINER_MEMBER(training.optimizer.weight_decay), kAtLeast0,
             "L2 penalty (sgd, adam) or decoupled decay (adamw).",
             {.aliases = {"optimizer.weight_decay", "wd"}}),
      boolean(TRAINER_MEMBER(training.optimizer.decay_bias_and_norm),
              "Whether biases, normalisation parameters and embeddings are decayed too."),
      number(TRAINER_MEMBER(training.optimizer.momentum), kFraction, "sgd only."),
      boolean(TRAINER_MEMBER(training.optimizer.nesterov), "sgd only; needs momentum."),
      number(TRAINER_MEMBER(training.optimizer.beta1), kFraction,
             "adam, adamw: decay of the mean of the gradient."),
      number(TRAINER_MEMBER(training.optimizer.beta2), kFraction,
             "adam, adamw: decay of the mean of the squared gradient."),
      number(TRAINER_MEMBER(training.optimizer.epsilon), kPositive,
             "adam, adamw: added to the denominator.", {.aliases = {"eps", "adam_epsilon"}}),
      choice(TRAINER_MEMBER(training.schedule.name),
             "Course of the learning rate after the warm-up: a closed form of the step, but for "
             "reduce_on_plateau, which follows best_metric. `trainer config schedule` shows it.",
             {.aliases = {"lr_scheduler", "scheduler", "lr_scheduler_type"}}),
      number(TRAINER_MEMBER(training.schedule.warmup_epochs), kAtLeast0,
             "Epochs (fractions allowed) in which the rate rises linearly from 0.",
             {.aliases = {"warmup_steps", "warmup_ratio", "num_warmup_steps"}}),
      number(TRAINER_MEMBER(training.schedule.final_factor), kUnit,
             "The last rate as a part of learning_rate: linear, cosine: after the last step; "
             "one_cycle: in it.",
             {.aliases = {"eta_min", "final_div_factor", "end_factor"}}),
      integer(TRAINER_MEMBER(training.schedule.step_epochs), kCount1,
              "step: epochs between two reductions, counted from the end of the warm-up.",
              {.aliases = {"step_size", "decay_epochs", "lr_step_size"}}),
      number(TRAINER_MEMBER(training.schedule.gamma), kPart,
             "step, reduce_on_plateau: what a reduction multiplies the rate with.",
             {.aliases = {"factor", "lr_decay", "decay_rate"}}),
      number(TRAINER_MEMBER(training.schedule.rise_fraction), kUnit,
             "one_cycle: part of all steps in which the rate rises.", {.aliases = {"pct_start"}}),
      number(TRAINER_MEMBER(training.schedule.initial_factor), kUnit,
             "one_cycle: the first rate as a part of learning_rate; one by PyTorch's div_factor.",
             {.aliases = {"div_factor", "start_factor"}}),
      integer(TRAINER_MEMBER(training.schedule.patience), kCount0,
              "reduce_on_plateau: epochs in a row without a better best_metric that are accepted; "
              "one more reduces the rate.",
              {.aliases = {"lr_patience", "plateau_patience"}}),
      number(TRAINER_MEMBER(training.schedule.threshold), kFraction,
             "reduce_on_plateau: an epoch is better when it improves best_metric by more than this "
             "part of it.",
             {.aliases = {"threshold_mode"}}),
      integer(TRAINER_MEMBER(training.schedule.cooldown), kCount0,
              "reduce_on_plateau: epochs after a reduction that do not count as without a better "
              "best_metric."),
      number(TRAINER_MEMBER(training.schedule.min_learning_rate), kAtLeast0,
             "reduce_on_plateau: no reduction goes below it.", {.aliases = {"min_lr"}}),
      integer(
          TRAINER_MEMBER(training.early_stopping.patience), kCount0,
          "Epochs without a better best_metric after which training stops. 0: never.",
          {.aliases = {"early_stopping_rounds", "patience"}, .on_resume = OnResume::kMayChange}),
      number(TRAINER_MEMBER(training.early_stopping.min_delta), kAtLeast0,
             "An epoch is better when it improves best_metric by more than this.",
             {.on_resume = OnResume::kMayChange}),
  };
}

std::vector<Field> output_fields() {
  return {
      integer(TRAINER_MEMBER(checkpoint.every_epochs), kCount1,
              "Epochs between two checkpoints; the last epoch always has one.",
              {.aliases = {"save_every", "every_n_epochs"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(checkpoint.every_steps), kCount0,
              "Steps between two checkpoints within an epoch. 0: none.",
              {.aliases = {"save_steps", "every_n_train_steps", "snapshot_interval"},
               .on_resume = OnResume::kMayChange}),
      number(TRAINER_MEMBER(checkpoint.every_seconds), kAtLeast0,
             "Seconds after which a checkpoint is written within an epoch too. 0: never.",
             {.aliases = {"train_time_interval"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(checkpoint.keep_last), kCount1,
              "Checkpoints kept of the last epochs, and of the last steps within an epoch; best.pt "
              "and last.pt stay besides.",
              {.aliases = {"save_total_limit", "save_top_k"}, .on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(logging.level), "Least important messages that are shown.",
             {.on_resume = OnResume::kMayChange}),
      integer(
          TRAINER_MEMBER(logging.save_interval), kCount1,
          "Steps between two training records in metrics.jsonl.",
          {.aliases = {"log_every_n_steps", "logging_steps"}, .on_resume = OnResume::kMayChange}),
  };
}

std::vector<Field> all_fields() {
  std::vector<Field> all;
  for (auto part :
       {run_fields(), data_fields(), model_fields(), training_fields(), output_fields()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> table = all_fields();
  return table;
}

const Field* find_field(std::string_view path) {
  for (const Field& field : fields()) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

bool is_section(std::string_view path) {
  return std::any_of(fields().begin(), fields().end(), [&](const Field& field) {
    return field.path.size() > path.size() && field.path[path.size()] == '.' &&
           field.path.starts_with(path);
  });
}

}  // namespace trainer::config
