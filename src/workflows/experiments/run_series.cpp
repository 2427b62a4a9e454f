// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/run_series.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/dump.h"
#include "trainer/launch/place.h"
#include "trainer/launch/rendezvous.h"

#include "workflows/experiments/fold_runs.h"
#include "workflows/experiments/helpers.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace trainer::experiments {

namespace fs = std::filesystem;

namespace {

void read_config_files(const SeriesRequest& request, RunSeries& series) {
  for (const fs::path& file : request.config_files) {
    series.documents.push_back(config::read_document(file));
  }
}

config::Config read_config(const fs::path& run_dir) {
  return config::load({config::read_document(run::RunDir{run_dir}.config())}, {}).config;
}

// Returns whether the folder was named by run_name() with this tag. run::NewFolder adds a number to
// the names of further folders in the same second.
bool has_tag(std::string name, const std::string& tag) {
  const std::string ending = "_" + tag;
  if (name.ends_with(ending)) return true;
  name.resize(name.find_last_not_of("0123456789") + 1);
  return name.ends_with(ending + "_");
}

// Sets the folder of the series to the newest one with this tag for which is_same() is true.
// Returns false if there is none.
bool find_same(const fs::path& parent, const std::string& tag, const std::function<bool()>& is_same,
               RunSeries& series) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const bool is_folder = !entry.is_symlink(ignored) && entry.is_directory(ignored);
    if (is_folder && has_tag(entry.path().filename().string(), tag)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.rbegin(), folders.rend());
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    series.folder = folder;
    return is_same();
  });
}

void allow_helpers(const SeriesRequest& request, const config::Config& config, RunSeries& series) {
  series.prepare = request.prepare;
  if (request.environment) series.max_processes = count_processes(config);
}

}  // namespace

RunSeries new_series(const SeriesRequest& request) {
  RunSeries series;
  series.overrides = request.overrides;
  read_config_files(request, series);
  shared_config(series);  // reports errors
  return series;
}

void open_series(const SeriesRequest& request, const std::string& suffix,
                 const std::function<bool()>& is_same, RunSeries& series) {
  const config::Config config = shared_config(series);
  series.place = join_ranks(config.distributed, request.environment);
  allow_helpers(request, config, series);
  const fs::path parent = fs::absolute(config.output_dir);
  const std::string tag = config.tag.empty() ? suffix : config.tag + "_" + suffix;
  const auto open = [&] {
    if (!request.resumes_same || !find_same(parent, tag, is_same, series)) {
      series.new_folder =
          std::make_unique<run::NewFolder>(parent, run::run_name(tag, std::time(nullptr)));
      series.folder = series.new_folder->path();
    }
    series.lock = std::make_unique<FolderLock>(series.folder);
    return series.folder.filename().string();
  };
  series.folder = parent / open_for_all(series.place, config.distributed.start_timeout,
                                        request.environment, parent, open);
}

bool has_same_runs(const RunSeries& series, const SeriesRun& first) {
  std::error_code ignored;
  const fs::directory_iterator files(series.folder, ignored);
  if (std::none_of(begin(files), end(files),
                   [](const auto& file) { return file.is_directory(); })) {
    return true;
  }
  const std::optional<fs::path> run = find_run(series.folder, first.tag);
  if (!run) return false;
  if (!fs::exists(run::RunDir{*run}.config())) return true;  // the run had not begun
  try {
    return config::fixed_differences(read_config(*run), run_config(series, first).config).empty();
  } catch (const Error&) {
    return false;  // of another version, with other keys
  }
}

RunSeries read_series(const SeriesRequest& request, const std::string& first_tag,
                      const std::string& what) {
  RunSeries series;
  series.folder = fs::weakly_canonical(*request.resume);  // resolves links such as runs/latest
  series.overrides = request.overrides;
  const std::optional<fs::path> first = find_run(series.folder, first_tag);
  if (!first) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of {}, which contains a run folder ending in "
                            "_{}; found none",
                            request.resume->string(), what, first_tag));
  }
  series.documents = {config::read_document(run::RunDir{*first}.config())};
  series.before = read_config(*first);
  read_config_files(request, series);
  return series;
}

