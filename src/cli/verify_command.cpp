// SPDX-License-Identifier: Apache-2.0
// `trainer verify PATH...`: reads checkpoints with all checks and shows one in detail, several as a
// table.
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

#include "trainer/apply/ensemble.h"
#include "trainer/base/error.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/metrics/score.h"
#include "trainer/run/checkpoint/resume_point.h"
#include "trainer/run/checkpoint/verify.h"

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

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

void add_best(const VerifiedCheckpoint& file, Document& document) {
  const std::optional<checkpoint::Best>& best = file.checkpoint.state.best;
  if (!best) return document.add("best", "best epoch", {Json(), "none yet"});
  const std::string metric = config::to_text(file.config->training.best_metric);
  document.add("best", "best epoch",
               {{{"epoch", best->epoch}, {"metric", metric}, {"value", best->value}},
                fmt::format("{} ({} {})", best->epoch, metric, metrics::loss_text(best->value))});
}

std::size_t num_tensors(const Checkpoint& c) {
  std::size_t count = c.model.size() + 2;  // shift and scale of the features
  for (const checkpoint::Moment& moment : c.moments) count += moment.tensors.size();
  return count;
}

Document describe(const fs::path& path, const VerifiedCheckpoint& file) {
  const Checkpoint& c = file.checkpoint;
  const checkpoint::Position& position = c.state.position;
  Document document;
  document.add("file", "file",
               {path.string(), fmt::format("{} ({})", path.string(), human_bytes(file.num_bytes))});
  document.data("state", "good");
  document.data("num_bytes", file.num_bytes);
  document.data("trainer_version", c.trainer_version);
  document.data("format_version", c.format_version);
  document.line("written by",
                fmt::format("trainer {}, format version {}", c.trainer_version, c.format_version));
  document.data("epoch", position.epoch);
  document.data("step", position.step);
  document.data("samples_in_epoch", position.samples_in_epoch);
  document.line("progress", position_text(position));
  add_best(file, document);
  document.data("layers", network::widths(file.network));
  document.data("parameters", network::num_parameters(file.network));
  document.data("tensors", num_tensors(c));
  document.line("model", model_text(file));
  document.line("optimizer", optimizer_text(c));
  document.line("data", schema_text(c.schema));
  Json data_files = Json::array();
  for (const data::Fingerprint& data_file : c.fingerprints) {
    const std::string state = checkpoint::data_file_state(data_file);
    document.line("data file", fmt::format("{}: {}", data_file.path, state));
    data_files.push_back({{"path", data_file.path}, {"state", state}});
  }
  document.add("threads", "threads", {c.num_threads, fmt::to_string(c.num_threads)});
  document.data("data_files", std::move(data_files));
  document.line("verified", fmt::format("{} tensors, all CRC-32 match, {}", num_tensors(c),
                                        speed_text(file.num_bytes, file.time_seconds)));
  return document;
}

/// Verifies files and collects the results. A file with several names (hard links) is read once.
class Verification {
 public:
  void add(const std::string& name, const fs::path& path) {
    struct stat status {};
    const bool known = ::stat(path.c_str(), &status) == 0;
    const auto identity = std::make_pair(status.st_dev, status.st_ino);
    if (const auto same = rows_by_file_.find(identity); known && same != rows_by_file_.end()) {
      Row row = same->second;
      files_.push_back({{"file", path.string()}, {"state", "same"}, {"same_as", row.name}});
      row.state = fmt::format("same file as {}", row.name);
      row.name = name;
      show(row);
      return;
    }
    const std::optional<Row> row = read(name, path);
    if (!row) return;
    if (known) rows_by_file_.emplace(identity, *row);
    show(*row);
  }

  bool all_good() const { return num_damaged_ == 0; }

  Document document() && {
    Document document;
    document.show(std::move(table_));
    document.data("files", std::move(files_));
    document.data("good", num_good_);
    document.data("damaged", num_damaged_);
    document.line("verified",
                  fmt::format("{} of {} files are good, {}", num_good_, num_good_ + num_damaged_,
                              speed_text(num_bytes_, time_seconds_)));
    return document;
  }

 private:
  struct Row {
    std::string name;
    std::string epoch = "-";
    std::string step = "-";
    std::string size = "-";
    std::string state;
  };

  void show(const Row& row) { table_.add({row.name, row.epoch, row.step, row.size, row.state}); }

