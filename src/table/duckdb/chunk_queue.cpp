// SPDX-License-Identifier: Apache-2.0
#include "table/duckdb/chunk_queue.h"

#include <cstddef>

namespace trainer::duckdb {
namespace {

constexpr size_t kMaxChunks = 32;  // of 2,048 rows

}  // namespace

ChunkQueue::ChunkQueue(Session& session) : session_(session), thread_([this] { fetch_all(); }) {}

ChunkQueue::~ChunkQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_wanted_ = false;
  }
  changed_.notify_all();
  thread_.join();
  for (CChunk* chunk : chunks_) c_api().destroy_data_chunk(&chunk);
}

CChunk* ChunkQueue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !chunks_.empty() || has_ended_; });
  if (chunks_.empty()) {
    if (error_) std::rethrow_exception(error_);
    return nullptr;
  }
  CChunk* chunk = chunks_.front();
  chunks_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return chunk;
}

void ChunkQueue::fetch_all() {
  CChunk* chunk = nullptr;
  std::exception_ptr error;
  do {
    try {
      chunk = session_.fetch();
    } catch (...) {
      chunk = nullptr;
      error = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    if (chunk != nullptr) {
      chunks_.push_back(chunk);
    } else {
      has_ended_ = true;
      error_ = error;
    }
    changed_.notify_all();
    changed_.wait(lock, [&] { return chunks_.size() < kMaxChunks || !is_wanted_; });
    if (!is_wanted_) return;
  } while (chunk != nullptr);
}

}  // namespace trainer::duckdb
