// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/fields.h"

#include <algorithm>
#include <cctype>

#include "config/bounds.h"
#include "config/field_makers.h"

namespace trainer::config {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool valid_device(std::string_view value) {
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
      choice(TRAINER_MEMBER(recipe),
             "Sets defaults of other keys and nothing else, see Recipes below; each can be set "
             "all the same. plain: the defaults of the tables below; realmlp: RealMLP "
             "(arXiv:2407.04491); tabm: TabM-mini with piecewise-linear embeddings "
             "(arXiv:2410.24210).",
             {.flag = "--recipe", .aliases = {"preset"}}),
      integer(TRAINER_MEMBER(members), kMembers,
              "Models that trainer trains and combines into one. Above 1, each has another fold of "
              "the rows as its validation split (data.validation_folds): all rows are learned "
              "from, and each is predicted by a model that has not seen it, which gives the "
              "metrics. cv and search train one model per fold all the same.",
              {.aliases = {"n_ensemble", "num_members"}}),
      texts(TRAINER_MEMBER(member_recipes),
            "Recipes that members take in turn, with the preprocessing (the keys of data) of the "
            "first; other keys hold for all. []: all have `recipe`, as they also have if a later "
            "file or the command line sets it."),
      integer(TRAINER_MEMBER(seed), kAtLeast0,
              "Seeds every random choice: splits, row order, initial weights, dropout. The same "
              "seed on the same machine and build gives the same bits.",
              {.flag = "--seed", .aliases = {"random_seed", "seed_everything"}}),
      text_or({"auto", "fastest", "cpu", "mps", "cuda"}, TRAINER_MEMBER(device), "cuda:N",
              valid_device,
              "Device for tensors. auto: CUDA, else MPS, else the CPU. fastest: times steps of the "
              "run on each, also in bf16 and fp16 unless precision is set, and takes the fastest "
              "one with the loss of the CPU.",
              {.flag = "--device", .aliases = {"accelerator"}, .on_resume = OnResume::kMayChange}),
      boolean(TRAINER_MEMBER(device_fallback),
              "Whether a device or precision that is not available is replaced (by the CPU, by "
              "fp32) with a warning (true) or is an error (false).",
              {.on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(precision),
             "Number format of matrix products and activations; weights, norms, losses and the "
             "optimizer stay fp32. fp16 uses loss scaling. If the device does not support it, the "
             "run uses fp32 or ends (device_fallback).",
             {.flag = "--precision", .aliases = {"dtype", "amp", "mixed_precision"}}),
      integer_or_auto(TRAINER_MEMBER(threads), kThreads,
                      "CPU threads. auto uses OMP_NUM_THREADS if set, else measures which number "
                      "makes a step fastest. Results of the fused step do not depend on it; those "
                      "of autograd may differ in the last bits.",
                      {.flag = "--threads",
                       .aliases = {"num_threads", "nthread"},
                       .on_resume = OnResume::kMayChange}),
      integer_or_auto(
          TRAINER_MEMBER(processes), kThreads,
          "Processes that train members, folds or trials in parallel, with the same results. auto: "
          "one for each CPU, at most 16; 1 on a GPU, above 256 MiB of data and except on Linux.",
          {.on_resume = OnResume::kMayChange}),
      file(TRAINER_MEMBER(output_dir), "Parent folder of the run folders.",
           {.flag = "--output-dir",
            .aliases = {"default_root_dir", "run_dir"},
            .on_resume = OnResume::kMayChange}),
      text(TRAINER_MEMBER(tag), "at most 100 letters, digits, '.', '_' and '-'", valid_tag,
           "Suffix of the name of the run folder.",
           {.flag = "--tag",
            .aliases = {"run_name", "experiment_name"},
            .on_resume = OnResume::kMayChange}),
  };
}

std::vector<Field> training_fields() {
  return {
      integer(TRAINER_MEMBER(training.epochs), kCount1, "Passes over the training data.",
              {.flag = "--epochs",
               .aliases = {"max_epochs", "num_epochs", "num_train_epochs", "n_epochs"},
               .on_resume = OnResume::kMayChange}),
      number(
          TRAINER_MEMBER(training.max_seconds), kAtLeast0,
          "Time for training. Above 0, steps are timed at the start, and the run gets as many "
          "epochs as fit, at most training.epochs; the schedule is that of so many. 0: no limit.",
          {.aliases = {"max_time", "time_limit", "max_train_time"}}),
      integer_or_auto(TRAINER_MEMBER(training.seed), kAtLeast0,
                      "Seeds initial weights, row order and dropout, but not the splits. auto: "
                      "`seed`. The members of an ensemble differ in it."),
      integer(TRAINER_MEMBER(training.batch_size), kCount1,
              "Rows per batch. A step uses batch_size * gradient_accumulation_steps rows.",
              {.flag = "--batch-size", .aliases = {"per_device_train_batch_size"}}),
      boolean(TRAINER_MEMBER(training.drop_last),
              "Whether the last step of an epoch is left out if it would have fewer rows than the "
              "others. The order of the rows changes with every epoch, so all are used.",
              {.aliases = {"dataloader_drop_last"}}),
      number(TRAINER_MEMBER(training.learning_rate), kPositive,
             "Peak learning rate of the schedule.",
             {.flag = "--lr", .aliases = {"lr", "optimizer.lr", "eta", "alpha"}}),
      choice(TRAINER_MEMBER(training.loss),
             "auto: cross_entropy for classification, mse (mean squared error) for regression. "
             "binary_cross_entropy: two classes, one output; l1: mean absolute error; huber: "
             "squared up to huber_delta, linear beyond (times huber_delta).",
             {.aliases = {"loss_function", "criterion", "objective"}}),
      number(TRAINER_MEMBER(training.label_smoothing), kFraction,
             "Fraction of the target probability that is spread over all classes; cross-entropy "
             "only."),
      number(TRAINER_MEMBER(training.huber_delta), kPositive,
             "Where huber becomes linear, in units of the scaled target.", {.aliases = {"delta"}}),
      number(TRAINER_MEMBER(training.gradient_clip_norm), kAtLeast0,
             "Maximum norm of the gradient over all parameters; larger gradients are scaled down. "
             "0: no clipping.",
             {.aliases = {"gradient_clip_val", "max_grad_norm", "clip_grad_norm", "grad_clip"}}),
      integer(TRAINER_MEMBER(training.gradient_accumulation_steps), kCount1,
              "Batches whose gradients are accumulated for one step; the result is that of one "
              "large batch, also in the shorter last step of an epoch.",
              {.aliases = {"accumulate_grad_batches", "grad_accum_steps"}}),
      choice(
          TRAINER_MEMBER(training.step),
          "Implementation of the training step: fused uses hand-written forward and backward code "
          "(fp32 and bf16 on the CPU), autograd LibTorch's automatic differentiation (everywhere). "
          "Both "
          "compute the same; auto is fused where possible."),
  };
}

std::vector<Field> more_training_fields() {
  return {
      choice(TRAINER_MEMBER(training.best_metric),
             "Metric on the validation split that selects the best epoch (best.pt) and controls "
             "early stopping; without a validation split, loss or accuracy on the training split. "
             "f1, auroc and pr_auc are means over the classes, binary_f1 is that of the second of "
             "two classes, log_loss is the cross-entropy without weights and label smoothing, "
             "calibrated_log_loss that after training.calibrate.",
             {.aliases = {"monitor", "metric_for_best_model"}}),
      choice(
          TRAINER_MEMBER(training.best_ties),
          "Which of several epochs with the same best value is the best. Accuracy has many ties; "
          "the last one has seen more of the data. Early stopping counts a tie as no "
          "improvement."),
      boolean(TRAINER_MEMBER(training.calibrate),
              "Whether the logits of a classification are divided by the temperature that makes "
              "their log loss on the validation split smallest, after each epoch anew. Training "
              "does not see it; predictions, evaluations and exports have it.",
              {.aliases = {"temperature_scaling", "calibration_method"}}),
      choice(
          TRAINER_MEMBER(training.on_nonfinite),
          "What happens if the loss or gradient of a step is not finite (checked before the "
          "weights change). stop: end the run; skip: skip the step; rollback: return to the last "
          "end-of-epoch checkpoint and continue with half the learning rate.",
          {.aliases = {"detect_anomaly", "terminate_on_nan"}, .on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(training.on_out_of_memory),
             "What happens if memory runs out. split: use ever smaller micro-batches (same "
             "result); fallback_cpu: as split, then continue on the CPU if not even single rows "
             "fit; stop: end the run.",
             {.aliases = {"auto_find_batch_size", "auto_scale_batch_size"},
              .on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(training.cuda_graphs),
             "auto: on CUDA, all of a step before the update is recorded once and then launched as "
             "one CUDA graph, if that gives the same bits; off: operation by operation. The result "
             "is the same.",
             {.aliases = {"use_cuda_graph"}, .on_resume = OnResume::kMayChange}),
      texts(TRAINER_MEMBER(training.freeze),
            "Frozen parameters, as patterns with * and ?: [\"layers.0.*\"]. A norm that is "
            "completely frozen uses its running statistics and does not update them.",
            {.aliases = {"freeze_layers", "frozen_layers"}}),
      texts(TRAINER_MEMBER(training.lr_factors),
            "Factors of the learning rate of some parameters, as PATTERN=FACTOR with * and ? in "
            "the pattern: [\"*.bias=0.1\"]. The first pattern that matches counts.",
            {.aliases = {"param_groups", "lr_mult", "layerwise_lr"}}),
      number(TRAINER_MEMBER(training.ema_decay), kFraction,
             "Decay per step of an exponential moving average of the weights, which is evaluated "
             "and exported instead of the weights; for example 0.999. 0: off.",
             {.aliases = {"ema", "use_ema", "model_ema_decay"}}),
  };
}

std::vector<Field> optimizer_fields() {
  return {
      choice(TRAINER_MEMBER(training.optimizer.name), "Optimizer, as defined by PyTorch.",
             {.aliases = {"optim", "optimizer.type", "optimizer.name"}}),
      number(TRAINER_MEMBER(training.optimizer.weight_decay), kAtLeast0,
             "L2 penalty (sgd, adam, rmsprop) or decoupled decay (adamw).",
             {.aliases = {"optimizer.weight_decay", "wd"}}),
      boolean(
          TRAINER_MEMBER(training.optimizer.decay_bias_and_norm),
          "Whether weight decay also applies to biases, normalization parameters and embeddings."),
      number(TRAINER_MEMBER(training.optimizer.momentum), kFraction, "sgd, rmsprop."),
      boolean(TRAINER_MEMBER(training.optimizer.nesterov), "sgd only; requires momentum."),
      number(TRAINER_MEMBER(training.optimizer.beta1), kFraction,
             "adam, adamw: decay of the running mean of the gradient."),
      number(TRAINER_MEMBER(training.optimizer.beta2), kFraction,
             "adam, adamw, rmsprop: decay of the running mean of the squared gradient."),
      number(TRAINER_MEMBER(training.optimizer.epsilon), kPositive,
             "adam, adamw, rmsprop: added to the denominator.",
             {.aliases = {"eps", "adam_epsilon"}}),
  };
}

std::vector<Field> schedule_fields() {
  return {
      choice(TRAINER_MEMBER(training.schedule.name),
             "Learning rate schedule after the warm-up: a closed-form function of the step, except "
             "reduce_on_plateau, which follows best_metric. `trainer config schedule` previews it.",
             {.aliases = {"lr_scheduler", "scheduler", "lr_scheduler_type"}}),
      number(TRAINER_MEMBER(training.schedule.warmup_epochs), kAtLeast0,
             "Epochs (fractions allowed) during which the learning rate rises linearly from 0.",
             {.aliases = {"warmup_steps", "warmup_ratio", "num_warmup_steps"}}),
      number(TRAINER_MEMBER(training.schedule.final_factor), kUnit,
             "Final learning rate as a fraction of learning_rate: linear, cosine: after the last "
             "step; one_cycle: in the last step.",
             {.aliases = {"eta_min", "final_div_factor", "end_factor"}}),
      integer(TRAINER_MEMBER(training.schedule.step_epochs), kCount1,
              "step: epochs between reductions, counted from the end of the warm-up.",
              {.aliases = {"step_size", "decay_epochs", "lr_step_size"}}),
      number(TRAINER_MEMBER(training.schedule.gamma), kPart,
             "step, reduce_on_plateau: factor of a reduction.",
             {.aliases = {"factor", "lr_decay", "decay_rate"}}),
      number(TRAINER_MEMBER(training.schedule.rise_fraction), kUnit,
             "one_cycle: fraction of all steps during which the rate rises.",
             {.aliases = {"pct_start"}}),
      number(TRAINER_MEMBER(training.schedule.initial_factor), kUnit,
             "one_cycle: initial rate as a fraction of learning_rate; the reciprocal of PyTorch's "
             "div_factor.",
             {.aliases = {"div_factor", "start_factor"}}),
      integer(TRAINER_MEMBER(training.schedule.patience), kCount0,
              "reduce_on_plateau: number of epochs in a row without improvement of best_metric "
              "that are tolerated; one more reduces the rate.",
              {.aliases = {"lr_patience", "plateau_patience"}}),
      number(TRAINER_MEMBER(training.schedule.threshold), kFraction,
             "reduce_on_plateau: an epoch is an improvement if it changes best_metric by more than "
             "this fraction of its value.",
             {.aliases = {"threshold_mode"}}),
      integer(TRAINER_MEMBER(training.schedule.cooldown), kCount0,
              "reduce_on_plateau: epochs after a reduction that are not counted as epochs without "
              "improvement."),
      number(TRAINER_MEMBER(training.schedule.min_learning_rate), kAtLeast0,
             "reduce_on_plateau: lower limit of the rate.", {.aliases = {"min_lr"}}),
      integer(TRAINER_MEMBER(training.schedule.cycles), kCycles,
              "coslog: number of cycles, each twice as long as the one before. In each, the rate "
              "rises from 0 to its peak and falls to 0.",
              {.aliases = {"num_cycles", "lr_num_cycles"}}),
      choice(TRAINER_MEMBER(training.schedule.dropout),
             "Factor of model.dropout: constant (1), or flat_cosine: 1 in the first half of the "
             "steps, then falling to 0 by half a cosine."),
      choice(TRAINER_MEMBER(training.schedule.weight_decay),
             "Factor of training.optimizer.weight_decay, in the same way."),
  };
}

std::vector<Field> early_stopping_fields() {
  return {
      integer(
          TRAINER_MEMBER(training.early_stopping.patience), kCount0,
          "Epochs without improvement of best_metric after which training stops. 0: never.",
          {.aliases = {"early_stopping_rounds", "patience"}, .on_resume = OnResume::kMayChange}),
      number(TRAINER_MEMBER(training.early_stopping.min_delta), kAtLeast0,
             "An epoch is an improvement if it changes best_metric by more than this.",
             {.on_resume = OnResume::kMayChange}),
  };
}

std::vector<Field> output_fields() {
  return {
      integer(TRAINER_MEMBER(checkpoint.every_epochs), kCount1,
              "Epochs between checkpoints; the last epoch always has one.",
              {.aliases = {"save_every", "every_n_epochs"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(checkpoint.every_steps), kCount0,
              "Steps between checkpoints within an epoch. 0: none.",
              {.aliases = {"save_steps", "every_n_train_steps", "snapshot_interval"},
               .on_resume = OnResume::kMayChange}),
      number(TRAINER_MEMBER(checkpoint.every_seconds), kAtLeast0,
             "Seconds after which a checkpoint is also written within an epoch. 0: never.",
             {.aliases = {"train_time_interval"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(checkpoint.keep_last), kCount1,
              "Number of end-of-epoch checkpoints to keep, and of step checkpoints within the "
              "current epoch; best.pt and last.pt are always kept.",
              {.aliases = {"save_total_limit", "save_top_k"}, .on_resume = OnResume::kMayChange}),
      choice(TRAINER_MEMBER(logging.level), "Lowest level of the messages that are shown.",
             {.on_resume = OnResume::kMayChange}),
      choice(
          TRAINER_MEMBER(logging.format),
          "What programs can read besides train.log, which is text. json: train.jsonl in the run "
          "folder has each message as one line of JSON with time, level, event, message and "
          "fields. json_console: standard error has these lines too, instead of text and "
          "progress bar.",
          {.aliases = {"log_format"}, .on_resume = OnResume::kMayChange}),
      integer(
          TRAINER_MEMBER(logging.save_interval), kCount1,
          "Steps between training records in metrics.jsonl and train.log.",
          {.aliases = {"log_every_n_steps", "logging_steps"}, .on_resume = OnResume::kMayChange}),
      boolean(TRAINER_MEMBER(logging.report),
              "Whether a complete run gets a report.html, as trainer report writes it.",
              {.on_resume = OnResume::kMayChange}),
      boolean(
          TRAINER_MEMBER(logging.tensorboard),
          "Whether the metrics, histograms of weights and gradients, and the confusion matrix of "
          "each best epoch are also written as an event file for TensorBoard, in the folder "
          "tensorboard of the run.",
          {.aliases = {"report_to", "tensorboard"}, .on_resume = OnResume::kMayChange}),
      integer(TRAINER_MEMBER(logging.histogram_interval), kCount0,
              "Steps between histograms of weights and gradients for TensorBoard. 0: at the end of "
              "each epoch.",
              {.aliases = {"histogram_freq"}, .on_resume = OnResume::kMayChange}),
  };
}

std::vector<Field> distributed_fields() {
  return {
      choice(TRAINER_MEMBER(distributed.enabled),
             "What a run does under torchrun, mpirun or srun. auto: its processes train one model "
             "together; off: each trains a run of its own, whose output_dir or tag the script has "
             "to choose.",
             {.on_resume = OnResume::kMayChange}),
      choice(
          TRAINER_MEMBER(distributed.backend),
          "How processes exchange gradients. auto: through shared memory on one machine, by Gloo "
          "over TCP between machines; gloo: always by Gloo; nccl: between CUDA devices, one for "
          "each process (needs a LibTorch with NCCL). The result is the same.",
          {.on_resume = OnResume::kMayChange}),
      integer_or_auto(TRAINER_MEMBER(distributed.shards), kShards,
                      "Parts of each batch whose gradients are added in a fixed order, so that the "
                      "result is the same for any number of processes. auto: as many as there are "
                      "processes at the start of the run."),
      boolean(TRAINER_MEMBER(distributed.sync_batch_norm),
              "Whether batch norm takes mean and variance of the whole batch, which the processes "
              "exchange in each layer. false: of each shard alone; the running ones are the mean "
              "over the shards.",
              {.aliases = {"sync_batchnorm"}}),
      number(TRAINER_MEMBER(distributed.timeout), kTimeoutSeconds,
             "Seconds that a process waits in a step for another one before the run ends with "
             "exit code 9.",
             {.on_resume = OnResume::kMayChange}),
      number(TRAINER_MEMBER(distributed.start_timeout), kTimeoutSeconds,
             "Seconds that a process waits for the others at the start, and for what they read "
             "before the first step.",
             {.on_resume = OnResume::kMayChange}),
  };
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> table =
      concatenated({run_fields(), data_fields(), model_fields(), training_fields(),
                    more_training_fields(), optimizer_fields(), schedule_fields(),
                    early_stopping_fields(), output_fields(), distributed_fields()});
  return table;
}

const Field* find_field(std::string_view path) {
  for (const Field& field : fields()) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

std::string section_of(const Field& field) {
  const std::size_t dot = field.path.find('.');
  return dot == std::string::npos ? "" : field.path.substr(0, dot);
}

bool is_section(std::string_view path) {
  return std::any_of(fields().begin(), fields().end(), [&](const Field& field) {
    return field.path.size() > path.size() && field.path[path.size()] == '.' &&
           field.path.starts_with(path);
  });
}

}  // namespace trainer::config