  // Returns nothing if the file has been removed meanwhile: a running training deletes its older
  // checkpoints.
  std::optional<Row> read(const std::string& name, const fs::path& path) {
    Row row{.name = name, .state = "good"};
    try {
      const VerifiedCheckpoint file = checkpoint::verify(path);
      row.epoch = with_thousands(file.checkpoint.state.position.epoch);
      row.step = with_thousands(file.checkpoint.state.position.step);
      row.size = human_bytes(file.num_bytes);
      files_.push_back(describe(path, file).json());
      ++num_good_;
      num_bytes_ += file.num_bytes;
      time_seconds_ += file.time_seconds;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kCheckpoint) throw;
      std::error_code unknown;
      const std::uintmax_t num_bytes = fs::file_size(path, unknown);
      if (unknown) return std::nullopt;
      const std::string problem = reason(error.what(), path);
      row.size = human_bytes(num_bytes);
      row.state = "damaged";
      table_.add_note(fmt::format("{}: {}", name, problem));
      ++num_damaged_;
      files_.push_back({{"file", path.string()},
                        {"state", "damaged"},
                        {"num_bytes", num_bytes},
                        {"problem", problem}});
    }
    return row;
  }

  // Returns the message on one line, without the file name.
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

  Table table_{{{.key = "", .title = "file", .align = Align::kLeft, .max_width = 200},
                {"", "epoch"},
                {"", "step"},
                {"", "size"},
                {.key = "", .title = "state", .align = Align::kLeft, .max_width = 200}}};
  Json files_ = Json::array();
  std::map<std::pair<dev_t, ino_t>, Row> rows_by_file_;
  int num_good_ = 0;
  int num_damaged_ = 0;
  uint64_t num_bytes_ = 0;
  double time_seconds_ = 0;
};

// Returns the folder with the checkpoints of a run folder: `checkpoints` in it, or itself.
fs::path folder_in(const fs::path& given) {
  const fs::path inside = given / "checkpoints";
  return fs::is_directory(inside) ? inside : given;
}

// Returns the checkpoints of a run folder, of its folder `checkpoints` or of the members of an
// ensemble, sorted by name.
std::vector<fs::path> checkpoints_in(const fs::path& given) {
  std::vector<fs::path> folders = {folder_in(given)};
  if (const auto ensemble = apply::read_ensemble(given); ensemble && !ensemble->runs.empty()) {
    folders.clear();
    for (const std::string& run : ensemble->runs) folders.push_back(folder_in(given / run));
  }
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".pt") files.push_back(entry.path());
    }
  }
  if (files.empty()) checkpoint::find_checkpoint(given);  // throws, and lists the files there
  std::sort(files.begin(), files.end());
  return files;
}

class VerifyCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"path", &paths_, "RUN_OR_CHECKPOINT ...",
             "A checkpoint file, or the folder of a run or an ensemble for all of its checkpoints"},
            {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("verify", common, problems);
    if (!paths_.empty()) return;
    problems.emplace_back("verify: expected a checkpoint file or a run folder, got nothing");
  }

  // If the only file is damaged, that is an Error; of several files, all are read and the damaged
  // ones are listed.
  int run(const CommonOptions& /*common*/) override {
    for (std::string& path : paths_) path = model_path(path);
    const bool is_single = paths_.size() == 1;
    if (is_single && !json_ && !fs::is_directory(paths_.front())) {
      const fs::path file = checkpoint::find_checkpoint(paths_.front());
      print_document(describe(file, checkpoint::verify(file)), json_);
      return 0;
    }
    Verification files;
    for (const std::string& path : paths_) {
      const fs::path given = path;
      if (!fs::is_directory(given)) {
        files.add(given.string(), checkpoint::find_checkpoint(given));
        continue;
      }
      for (const fs::path& file : checkpoints_in(given)) {
        files.add(is_single ? file.lexically_relative(folder_in(given)).string() : file.string(),
                  file);
      }
    }
    const bool all_good = files.all_good();
    print_document(std::move(files).document(), json_);
    return all_good ? 0 : exit_code(ErrorKind::kCheckpoint);
  }

 private:
  std::vector<std::string> paths_;
};

}  // namespace

std::unique_ptr<Command> make_verify_command() { return std::make_unique<VerifyCommand>(); }

}  // namespace trainer::cli
