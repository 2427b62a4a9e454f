// SPDX-License-Identifier: Apache-2.0
#include "trainer/tensorboard/run_events.h"

#include <string>
#include <vector>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"

namespace trainer::tensorboard {

void add_record(const run::MetricsRecord& record, EventFile& file) {
  const bool closes_epoch = record.time_seconds.has_value();
  const std::string split = closes_epoch ? record.split : record.split + "_steps";
  const auto add = [&](const std::string& tag, const auto& value) {
    if (value) file.add_scalar(tag, static_cast<double>(*value), record.step);
  };
  add("loss/" + split, record.loss);
  add("accuracy/" + split, record.accuracy);
  for (const metrics::Score& score : record.scores) {
    file.add_scalar(score.name + "/" + split, score.value, record.step);
  }
  add("learning_rate", record.learning_rate);
  add("grad_norm", record.grad_norm);
  add("samples_per_second", record.samples_per_second);
  add("loss_scale", record.loss_scale);
  add("memory_bytes", record.memory_bytes);
  add("device_memory_bytes", record.device_memory_bytes);
}

void add_configuration(const config::Config& config, EventFile& file) {
  std::vector<NamedText> changed;
  const config::Config defaults;
  for (const config::Field& field : config::fields()) {
    std::string value = config::value_text(field, config);
    if (value != config::value_text(field, defaults)) changed.emplace_back(field.path, value);
  }
  file.add_hyperparameters(changed);
}

}  // namespace trainer::tensorboard