void resume_series(const SeriesRequest& request, RunSeries& series) {
  const config::Config config = shared_config(series);
  const config::DistributedConfig& distributed = config.distributed;
  series.place = join_ranks(distributed, request.environment);
  allow_helpers(request, config, series);
  open_for_all(series.place, distributed.start_timeout, request.environment, series.folder, [&] {
    series.lock = std::make_unique<FolderLock>(series.folder);
    return series.folder.filename().string();
  });
}

std::optional<fs::path> find_run(const fs::path& folder, const std::string& tag) {
  std::optional<fs::path> newest;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_" + tag) || !entry.is_directory(ignored)) continue;
    if (!newest || name > newest->filename().string()) newest = entry.path();
  }
  return newest;
}

std::string series_command(const fs::path& folder) {
  if (find_run(folder, "trial_1_fold_1")) return "search";
  if (find_run(folder, "member_1")) return "ensemble";
  const bool has_fold = find_run(folder, "fold_1") || find_num_repeats(folder) > 1;
  return has_fold ? "cv" : "";
}

int64_t num_threads(const config::Config& config) {
  return config.threads > 0 ? config.threads : usable_cpus();
}

config::Config shared_config(const RunSeries& series) {
  return config::load(series.documents, series.overrides).config;
}

config::Loaded run_config(const RunSeries& series, const SeriesRun& run) {
  std::vector<config::Override> overrides = series.overrides;
  overrides.insert(overrides.end(), run.overrides.begin(), run.overrides.end());
  overrides.push_back({"members", "1", "folder of the runs"});
  overrides.push_back({"member_recipes", "[]", "folder of the runs"});
  overrides.push_back({"output_dir", series.folder.string(), "folder of the runs"});
  overrides.push_back({"tag", run.tag, "folder of the runs"});
  return config::load(series.documents, overrides);
}

void refuse_option(const SeriesRequest& request, const char* option, const std::string& was,
                   const std::string& got) {
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: {} was started with {}, got {}; remove this option", option,
                          request.resume->string(), was, got));
}

void refuse_changes(const RunSeries& series, const SeriesRun& first, const std::string& what) {
  if (!series.before) return;
  std::vector<std::string> changes;
  for (const auto& change :
       config::fixed_differences(*series.before, run_config(series, first).config)) {
    changes.push_back(
        fmt::format("{}: {} before, {} now", change.key, change.before, change.after));
  }
  if (changes.empty()) return;
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: the configuration differs from that of this {}:\n"
                          "  {}\n"
                          "undo the changes, or start a new one without --resume",
                          series.folder.string(), what, fmt::join(changes, "\n  ")));
}

std::optional<fs::path> find_complete(const RunSeries& series, const SeriesRun& run) {
  const std::optional<fs::path> found = find_run(series.folder, run.tag);
  if (!found || !fs::exists(run::RunDir{*found}.config()) ||
      !fs::exists(run::RunDir{*found}.summary())) {
    return std::nullopt;
  }
  const bool is_wanted =
      config::differences(read_config(*found), run_config(series, run).config).empty();
  return is_wanted ? found : std::nullopt;
}

RunOutcome complete_run(const RunSeries& series, const SeriesRun& run, int64_t num_left,
                        const TrainFunction& train) {
  if (const std::optional<fs::path> complete = find_complete(series, run)) return {*complete, 0};
  RunJob job{.config = run_config(series, run),
             .place = series.place,
             .name = run.name,
             .num_left = num_left};
  const std::optional<fs::path> before = find_run(series.folder, run.tag);
  if (before && fs::exists(run::RunDir{*before}.checkpoints() / "last.pt")) {
    job.resume = checkpoint::open_checkpoint(*before, checkpoint::OpenMode::kResume);
  }
  return train(job);
}

namespace {

constexpr std::chrono::seconds kFailureTimeout{10};
constexpr const char* kFailed = "/";  // cannot be the name of a folder

}  // namespace

