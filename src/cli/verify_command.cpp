// SPDX-License-Identifier: Apache-2.0
// `trainer verify PATH...`: reads checkpoints with all checks; one in detail, several as a table.
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/checkpoint/find.h"
#include "trainer/checkpoint/verify.h"
#include "trainer/core/error.h"
#include "trainer/core/format.h"
#include "trainer/core/json.h"
#include "trainer/core/labeled_lines.h"
#include "trainer/core/print_safely.h"
#include "trainer/metrics/score.h"

#include "cli/command.h"
#include "cli/model_options.h"

namespace trainer::cli {
namespace fs = std::filesystem;
namespace {

using checkpoint::Checkpoint;
using checkpoint::VerifiedCheckpoint;

std::string speed_text(uint64_t num_bytes, double seconds) {
  const double rate = static_cast<double>(num_bytes) / std::max(seconds, 1e-9);
  return fmt::format("{} in {} ({}/s)", human_bytes(num_bytes), human_duration(seconds),
                     human_bytes(static_cast<uint64_t>(rate)));
}

std::string position_text(const checkpoint::Position& position) {
  std::string text =
      fmt::format("epoch {}, step {}", position.epoch, with_thousands(position.step));
  if (position.samples_in_epoch > 0) {
    text += fmt::format(", {} samples into epoch {}", with_thousands(position.samples_in_epoch),
                        position.epoch + 1);
  }
  return text;
}

std::string model_text(const VerifiedCheckpoint& file) {
  return fmt::format("{}; {} parameters, {} tensors", network::summary(file.network),
                     with_thousands(network::num_parameters(file.network)),
                     with_thousands(static_cast<int64_t>(file.checkpoint.model.size())));
}

std::string optimizer_text(const Checkpoint& c) {
  std::vector<std::string> moments;
  moments.reserve(c.moments.size());
  for (const checkpoint::Moment& moment : c.moments) moments.push_back(moment.name);
  return fmt::format("{} at step {}, {}", c.optimizer, with_thousands(c.optimizer_step),
                     moments.empty() ? "no optimizer state" : joined(moments));
}

std::string schema_text(const data::Schema& schema) {
  const std::string target =
      schema.task == config::Task::kRegression
          ? "regression"
          : fmt::format("{} classes (classification)", with_thousands(std::ssize(schema.labels)));
  return fmt::format("{}, target \"{}\": {}", counted(schema.num_features(), "feature"),
                     joined(schema.target_names, "\" and \""), target);
}

std::size_t num_tensors(const Checkpoint& c) {
  std::size_t count = c.model.size() + 2;  // shift and scale of the features
  for (const checkpoint::Moment& moment : c.moments) count += moment.tensors.size();
  return count;
}

std::string description(const fs::path& path, const VerifiedCheckpoint& file) {
  LabeledLines lines;
  const Checkpoint& c = file.checkpoint;
  lines.add("file", fmt::format("{} ({})", path.string(), human_bytes(file.num_bytes)));
  lines.add("written by",
            fmt::format("trainer {}, format version {}", c.trainer_version, c.format_version));
  lines.add("progress", position_text(c.state.position));
  lines.add("best epoch", c.state.best
                              ? fmt::format("{} ({} {})", c.state.best->epoch,
                                            config::to_text(file.config->training.best_metric),
                                            metrics::loss_text(c.state.best->value))
                              : "none yet");
  lines.add("model", model_text(file));
  lines.add("optimizer", optimizer_text(c));
  lines.add("data", schema_text(c.schema));
  for (const data::Fingerprint& data_file : c.fingerprints) {
    lines.add("data file",
              fmt::format("{}: {}", data_file.path, checkpoint::data_file_state(data_file)));
  }
  lines.add("threads", fmt::format("{}", c.num_threads));
  lines.add("verified", fmt::format("{} tensors, all CRC-32 match, {}", num_tensors(c),
                                    speed_text(file.num_bytes, file.time_seconds)));
  return lines.text();
}

Json description_json(const fs::path& path, const VerifiedCheckpoint& file) {
  const Checkpoint& c = file.checkpoint;
  Json json = {{"file", path.string()},
               {"state", "good"},
               {"num_bytes", file.num_bytes},
               {"trainer_version", c.trainer_version},
               {"format_version", c.format_version},
               {"epoch", c.state.position.epoch},
               {"step", c.state.position.step},
               {"samples_in_epoch", c.state.position.samples_in_epoch},
               {"best", nullptr},
               {"layers", network::widths(file.network)},
               {"parameters", network::num_parameters(file.network)},
               {"tensors", num_tensors(c)},
               {"threads", c.num_threads},
               {"data_files", Json::array()}};
  if (c.state.best) {
    json["best"] = {{"epoch", c.state.best->epoch},
                    {"metric", config::to_text(file.config->training.best_metric)},
                    {"value", c.state.best->value}};
  }
  for (const data::Fingerprint& data_file : c.fingerprints) {
    json["data_files"].push_back(
        {{"path", data_file.path}, {"state", checkpoint::data_file_state(data_file)}});
  }
  return json;
}

/// A row of the table: a file and what was found.
struct Row {
  std::string name;
  std::string epoch = "-";
  std::string step = "-";
  std::string size = "-";
  std::string state;
};

/// Verifies files and collects rows; a file with several names is read once.
class Table {
 public:
  void add(const std::string& name, const fs::path& path) {
    struct stat status {};
    const bool known = ::stat(path.c_str(), &status) == 0;
    const auto identity = std::make_pair(status.st_dev, status.st_ino);
    if (const auto same = rows_by_file_.find(identity); known && same != rows_by_file_.end()) {
      Row row = rows_[same->second];
      files_.push_back({{"file", path.string()}, {"state", "same"}, {"same_as", row.name}});
      row.state = fmt::format("same file as {}", row.name);
      row.name = name;
      rows_.push_back(row);
      return;
    }
    const std::optional<Row> row = read(name, path);
    if (!row) return;
    if (known) rows_by_file_.emplace(identity, rows_.size());
    rows_.push_back(*row);
  }

