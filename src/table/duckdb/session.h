// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "trainer/table/duckdb/query.h"

#include "table/duckdb/c_api.h"

namespace trainer::duckdb {

/// A folder for temporary files that nobody else can look into, in the system's place for them; it
/// is removed with all that is in it.
class PrivateFolder {
 public:
  /// Without one if none can be made.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  /// Empty if there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Something of DuckDB's that has to be destroyed.
template <class T>
class Handle {
 public:
  explicit Handle(void (*destroy)(T**)) : destroy_(destroy) {}
  ~Handle() { reset(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  T* get() const { return pointer_; }
  /// To be filled.
  T** fill() {
    reset();
    return &pointer_;
  }

 private:
  void reset() {
    if (pointer_ != nullptr) destroy_(&pointer_);
    pointer_ = nullptr;
  }

  T* pointer_ = nullptr;
  void (*destroy_)(T**);
};

/// A result, which has to be destroyed too.
class Result {
 public:
  explicit Result(const CApi& api) : api_(api) {}
  ~Result() { api_.destroy_result(&result_); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  CResult* get() { return &result_; }

 private:
  const CApi& api_;
  CResult result_;
};

/// A database in memory with nothing in it, and the one statement at a time that runs there. All
/// functions throw Error(kData) with DuckDB's message behind `name`.
class Session {
 public:
  /// For that statement: with its name, folder and right to read.
  explicit Session(const Statement& statement);

  const std::string& name() const { return name_; }

  /// Runs a statement to its end.
  void run(const std::string& sql);

  /// Throws unless `sql` is one SELECT, with the place of an error in it if that is of use. It is
  /// not run.
  void require_select(const std::string& sql, bool shows_place);

  /// Begins to run a statement; fetch() has its rows.
  void stream(const std::string& sql);

  /// The next rows of the stream, to be destroyed; nullptr at its end.
  CChunk* fetch();

  /// What part of the work is done, in percent; below 0: not known.
  double progress() const { return api_.query_progress(connection_.get()).percentage; }

 private:
  enum class Place { kLeft, kShown };
  [[noreturn]] void fail(const char* message, Place place = Place::kLeft) const;
  void connect();
  void restrict_to_named(const Statement& statement);
  void prepare(const std::string& sql, Place place);

  const CApi& api_;
  std::string name_;
  bool is_of_user_;
  PrivateFolder temporary_;
  // In this order: each needs those before it.
  Handle<CDatabase> database_;
  Handle<CConnection> connection_;
  Handle<CPrepared> prepared_;
  Handle<CPending> pending_;
  std::unique_ptr<Result> stream_;
  bool has_ended_ = false;  // the stream
};

/// The chunks of a session's stream, which a thread fetches while earlier ones are used: DuckDB
/// itself computes a stream in the thread that asks for it.
class ChunkQueue {
 public:
  /// Nobody else may use `session`, which must outlive it, until its end.
  explicit ChunkQueue(Session& session);
  /// Waits for the chunk that is being fetched.
  ~ChunkQueue();
  ChunkQueue(const ChunkQueue&) = delete;
  ChunkQueue& operator=(const ChunkQueue&) = delete;

  /// The next chunk, which the caller destroys; nullptr at the end. Throws as Session::fetch().
  CChunk* next();

 private:
  void fetch_all();

  Session& session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<CChunk*> chunks_;  // guarded, as the next three
  bool has_ended_ = false;
  bool is_wanted_ = true;
  std::exception_ptr error_;
  std::thread thread_;  // the last one: it uses all others
};

/// Where a statement ends: `sql` without the comments, blanks and semicolons behind it.
std::string without_end(std::string_view sql);

/// What stands in quotes in a statement, single or double ones, in that order. Only such texts can
/// name a file.
std::vector<std::string> quoted_texts(std::string_view sql);

}  // namespace trainer::duckdb
