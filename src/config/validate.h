// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/config/load.h"

namespace trainer::config {

/// A combination of keys that is not allowed.
struct Conflict {
  /// The key `loser` is unset if `winner` was set with a higher precedence.
  struct Yield {
    std::string loser;
    std::string winner;
  };

  std::string text;
  std::vector<Yield> yields;
};

/// Finds the combinations of keys that are not allowed. Each rule reports the key that the user
/// would probably change.
class Conflicts {
 public:
  explicit Conflicts(const Loaded& loaded) : loaded_(loaded), config_(loaded.config) {}

  std::vector<Conflict> find() &&;

 private:
  // Returns whether the key was set to another value than the default. A key without an effect is
  // only reported then.
  bool is_changed(const std::string& key) const;
  // Returns whether the key was set to a value that is not empty. If two keys decide the same
  // thing, both count even if one has its default value.
  bool is_written(const std::string& key) const;
  // Returns advice that also works on the command line, where a key of a file can only be unset.
  static std::string remove(const std::string& key);
  void report(const std::string& key, const std::string& problem,
              std::vector<Conflict::Yield> yields = {});
  // Either key is unset if the other one has a higher precedence.
  static std::vector<Conflict::Yield> either(const std::string& key, const std::string& other);
  // The key is unset if one of the others, for whose value it has no effect, has a higher
  // precedence.
  static std::vector<Conflict::Yield> to(const std::vector<std::string>& others,
                                         const std::string& key);

  void check_source();
  void require(const std::string& key, const std::string& value, const std::string& source);
  void check_table();
  void check_targets();
  void check_dates();
  void check_parts();
  void check_time();
  void check_members();
  void check_folds();
  void check_validation_folds();
  void check_idx();
  void check_npy();
  void check_test_pair(const std::string& key, const std::string& features,
                       const std::string& target_key, const std::string& targets);
  void check_split();

  void check_model();
  void check_training();
  bool is_regression() const;
  void check_loss();
  void check_of_task();
  void check_schedule();
  void check_schedule_key(const std::string& leaf, const std::vector<ScheduleName>& of);

  const Loaded& loaded_;
  const Config& config_;
  std::vector<Conflict> problems_;
};

}  // namespace trainer::config