  bool all_good() const { return num_damaged_ == 0; }

  Json json() const { return {{"files", files_}, {"good", num_good_}, {"damaged", num_damaged_}}; }

  std::string text() const {
    constexpr auto kLine = "{:<{}}  {:>{}}  {:>{}}  {:>{}}  {}\n";
    std::vector<Row> rows = rows_;
    rows.insert(rows.begin(), Row{"file", "epoch", "step", "size", "state"});
    const auto width = [&](std::string Row::*column) {
      std::size_t widest = 0;
      for (const Row& row : rows) widest = std::max(widest, (row.*column).size());
      return widest;
    };
    const std::size_t name = width(&Row::name);
    const std::size_t epoch = width(&Row::epoch);
    const std::size_t step = width(&Row::step);
    const std::size_t size = width(&Row::size);
    std::string text;
    for (const Row& row : rows) {
      text += fmt::format(fmt::runtime(kLine), row.name, name, row.epoch, epoch, row.step, step,
                          row.size, size, row.state);
    }
    return text + verdict() + '\n';
  }

 private:
  std::string verdict() const {
    return labeled_line(
        "verified", fmt::format("{} of {} files are good, {}", num_good_, num_good_ + num_damaged_,
                                speed_text(num_bytes_, time_seconds_)));
  }

  // Nothing for a removed file: a running training deletes its older checkpoints.
  std::optional<Row> read(const std::string& name, const fs::path& path) {
    Row row;
    row.name = name;
    try {
      const VerifiedCheckpoint file = checkpoint::verify(path);
      row.epoch = with_thousands(file.checkpoint.state.position.epoch);
      row.step = with_thousands(file.checkpoint.state.position.step);
      row.size = human_bytes(file.num_bytes);
      row.state = "good";
      files_.push_back(description_json(path, file));
      ++num_good_;
      num_bytes_ += file.num_bytes;
      time_seconds_ += file.time_seconds;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCheckpoint) throw;
      std::error_code unknown;
      const std::uintmax_t num_bytes = fs::file_size(path, unknown);
      if (unknown) return std::nullopt;
      row.size = human_bytes(num_bytes);
      ++num_damaged_;
      row.state = reason(error.what(), path);
      files_.push_back({{"file", path.string()},
                        {"state", "damaged"},
                        {"num_bytes", num_bytes},
                        {"problem", row.state}});
    }
    return row;
  }

  // In one line, without the file name, which the row shows.
  static std::string reason(std::string text, const fs::path& path) {
    const std::string prefix = path.string() + ": ";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      text.erase(at, prefix.size());
    }
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) {
      text.replace(at, 1, "; ");
    }
    return text;
  }

  std::vector<Row> rows_;
  Json files_ = Json::array();
  std::map<std::pair<dev_t, ino_t>, std::size_t> rows_by_file_;
  int num_good_ = 0;
  int num_damaged_ = 0;
  uint64_t num_bytes_ = 0;
  double time_seconds_ = 0;
};

// The checkpoints of a run folder or of its folder `checkpoints`, by name.
std::vector<fs::path> checkpoints_in(const fs::path& given) {
  const fs::path inside = given / "checkpoints";
  const fs::path folder = fs::is_directory(inside) ? inside : given;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt") files.push_back(entry.path());
  }
  if (files.empty()) checkpoint::find_checkpoint(given);  // throws, with a list of what is there
  std::sort(files.begin(), files.end());
  return files;
}

class VerifyCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"path", &paths_, "RUN_OR_CHECKPOINT ...",
             "A checkpoint file, or a run folder for all of its checkpoints"},
            {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("verify", common, problems);
    if (!paths_.empty()) return;
    problems.emplace_back("verify: expected a checkpoint file or a run folder, got nothing");
  }

  // A single damaged file is an Error; of several, all are read.
  int run(const CommonOptions& /*common*/) override {
    for (std::string& path : paths_) path = model_path(path);
    const bool is_single = paths_.size() == 1;
    if (is_single && !json_ && !fs::is_directory(paths_.front())) {
      const fs::path file = checkpoint::find_checkpoint(paths_.front());
      print_safely(description(file, checkpoint::verify(file)));
      return 0;
    }
    Table table;
    for (const std::string& path : paths_) {
      const fs::path given = path;
      if (!fs::is_directory(given)) {
        table.add(given.string(), checkpoint::find_checkpoint(given));
        continue;
      }
      for (const fs::path& file : checkpoints_in(given)) {
        table.add(is_single ? file.filename().string() : file.string(), file);
      }
    }
    print_safely(json_ ? table.json().dump(2) + "\n" : table.text());
    return table.all_good() ? 0 : exit_code(ErrorKind::kCheckpoint);
  }

 private:
  std::vector<std::string> paths_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace trainer::cli
