// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/dist/division.h"
#include "trainer/dist/transport.h"

namespace trainer::dist {

/// The processes that train a run together, as one of them sees it. All of them call the same
/// functions in the same order; each throws Error(kLostProcess) if another one is lost. A process
/// alone has a world too, in which nothing is sent.
class World {
 public:
  World() = default;
  World(int64_t rank, int64_t size, std::unique_ptr<Transport> transport);

  int64_t rank() const { return rank_; }
  int64_t size() const { return size_; }
  bool is_alone() const { return size_ == 1; }
  /// Whether this is the process that writes files and speaks to people.
  bool is_first() const { return rank_ == 0; }

  /// Fills `all`, `[size, mine.size()]`, with what each rank gives. All give as many bytes.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all,
              Patience patience = Patience::kForStep) const;

  /// The same for parts of `all` that begin at bytes `begins`, `[size + 1]`, of which this rank
  /// fills its own before.
  void gather_parts(std::span<std::byte> all, std::span<const std::size_t> begins) const;

  /// The text of each rank.
  std::vector<std::string> gather_texts(const std::string& mine,
                                        Patience patience = Patience::kForStep) const;

  /// Overwrites the bytes of all other ranks with those of rank 0.
  void broadcast(std::span<std::byte> bytes) const;

  /// The text of rank 0.
  std::string broadcast_text(const std::string& text) const;

  /// Adds what the ranks have: of each of its subtrees, `size` floats in `mine`. Writes the sum
  /// over all shards, which has the same bits for any number of ranks, to `out`; that may be one of
  /// `mine`.
  void sum(const Division& division, std::span<float* const> mine, int64_t size, float* out);

  /// Lets the other ranks know why this one ends. Does not throw.
  void announce_failure(const std::string& why) const noexcept;

 private:
  int64_t rank_ = 0;
  int64_t size_ = 1;
  std::unique_ptr<Transport> transport_;  // none if alone
  std::vector<float> received_;           // memory of sum()
};

}  // namespace trainer::dist
