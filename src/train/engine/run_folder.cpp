// SPDX-License-Identifier: Apache-2.0
#include "train/engine/run_folder.h"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/config/dump.h"
#include "trainer/config/fields.h"
#include "trainer/run/folder/history.h"
#include "trainer/run/folder/metrics_log.h"
#include "trainer/table/split/order.h"

namespace trainer::engine {
namespace {

// Returns the run folder of the resumed checkpoint, or an empty path if it is in none.
std::filesystem::path resumed_folder(const TrainRequest& request) {
  return request.resume ? run::find_run_dir(request.resume->file) : std::filesystem::path();
}

// Removes temporary files from folders without a checkpoint: a process that was killed before its
// first checkpoint leaves a folder that is never resumed.
void remove_leftovers(const std::filesystem::path& output_dir) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(output_dir, ignored)) {
    const run::RunDir run{entry.path()};
    if (entry.is_symlink(ignored) || !entry.is_directory(ignored) ||
        std::filesystem::exists(run.checkpoints() / "last.pt", ignored) || is_locked(run.root)) {
      continue;
    }
    remove_temporary_files(run.root);
    remove_temporary_files(run.checkpoints());
  }
}

// Creates a run folder with the configuration, by which other processes recognize the run.
RunFolder create_folder(const config::Config& config, const std::string& resolved) {
  remove_leftovers(config.output_dir);
  const run::RunDir run = run::create_run_dir(config.output_dir, config.tag, std::time(nullptr));
  RunFolder folder{run, 0, std::make_shared<FolderLock>(run.root)};
  write_file_atomically(run.config(), resolved);
  return folder;
}

// If several processes start the same run at the same time, only the first one creates it.
RunFolder create_folder_unless_started(const config::Config& config, const std::string& resolved) {
  std::error_code ignored;
  // If it fails, create_folder() throws the reason.
  std::filesystem::create_directories(config.output_dir, ignored);
  if (!std::filesystem::is_directory(config.output_dir, ignored)) {
    return create_folder(config, resolved);
  }
  const FolderLock lock(config.output_dir, FolderLock::WhenTaken::kWait);
  if (const auto running = checkpoint::find_same_run_at_work(config.output_dir, config);
      !running.empty()) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: another process has started this run; wait until it has finished",
                            running.string()));
  }
  if (checkpoint::find_same_run(config.output_dir, config, checkpoint::OpenMode::kReadOnly)) {
    throw Error(
        ErrorKind::kFileSystem,
        fmt::format(
            "{}: another process has created this run; start the command again to resume it",
            config.output_dir));
  }
  return create_folder(config, resolved);
}

// Whether all files of the run are written: "complete" is recorded in system.json after all others.
bool has_ended(const run::RunDir& run) {
  std::error_code ignored;
  if (!std::filesystem::exists(run.summary(), ignored)) return false;
  const std::vector<run::Start> starts = run::read_starts(run.root);
  return !starts.empty() && starts.back().end == run::End::kComplete;
}

}  // namespace

RunFolder open_run_folder(const TrainRequest& request, const std::string& resolved, Trains trains) {
  if (const auto root = resumed_folder(request); !root.empty()) {
    RunFolder folder{{root}, request.resume->checkpoint.metrics_bytes, request.resume->lock, true};
    folder.is_complete = trains == Trains::kNo && has_ended(folder.run);
    if (folder.is_complete) return folder;
    run::require_records(folder.run.metrics(), folder.metrics_bytes);
    // The file keeps the configuration that the run was trained with, so it is written only if the
    // run trains.
    if (trains == Trains::kYes) write_file_atomically(folder.run.config(), resolved);
    return folder;
  }
  const config::Config& config = request.config.config;
  const bool unless_started = request.new_run == NewRun::kUnlessStarted && !request.resume;
  return unless_started ? create_folder_unless_started(config, resolved)
                        : create_folder(config, resolved);
}

// A run needs space for the checkpoints that it keeps, best.pt, and the next one. A resumed run
// already has those that it keeps.
void check_free_space(const train::Session& session, const TrainRequest& request) {
  const config::CheckpointConfig& config = session.config.checkpoint;
  const int64_t epoch_files = session.config.training.epochs / config.every_epochs + 1;
  const int64_t kept =
      std::min(config.keep_last, epoch_files) + (config.every_steps > 0 ? config.keep_last : 0);
  const std::filesystem::path resumed = resumed_folder(request);
  run::check_free_space(
      resumed.empty() ? std::filesystem::path(session.config.output_dir) : resumed,
      train::checkpoint_bytes(session), resumed.empty() ? kept + 2 : 2);
}

