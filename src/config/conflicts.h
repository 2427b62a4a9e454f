// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/config/load.h"

namespace trainer::config {

/// A combination of keys that is no configuration.
struct Conflict {
  /// A key that gives way to the other if that one has a higher precedence.
  struct Yield {
    std::string loser;
    std::string winner;
  };

  std::string text;
  std::vector<Yield> yields;
};

/// Collects the problems of combinations; each rule names the key that the user would change.
/// Implemented in validate.cpp, what is about `data` in validate_data.cpp.
class Conflicts {
 public:
  explicit Conflicts(const Loaded& loaded) : loaded_(loaded), config_(loaded.config) {}

  std::vector<Conflict> find() &&;

 private:
  // What has no effect harms nobody where it says what is so anyway.
  bool is_changed(const std::string& key) const;
  // Of two answers to one question both count, be one the default.
  bool is_written(const std::string& key) const;
  // Nothing can be removed on a command line.
  static std::string remove(const std::string& key);
  void report(const std::string& key, const std::string& problem,
              std::vector<Conflict::Yield> yields = {});
  // Either of two keys can win.
  static std::vector<Conflict::Yield> either(const std::string& key, const std::string& other);
  // The key has no effect for some values of the others.
  static std::vector<Conflict::Yield> to(const std::vector<std::string>& others,
                                         const std::string& key);

  void check_source();
  void require(const std::string& key, const std::string& value, const std::string& source);
  void check_table();
  void check_targets();
  void check_dates();
  void check_parts();
  void check_time();
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
