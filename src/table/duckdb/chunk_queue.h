// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "table/duckdb/c_api.h"
#include "table/duckdb/session.h"

namespace trainer::duckdb {

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

}  // namespace trainer::duckdb
