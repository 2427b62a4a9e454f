// SPDX-License-Identifier: Apache-2.0
#include "distributed/c10d_store.h"

#ifdef TRAINER_HAS_GLOO

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/base/text/format.h"

namespace trainer::dist {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Bytes = std::vector<uint8_t>;

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

class RankZeroStore : public c10d::Store {
 public:
  explicit RankZeroStore(std::shared_ptr<launch::StoreClient> client)
      : client_(std::move(client)) {}

  using c10d::Store::set;
  void set(const std::string& key, const Bytes& value) override {
    client_->set(key, text_of(value));
  }

  using c10d::Store::compareSet;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& value) override {
    return bytes_of(client_->swap(key, text_of(expected), text_of(value)));
  }

  Bytes get(const std::string& key) override { return bytes_of(wait_for(key, timeout_)); }

  int64_t add(const std::string& key, int64_t value) override { return client_->add(key, value); }

  bool deleteKey(const std::string& key) override { return client_->erase(key); }

  bool check(const std::vector<std::string>& keys) override {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const auto& key) { return client_->find(key).has_value(); });
  }

  int64_t getNumKeys() override { return client_->count(); }

  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }

  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    const steady_clock::time_point end = steady_clock::now() + timeout;
    for (const std::string& key : keys) {
      wait_for(key, std::chrono::ceil<milliseconds>(end - steady_clock::now()));
    }
  }

 private:
  std::string wait_for(const std::string& key, milliseconds timeout) {
    constexpr milliseconds kLongest{20};
    const steady_clock::time_point end = steady_clock::now() + timeout;
    for (milliseconds pause{1};; pause = std::min(2 * pause, kLongest)) {
      if (auto value = client_->find(key)) return *value;
      if (steady_clock::now() > end) {
        throw std::runtime_error(fmt::format("no {} in the store of rank 0", in_quotes(key)));
      }
      std::this_thread::sleep_for(pause);
    }
  }

  std::shared_ptr<launch::StoreClient> client_;
};

/// Newer versions of LibTorch require a function that clones the store for other threads. This
/// store is thread-safe, so clone() returns the store itself.
template <class Base>
class Copyable : public Base {
  using Base::Base;
};

template <class Base>
requires requires(Base& store) { store.clone(); }
class Copyable<Base> : public Base {
  using Base::Base;

 public:
  c10::intrusive_ptr<c10d::Store> clone() override {
    return c10::intrusive_ptr<c10d::Store>::unsafe_reclaim_from_nonowning(this);
  }
};

}  // namespace

c10::intrusive_ptr<c10d::Store> as_c10d_store(std::shared_ptr<launch::StoreClient> client) {
  return c10::make_intrusive<Copyable<RankZeroStore>>(std::move(client));
}

}  // namespace trainer::dist

#endif
