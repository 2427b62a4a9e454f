// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/tensorboard/run_events.h"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/json.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"
#include "trainer/run/folder/metrics_log.h"

#include "report/tensorboard/confusion_image.h"

namespace trainer::tensorboard {

void add_record(const run::MetricsRecord& record, EventFile& file) {
  for (const run::Scalar& scalar : run::scalars(JsonReader(run::json_of(record)))) {
    const std::string tag = scalar.split.empty() ? scalar.name : scalar.name + "/" + scalar.split;
    file.add_scalar(tag, scalar.value, record.step);
  }
}

void add_confusion(const metrics::ConfusionMatrix& confusion,
                   const std::vector<std::string>& labels, const std::string& split, int64_t step,
                   EventFile& file) {
  if (!file.is_open() || confusion.num_classes > kMaxDrawnClasses) return;
  const std::string tag = "confusion_matrix/" + split;
  file.add_image(tag, draw_confusion(confusion), step);
  std::string text = "| class | label |\n|---|---|\n";
  for (std::size_t i = 0; i < labels.size(); ++i)
    text += fmt::format("| {} | {} |\n", i, labels[i]);
  file.add_text(tag + "/labels", text, step);
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
