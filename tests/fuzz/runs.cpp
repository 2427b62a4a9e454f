// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/base/text/json.h"
#include "trainer/metrics/classification.h"
#include "trainer/report/html/report.h"
#include "trainer/report/tensorboard/event_file.h"
#include "trainer/report/tensorboard/run_events.h"
#include "trainer/run/folder/metrics_log.h"
#include "trainer/run/folder/superseded.h"
#include "trainer/run/tracking/comparison.h"
#include "trainer/run/tracking/query.h"
#include "trainer/run/tracking/run_document.h"
#include "trainer/run/tracking/run_entry.h"
#include "trainer/run/tracking/run_list.h"

#include "fuzz/input.h"
#include "fuzz/targets.h"
#include "support/run_folders.h"

namespace trainer::fuzz {
namespace {

namespace fs = std::filesystem;
using tracking::ListFormat;
using tracking::RunEntry;

constexpr std::array kFormats = {ListFormat::kText, ListFormat::kJson, ListFormat::kCsv,
                                 ListFormat::kMarkdown};

// A run with nothing wrong in it.
const RunEntry& sound_run() {
  static const RunEntry entry = *tracking::read_entry(test::write_run(folder(), "sound/a"));
  return entry;
}

std::string index_up_to_values(const fs::path& parent) {
  tracking::read_entries(parent);
  const JsonReader index = JsonReader::of_file(parent / ".runs.json");
  return fmt::format(R"({{"program":{},"runs":{{"a":{{"stamp":{},)", index["program"].json().dump(),
                     index["runs"]["a"]["stamp"].json().dump());
}

void list(const std::vector<RunEntry>& entries) {
  const std::vector<std::string> columns = tracking::usual_columns(entries);
  for (const ListFormat format : kFormats) tracking::list_text(entries, columns, format);
}

// As `runs show`, `runs compare` and `report` use a run.
void show(const RunEntry& entry) {
  read_or_refuse([&] {
    const Document document = tracking::run_document(entry);
    document.text();
    document.json();
  });
  read_or_refuse([&] {
    const auto comparison = tracking::compare({entry, sound_run()}, /*unicode=*/true);
    for (const ListFormat format : kFormats) tracking::comparison_text(comparison, format);
  });
  read_or_refuse([&] { report::report_html({entry}, {.evaluates = false}); });
  read_or_refuse([&] { report::report_html({sound_run(), entry}, {.evaluates = false}); });
}

// Numbers and texts, as they come.
class Values {
 public:
  explicit Values(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }

  template <class T>
  T number() {
    T value{};
    const std::string_view taken = take(bytes_, sizeof value);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

  std::optional<double> maybe() {
    if (number<uint8_t>() % 2 == 0) return std::nullopt;
    return number<double>();
  }

  std::string text() { return std::string(take(bytes_, number<uint8_t>() % 32)); }

  std::vector<float> floats() {
    std::vector<float> values(number<uint8_t>());
    for (float& value : values) value = number<float>();
    return values;
  }

 private:
  std::string_view bytes_;
};

metrics::ConfusionMatrix confusion_of(Values& values) {
  metrics::ConfusionMatrix confusion;
  confusion.num_classes = 1 + values.number<uint8_t>() % 8;
  confusion.counts.resize(static_cast<std::size_t>(confusion.num_classes * confusion.num_classes));
  for (int64_t& count : confusion.counts) count = values.number<uint32_t>();
  return confusion;
}

}  // namespace

// The files of a run folder, between form feeds.
void fuzz_run_folder(std::string_view bytes) {
  constexpr char kFormFeed = '\f';
  const fs::path parent = folder().path() / "runs";
  const fs::path run = parent / "20261126_000000";
  fs::remove_all(parent);
  fs::create_directories(run);
  for (const char* name : {"metrics.jsonl", "summary.json", "system.json", "config_resolved.yaml",
                           "cv.json", "ensemble.json", "note.txt"}) {
    const std::string_view content = take_part(bytes, kFormFeed);
    if (!content.empty()) folder().write("runs/20261126_000000/" + std::string(name), content);
  }
  read_or_refuse([&] {
    list(tracking::read_entries(parent));
    list(tracking::read_entries(parent));  // by the index that the first one has left
  });
  std::optional<RunEntry> entry;
  read_or_refuse([&] { entry = tracking::read_entry(run); });
  if (entry) show(*entry);
  read_or_refuse([&] { apply::read_ensemble(run); });
  run::read_superseded(run);
}

// The index; behind a # what it says of a run, as only the run itself gives the stamp.
void fuzz_run_index(std::string_view bytes) {
  static const fs::path parent = sound_run().folder.parent_path();
  static const std::string before = index_up_to_values(parent);
  const bool is_of_run = bytes.starts_with('#');
  if (is_of_run) bytes.remove_prefix(1);
  folder().write("sound/.runs.json", is_of_run ? before + std::string(bytes) : std::string(bytes));
  read_or_refuse([&] {
    const std::vector<RunEntry> entries = tracking::read_entries(parent);
    require(entries.size() == 1, "the index changes which runs there are");
    list(entries);
  });
}

// What --filter, --sort and --columns take.
void fuzz_run_filter(std::string_view bytes) {
  const std::vector<RunEntry> entries = {sound_run(), sound_run()};
  const std::string text(bytes);
  read_or_refuse([&] { tracking::filtered(entries, text); });
  read_or_refuse([&] {
    std::vector<RunEntry> sorted = entries;
    tracking::sort_entries(sorted, text);
  });
  read_or_refuse([&] { tracking::shown_value(entries[0], tracking::full_name(text, entries)); });
}

void fuzz_tensorboard(std::string_view bytes) {
  const fs::path place = folder().path() / "tensorboard";
  fs::remove_all(place);
  Values values(bytes);
  read_or_refuse([&] {
    tensorboard::EventFile file(place, values.number<int64_t>());
    run::MetricsRecord record;
    record.step = values.number<int64_t>();
    record.epoch = values.number<int64_t>();
    record.split = "validation";
    record.loss = values.maybe();
    record.accuracy = values.maybe();
    record.scores.push_back({"f1", values.number<double>()});
    record.learning_rate = values.maybe();
    record.time_seconds = values.maybe();
    tensorboard::add_record(record, file);
    run::to_json(record);
    const metrics::ConfusionMatrix confusion = confusion_of(values);
    std::vector<std::string> labels(static_cast<std::size_t>(confusion.num_classes));
    for (std::string& label : labels) label = values.text();
    tensorboard::add_confusion(confusion, labels, record.split, record.step, file);
    file.add_hyperparameters({{values.text(), values.text()}});
    file.add_text(values.text(), values.text(), record.step);
    file.go_back_to(values.number<int64_t>());
    while (!values.at_end()) file.add_histogram(values.text(), values.floats(), record.step);
  });
}

}  // namespace trainer::fuzz
