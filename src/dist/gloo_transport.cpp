// SPDX-License-Identifier: Apache-2.0
// Gloo says that a connection was closed, but not whose, and each rank that leaves closes
// connections too. So when one is lost, every rank that notices says in the store that it is there,
// closes its own connections, by which the others notice, and waits a moment for all others to say
// the same: who does not is lost. A rank that ends by an error
// has left a note there before. Rank 0 hosts the store: without an answer, it is the lost one.
#include "dist/gloo_transport.h"

#ifdef TRAINER_HAS_GLOO

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/core/error.h"
#include "trainer/core/format.h"
#include "trainer/core/stopwatch.h"

namespace trainer::dist {
namespace {

// A rank on a busy machine may notice late. Of two ranks, it can only be the other one.
constexpr double kRollCallSeconds = 2;
constexpr double kOfTwoSeconds = 0.3;
constexpr std::chrono::milliseconds kPause{10};
constexpr int kMaxMessages = 64;  // between two ranks in one exchange: a tag for each
constexpr int kMaxTag = 1 << 30;  // then they begin again

class GlooTransport : public Transport {
 public:
  explicit GlooTransport(GlooGroup group) : group_(std::move(group)) {}

  void exchange(std::span<const Message> sent, std::span<const Message> received,
                Patience patience) override {
    const auto limit = patience == Patience::kForStep ? group_.timeout : group_.start_timeout;
    if (group_.group == nullptr) throw lost("another rank was lost before", limit);
    try {
      std::vector<c10::intrusive_ptr<c10d::Work>> pending;
      const int first_tag = next_tag_;
      for (const Message& message : received) {
        start(message, first_tag, received, pending, [&](auto& tensors, int rank, int tag) {
          return group_.group->recv(tensors, rank, tag);
        });
      }
      for (const Message& message : sent) {
        start(message, first_tag, sent, pending, [&](auto& tensors, int rank, int tag) {
          return group_.group->send(tensors, rank, tag);
        });
      }
      next_tag_ = first_tag == kMaxTag ? 0 : first_tag + kMaxMessages;
      for (const auto& work : pending) {
        if (!work->wait(limit)) throw std::runtime_error("an operation was aborted");
      }
    } catch (const std::exception& error) {
      throw lost(reason_of(error), limit);
    }
  }

  void announce_failure(const std::string& why) noexcept override {
    try {
      set(key("failed", group_.rank), why);
      // Rank 0 hosts the store: the others need a moment to read it.
      if (group_.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    } catch (...) {
      return;  // the others find out without it
    }
  }

 private:
  // The tag tells the messages to one rank apart: their index among them.
  template <class Start>
  void start(const Message& message, int first_tag, std::span<const Message> all,
             std::vector<c10::intrusive_ptr<c10d::Work>>& pending, const Start& start) {
    if (message.num_bytes == 0) return;
    const auto index = std::count_if(
        all.data(), &message, [&](const Message& other) { return other.rank == message.rank; });
    std::vector<at::Tensor> tensors = {at::from_blob(
        message.data, {static_cast<int64_t>(message.num_bytes)}, at::TensorOptions(at::kByte))};
    pending.push_back(
        start(tensors, static_cast<int>(message.rank), first_tag + static_cast<int>(index)));
  }

  static std::string key(const char* what, int64_t rank) {
    return fmt::format("trainer/{}/{}", what, rank);
  }

  void set(const std::string& name, const std::string& value) {
    group_.store->set(name, std::vector<uint8_t>(value.begin(), value.end()));
  }

  std::optional<std::string> get(const std::string& name) {
    if (!group_.store->check({name})) return std::nullopt;
    const std::vector<uint8_t> value = group_.store->get(name);
    return std::string(value.begin(), value.end());
  }

  Error lost(const std::string& reason, std::chrono::milliseconds limit) {
    const std::string missing = call_roll();
    return {
        ErrorKind::kLostProcess,
        fmt::format("lost {}; the run ends here and can be resumed, with any number of "
                    "processes ({}, waited up to {})",
                    missing, reason, human_duration(std::chrono::duration<double>(limit).count()))};
  }

  std::string name_of(int64_t rank) const {
    return fmt::format("rank {} ({})", rank, group_.hosts[static_cast<std::size_t>(rank)]);
  }

  // Who is lost, and why if that is known.
  std::string call_roll() {
    try {
      set(key("present", group_.rank), "yes");
      // Others may wait for this rank only, and see nothing of the lost one.
      group_.group.reset();
      std::string lost = wait_for_answers();
      set(key("named", group_.rank), "yes");
      if (group_.rank == 0) keep_store_open();
      return lost;
    } catch (const std::exception&) {
      return name_of(0);
    }
  }

  std::string wait_for_answers() {
    std::vector<std::string> missing;
    const Stopwatch stopwatch;
    do {
      missing.clear();
      for (int64_t r = 0; r < size(); ++r) {
        if (const auto why = get(key("failed", r))) {
          return fmt::format("{}, which ended with: {}", name_of(r), *why);
        }
        if (!is_set("present", r)) missing.push_back(name_of(r));
      }
      if (missing.empty()) return "the connection to another rank, though all are still there";
      std::this_thread::sleep_for(kPause);
    } while (stopwatch.seconds() < (size() == 2 ? kOfTwoSeconds : kRollCallSeconds));
    return joined(missing, " and ");
  }

  // Until the other ranks that are there have what they need.
  void keep_store_open() {
    const Stopwatch stopwatch;
    const auto is_waiting = [&] {
      for (int64_t r = 0; r < size(); ++r) {
        if (is_set("present", r) && !is_set("named", r)) return true;
      }
      return false;
    };
    while (is_waiting() && stopwatch.seconds() < kRollCallSeconds) {
      std::this_thread::sleep_for(kPause);
    }
  }

  int64_t size() const { return std::ssize(group_.hosts); }
  bool is_set(const char* what, int64_t rank) { return group_.store->check({key(what, rank)}); }

  GlooGroup group_;
  int next_tag_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_gloo_transport(GlooGroup group) {
  return std::make_unique<GlooTransport>(std::move(group));
}

std::string reason_of(const std::exception& error) {
  std::string text = error.what();
  for (const char* end : {"\nException raised", "\nframe #", " (function "}) {
    text.resize(std::min(text.size(), text.find(end)));
  }
  // "[./gloo/transport/tcp/pair.cc:589] Read error ..."
  if (text.starts_with("[") && text.find("] ") != std::string::npos) {
    text = text.substr(text.find("] ") + 2);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace trainer::dist

#endif