namespace {

std::string describe(const data::Fingerprint& file) {
  return fmt::format("{} bytes, CRC-32 {:08x}", file.num_bytes, file.crc32);
}

// Compares files by their content instead of their path, because a file may have moved.
void add_changed_files(const std::vector<data::Fingerprint>& before,
                       const std::vector<data::Fingerprint>& after,
                       std::vector<std::string>& changes) {
  if (before.size() != after.size()) {
    changes.push_back(fmt::format("data files: {} before, {} now", before.size(), after.size()));
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].num_bytes == after[i].num_bytes && before[i].crc32 == after[i].crc32) continue;
    changes.push_back(fmt::format("{}: {} before, {} now", after[i].path, describe(before[i]),
                                  describe(after[i])));
  }
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxShown = 8;
  const std::size_t shown = std::min(names.size(), kMaxShown);
  std::string text = joined({names.data(), shown}, shown < names.size() ? ", " : " and ");
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

// Returns the categories of each embedded column; they are the rows of the embedding tables.
std::vector<std::vector<std::string>> embedded_categories(const data::Schema& schema) {
  std::vector<std::vector<std::string>> all;
  for (const data::Column& column : schema.columns) {
    if (data::is_embedded(column)) all.push_back(column.categories);
  }
  return all;
}

// Throws Error(kCheckpoint) even with --allow-changes, because weights for other inputs or outputs
// are meaningless.
void refuse_other_task(const checkpoint::ResumePoint& resume, const data::Schema& schema) {
  const data::Schema& old = resume.checkpoint.schema;
  std::vector<std::string> changes;
  const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
    if (was != is) changes.push_back(fmt::format("{}: {} before, {} now", what, was, is));
  };
  compare("target", names_text(old.target_names), names_text(schema.target_names));
  compare("task", config::to_text(old.task), config::to_text(schema.task));
  if (old.labels != schema.labels) {
    changes.push_back(fmt::format("labels: {} before, {} now", names_text(old.labels),
                                  names_text(schema.labels)));
  }
  if (old.feature_names != schema.feature_names) {
    changes.push_back(fmt::format("features: {} before, {} now", names_text(old.feature_names),
                                  names_text(schema.feature_names)));
  } else if (embedded_categories(old) != embedded_categories(schema)) {
    changes.emplace_back("features: the categories of an embedded column changed");
  }
  if (changes.empty()) return;
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: the run was trained with other data:\n"
                          "  {}\n"
                          "target, task, labels and features of a run cannot change; start a new "
                          "run, which can use these weights (model.init_from)",
                          resume.file.string(), fmt::join(changes, "\n  ")));
}

}  // namespace

std::vector<std::string> check_resume(const TrainRequest& request, const data::Datasets& data) {
  const checkpoint::ResumePoint& resume = *request.resume;
  refuse_other_task(resume, data.schema);
  const config::Document document{resume.file.string(), resume.checkpoint.config, ""};
  const config::Config before = config::load({document}, {}).config;
  std::vector<std::string> changes;
  for (const auto& difference : config::fixed_differences(before, request.config.config)) {
    changes.push_back(
        fmt::format("{}: {} before, {} now", difference.key, difference.before, difference.after));
  }
  add_changed_files(resume.checkpoint.fingerprints, data.fingerprints, changes);
  if (!changes.empty() && request.on_change == OnChange::kRefuse) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: the configuration or data differ from those of the checkpoint:\n"
                            "  {}\n"
                            "undo the changes, pass --allow-changes to resume anyway, or start a "
                            "new run: without --resume, or with another --tag for --resume auto",
                            resume.file.string(), fmt::join(changes, "\n  ")));
  }
  return changes;
}

std::vector<std::string> check_products(const TrainRequest& request,
                                        const train::Session& session) {
  const std::optional<Bf16Products> before = request.resume->checkpoint.bf16_products;
  const std::optional<Bf16Products> now = train::bf16_products(session);
  if (!before || !now || *before == *now) return {};
  const std::string change =
      fmt::format("products in bf16: {} before, {} now", to_text(*before), to_text(*now));
  if (request.on_change == OnChange::kRefuse) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: this processor computes other bits than that of the checkpoint:\n"
                            "  {}\n"
                            "resume the run on a processor with the same instructions, or pass "
                            "--allow-changes to resume anyway",
                            request.resume->file.string(), change));
  }
  return {change};
}

void keep_order(const TrainRequest& request, const data::Datasets& data, config::Config& config) {
  if (!request.resume || config.data.shuffle_window > 0) return;
  const data::Matrix& features = data.train.features;
  const bool knows_windows =
      request.resume->checkpoint.config.find("shuffle_window:") != std::string::npos;
  if (knows_windows || !data::order_options(features, 0, 0).has_windows()) return;
  config.data.shuffle_window = features.num_rows;
}

}  // namespace trainer::engine