launch::Place join_ranks(const config::DistributedConfig& distributed,
                         const launch::Environment& environment) {
  if (!environment || distributed.enabled == config::Distributed::kOff) return {};
  const launch::Place place = launch::find_place(environment);
  if (place.size == 1) return {};
  launch::stop_with_launcher();
  log::set_rank(place.rank);
  if (place.rank > 0) log::set_console_level(log::Level::kWarning);
  return place;
}

std::string open_for_all(const launch::Place& place, double timeout,
                         const launch::Environment& environment,
                         const std::filesystem::path& meeting,
                         const std::function<std::string()>& open) {
  if (place.size == 1) return open();
  const launch::Rendezvous rendezvous = launch::find_rendezvous(place, environment, meeting);
  const auto share = [&](const std::string& text, std::chrono::milliseconds limit) {
    return launch::share_text(rendezvous, place, environment, text, limit);
  };
  std::string name;
  if (place.rank == 0) {
    try {
      name = open();
    } catch (const Error&) {
      try {
        share(kFailed, kFailureTimeout);
      } catch (const Error& e) {
        log::debug(e.what());  // the first error says more
      }
      throw;
    }
  }
  name = share(name, in_milliseconds(timeout));
  if (name != kFailed) return name;
  throw Error(ErrorKind::kFileSystem, "rank 0 cannot open the folder of the runs; see its message");
}

namespace {

int open_lock_file(const std::filesystem::path& file) {
  constexpr mode_t kForAll = 0666;  // the umask is subtracted
  // The file is open for writing, because NFS allows an exclusive lock only then.
  const int descriptor =
      until_done([&] { return open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kForAll); });
  if (descriptor >= 0) return descriptor;
  throw Error(ErrorKind::kFileSystem, fmt::format("cannot write {}: {}", file.string(),
                                                  std::generic_category().message(errno)));
}

/// Returns whether the file still has a name. The previous holder of the lock may just have removed
/// it.
bool has_name(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

std::unique_ptr<RunLock> RunLock::try_take(const std::filesystem::path& file) {
  for (;;) {
    const int descriptor = open_lock_file(file);
    const int result = until_done([&] { return flock(descriptor, LOCK_EX | LOCK_NB); });
    const int why = result == 0 ? 0 : errno;
    if (why == 0 && has_name(descriptor)) {
      return std::unique_ptr<RunLock>(new RunLock(file, descriptor));
    }
    close(descriptor);
    if (why == EWOULDBLOCK) return nullptr;
    if (why == 0) continue;
    throw Error(
        ErrorKind::kFileSystem,
        fmt::format("{}: cannot lock this file: {}; processes agree by locks on who trains which "
                    "run: set output_dir to a folder on another file system, or start one process",
                    file.string(), std::generic_category().message(why)));
  }
}

// The file is removed before it is unlocked, because then it may be locked by another process.
RunLock::~RunLock() {
  unlink(file_.c_str());
  close(descriptor_);
}

namespace {

/// Redirects the child's standard output and standard error.
class FileActions {
 public:
  explicit FileActions(const std::filesystem::path& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments,
                           const std::filesystem::path& output) {
  std::vector<std::string> argv = {program.string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const FileActions actions(output);
  const int error =
      posix_spawn(&id_, program.c_str(), actions.get(), nullptr, pointers.data(), environ);
  if (error == 0) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("cannot start {}: {}", program.string(), std::strerror(error)));
}

ChildProcess::~ChildProcess() { kill(); }

std::optional<int> ChildProcess::exit_code() {
  int status = 0;
  if (!exit_code_ && waitpid(id_, &status, WNOHANG) == id_) remember(status);
  return exit_code_;
}

int ChildProcess::kill() {
  if (exit_code_) return *exit_code_;
  ::kill(id_, SIGKILL);
  int status = 0;
  until_done([&] { return waitpid(id_, &status, 0); });
  remember(status);
  return *exit_code_;
}

void ChildProcess::remember(int status) {
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace trainer::experiments
