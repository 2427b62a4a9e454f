// SPDX-License-Identifier: Apache-2.0
#include "devices/results.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/run/folder/system_info.h"

namespace trainer::bench {

// In the namespace of their types, for argument-dependent lookup.
void to_json(Json& json, const Summary& summary) {
  json = {{"num_steps", summary.num_steps},
          {"average", summary.average},
          {"median", summary.median},
          {"min", summary.min},
          {"max", summary.max},
          {"lower_quartile", summary.lower_quartile},
          {"upper_quartile", summary.upper_quartile},
          {"variation", summary.variation}};
}

void from_json(const Json& json, Summary& summary) {
  json.at("num_steps").get_to(summary.num_steps);
  json.at("average").get_to(summary.average);
  json.at("median").get_to(summary.median);
  json.at("min").get_to(summary.min);
  json.at("max").get_to(summary.max);
  json.at("lower_quartile").get_to(summary.lower_quartile);
  json.at("upper_quartile").get_to(summary.upper_quartile);
  json.at("variation").get_to(summary.variation);
}

void to_json(Json& json, const Missing& missing) {
  json = {{"name", missing.name}, {"reason", missing.reason}};
}

void from_json(const Json& json, Missing& missing) {
  json.at("name").get_to(missing.name);
  json.at("reason").get_to(missing.reason);
}

namespace {

constexpr int kSchemaVersion = 2;
constexpr int64_t kMaxGrowthBytes = 100'000'000;
constexpr const char* kInference = "inference";

Json row_to_json(const Row& row) {
  const Setting& setting = row.setting;
  return {{"name", row_name(setting)},
          {"device", setting.device},
          {"precision", setting.precision},
          {"train_step", setting.train_step},
          {"model", setting.model},
          {"batch_size", setting.batch_size},
          {"pass", setting.pass == Pass::kInference ? kInference : "training"},
          {"step_ms", row.step_ms},
          {"round_medians_ms", row.round_medians},
          {"repetition_medians_ms", row.repetition_medians},
          {"asked_steps", row.asked_steps},
          {"samples_per_second", samples_per_second(row)},
          {"first_step_ms", row.first_step_ms},
          {"warmup_ms", row.warmup_ms},
          {"peak_memory_bytes", row.peak_memory_bytes},
          {"memory_growth_bytes", row.memory_growth_bytes},
          {"growth_steps", row.growth_steps},
          {"loss_difference", row.loss_difference},
          {"max_loss_difference", row.max_loss_difference},
          {"lost_share", row.lost_share ? Json(*row.lost_share) : Json()}};
}

// JSON has no NaN, so it is written as null.
double number_or_nan(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

Row row_from_json(const Json& json) {
  Row row;
  json.at("device").get_to(row.setting.device);
  json.at("precision").get_to(row.setting.precision);
  json.at("train_step").get_to(row.setting.train_step);
  json.at("model").get_to(row.setting.model);
  json.at("batch_size").get_to(row.setting.batch_size);
  if (json.at("pass") == kInference) row.setting.pass = Pass::kInference;
  json.at("step_ms").get_to(row.step_ms);
  json.at("round_medians_ms").get_to(row.round_medians);
  json.at("repetition_medians_ms").get_to(row.repetition_medians);
  json.at("asked_steps").get_to(row.asked_steps);
  json.at("first_step_ms").get_to(row.first_step_ms);
  json.at("warmup_ms").get_to(row.warmup_ms);
  json.at("peak_memory_bytes").get_to(row.peak_memory_bytes);
  json.at("memory_growth_bytes").get_to(row.memory_growth_bytes);
  json.at("growth_steps").get_to(row.growth_steps);
  row.loss_difference = number_or_nan(json.at("loss_difference"));
  json.at("max_loss_difference").get_to(row.max_loss_difference);
  if (const Json& lost = json.at("lost_share"); !lost.is_null()) row.lost_share = lost;
  return row;
}

}  // namespace

std::string config_name(const Setting& setting) {
  const bool is_default = setting.train_step == "fused";
  return fmt::format("{}_{}{}", setting.device, setting.precision,
                     is_default ? "" : "_" + setting.train_step);
}

std::string workload_name(const Setting& setting) {
  return fmt::format("{}, batch {}", setting.model, setting.batch_size);
}

std::string row_name(const Setting& setting) {
  return fmt::format("{}/{}/batch_{}{}", config_name(setting), setting.model, setting.batch_size,
                     setting.pass == Pass::kInference ? "/inference" : "");
}

double samples_per_second(const Row& row) {
  return row.step_ms.average > 0
             ? static_cast<double>(row.setting.batch_size) / (row.step_ms.average * 1e-3)
             : 0;
}

bool was_disturbed(const Row& row, double max_lost_percent) {
  return 100 * row.lost_share.value_or(0) > max_lost_percent;
}

bool has_right_loss(const Row& row) { return row.loss_difference <= row.max_loss_difference; }

bool has_bounded_memory(const Row& row) { return row.memory_growth_bytes <= kMaxGrowthBytes; }

bool is_sound(const Row& row) { return has_right_loss(row) && has_bounded_memory(row); }

bool is_sound(const Results& results) {
  return results.failures.empty() && std::all_of(results.rows.begin(), results.rows.end(),
                                                 [](const Row& row) { return is_sound(row); });
}

std::string accelerators_text(const Json& context) {
  std::vector<std::string> texts;
  const Json::json_pointer pointer("/system/accelerators");
  if (context.contains(pointer)) {
    for (const Json& one : context.at(pointer))
      texts.push_back(run::accelerator_text(JsonReader(one)));
  }
  return texts.empty() ? "none" : joined(texts, "; ");
}

std::string to_text(const Results& results) {
  Json json = {{"schema_version", kSchemaVersion}, {"context", results.context}};
  json["rows"] = Json::array();
  for (const Row& row : results.rows) json["rows"].push_back(row_to_json(row));
  json["absent"] = results.absent;
  json["failures"] = results.failures;
  return json.dump(2) + "\n";
}

Results from_text(const std::string& text, const std::string& location) {
  try {
    const Json json = parse_json(text);
    if (const int version = json.at("schema_version").get<int>(); version != kSchemaVersion) {
      throw Error(ErrorKind::kData,
                  fmt::format("{}: expected schema_version {}, got {}; create a new file", location,
                              kSchemaVersion, version));
    }
    Results results;
    results.context = json.at("context");
    for (const Json& row : json.at("rows")) results.rows.push_back(row_from_json(row));
    json.at("absent").get_to(results.absent);
    json.at("failures").get_to(results.failures);
    return results;
  } catch (const Json::exception& e) {
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: expected a file written by bench_devices --json: {}", location, e.what()));
  }
}

Results read_results(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: cannot be read; create it with bench_devices --json {}",
                            file.string(), file.string()));
  }
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return from_text(text, file.string());
}

}  // namespace trainer::bench
