// SPDX-License-Identifier: Apache-2.0
// Rank 0 gives its text to the others with files in a folder that all of them see. A run that was
// killed may have left such files under the same name, and ranks start in any order. So rank r
// writes a request, the file named r, with a random token that only this process has. Rank 0
// answers with one file: its text and, for each request, rank and token. A rank accepts an answer
// only if it contains its own token, so never one of an earlier run. If rank 0 reads an old request
// first, it answers again when the new one has replaced it. A rank that has the answer removes its
// request; when all answered requests are gone, rank 0 removes the folder. A rank that runs out of
// time removes its own files, and the folder if it is empty then. Only two runs with the same name
// at the same time cannot be told apart.
// Files appear complete (base/io/atomic_file.h). The client of a network file system may remember
// for up to a minute that a file is not in a folder, unless it changes that folder itself. So each
// rank writes its file again twice a second. This also restores the file if rank 0 of an earlier
// run removed the folder.
#include "launch/shared_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/launch/token.h"

namespace trainer::launch {
namespace {

namespace fs = std::filesystem;

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kAnswer = "answer";
constexpr milliseconds kShortestPause{5};
constexpr milliseconds kLongestPause{50};
constexpr milliseconds kWriteAgain{500};
constexpr const char* kFix = "make sure that all ranks start, on machines that share this folder";

/// Returns the lines of a file, or nothing if there is no such file.
std::optional<std::vector<std::string>> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The text may be secret, so only this user may look into the folder, even if it existed before.
void make_private_folder(const fs::path& folder, std::error_code& problem) {
  fs::create_directories(folder.parent_path(), problem);
  if (problem || mkdir(folder.c_str(), S_IRWXU) == 0) return;
  const bool is_there = errno == EEXIST;
  // ENOENT means that another rank has just removed the folder.
  if (is_there && (chmod(folder.c_str(), S_IRWXU) == 0 || errno == ENOENT)) return;
  problem = std::error_code(errno, std::generic_category());
}

void write(const fs::path& file, const std::string& text) {
  const fs::path folder = file.parent_path();
  for (;;) {
    std::error_code problem;
    make_private_folder(folder, problem);
    if (problem) {
      throw Error(ErrorKind::kFileSystem,
                  fmt::format("cannot create {}: {}", folder.string(), problem.message()));
    }
    try {
      return write_file_atomically(file, text);
    } catch (const Error&) {
      if (fs::exists(folder, problem)) throw;  // else another rank has just removed it
    }
  }
}

/// Sleeps for `length`, but not beyond the end of the wait, and doubles `length`.
void pause(const Wait& wait, milliseconds& length) {
  std::this_thread::sleep_for(std::min(length, time_left(wait)));
  length = std::min(2 * length, kLongestPause);
}

/// What rank 0 knows about the request of another rank.
struct Request {
  std::string token;  // empty: no request has been read yet
  bool is_done = false;
};

std::string names_of_missing(const std::vector<Request>& requests) {
  constexpr size_t kMaxNames = 5;
  std::vector<std::string> names;
  size_t others = 0;
  for (size_t rank = 1; rank < requests.size(); ++rank) {
    if (requests[rank].is_done) continue;
    if (names.size() < kMaxNames) {
      names.push_back(std::to_string(rank));
    } else {
      ++others;
    }
  }
  const bool is_one = names.size() == 1;
  if (others > 0) names.push_back(fmt::format("{} others", others));
  return (is_one ? "rank " : "ranks ") + joined(names);
}

/// Reads the requests, and returns whether one of them has a new token.
bool read_requests(const fs::path& folder, std::vector<Request>& requests) {
  bool is_changed = false;
  for (size_t rank = 1; rank < requests.size(); ++rank) {
    Request& request = requests[rank];
    if (request.is_done) continue;
    const auto lines = lines_of(folder / std::to_string(rank));
    if (!lines) {
      request.is_done = !request.token.empty();
    } else if (lines->size() == 1 && lines->front() != request.token) {
      request.token = lines->front();
      is_changed = true;
    }
  }
  return is_changed;
}

void answer_all(const Wait& wait, const fs::path& folder, const std::string& text) {
  std::vector<Request> requests(static_cast<size_t>(wait.place.size));
  requests[0].is_done = true;
  milliseconds length = kShortestPause;
  steady_clock::time_point write_again = steady_clock::now();
  for (;;) {
    const bool is_changed = read_requests(folder, requests);
    if (std::all_of(requests.begin(), requests.end(), [](const auto& r) { return r.is_done; })) {
      return;
    }
    if (is_changed || steady_clock::now() >= write_again) {
      std::string answer = text + "\n";
      for (size_t rank = 1; rank < requests.size(); ++rank) {
        answer += fmt::format("{} {}\n", rank, requests[rank].token);
      }
      write(folder / kAnswer, answer);
      write_again = steady_clock::now() + kWriteAgain;
    }
    if (is_changed) length = kShortestPause;
    if (time_left(wait).count() == 0) {
      fail_late(wait, names_of_missing(requests) + " in " + folder.string(), kFix);
    }
    pause(wait, length);
  }
}

std::string ask(const Wait& wait, const fs::path& folder) {
  const fs::path request = folder / std::to_string(wait.place.rank);
  const std::string token = random_token();
  const std::string own_line = fmt::format("{} {}", wait.place.rank, token);
  milliseconds length = kShortestPause;
  steady_clock::time_point write_again = steady_clock::now();
  for (;;) {
    if (steady_clock::now() >= write_again) {
      write(request, token + "\n");
      write_again = steady_clock::now() + kWriteAgain;
    }
    const auto answer = lines_of(folder / kAnswer);
    if (answer && !answer->empty() &&
        std::find(answer->begin() + 1, answer->end(), own_line) != answer->end()) {
      return answer->front();
    }
    if (time_left(wait).count() == 0) fail_late(wait, "rank 0 in " + folder.string(), kFix);
    pause(wait, length);
  }
}

/// Removes the files of this rank when the exchange ends, also after an error.
struct Cleanup {
  const Wait& wait;
  const fs::path& folder;

  Cleanup(const Wait& of_wait, const fs::path& of_folder) : wait(of_wait), folder(of_folder) {}
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;
  ~Cleanup() {
    std::error_code ignored;  // a file left behind does no harm
    if (wait.place.rank == 0) {
      fs::remove_all(folder, ignored);
    } else {
      fs::remove(folder / std::to_string(wait.place.rank), ignored);
      fs::remove(folder, ignored);  // fails while other ranks have files in it
    }
  }
};

}  // namespace

std::string share_by_folder(const Wait& wait, const fs::path& folder, const std::string& text) {
  const Cleanup cleanup(wait, folder);
  if (wait.place.rank != 0) return ask(wait, folder);
  answer_all(wait, folder, text);
  return text;
}

}  // namespace trainer::launch
