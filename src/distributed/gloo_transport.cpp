// SPDX-License-Identifier: Apache-2.0
// Gloo reports that a connection was closed, but not to which rank, and each rank that leaves
// closes connections too. So when a rank is lost, every rank that notices marks itself as present
// in the store, closes its own connections, by which the others notice, and waits a moment for the
// marks of all others: a rank without a mark is lost. A rank that ends by an error has stored its
// message before. Rank 0 hosts the store: if the store does not answer, rank 0 is lost.
#include "distributed/gloo_transport.h"

#ifdef TRAINER_HAS_GLOO

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/distributed/rank_text.h"

namespace trainer::dist {
namespace {

// A rank that writes a file, or whose machine is busy, may notice late. So the limit is longer if
// several ranks do not answer. With two ranks it is short, because only the other one can be lost.
constexpr double kRollCallSeconds = 2;
constexpr double kOfSeveralSeconds = 10;
constexpr double kOfTwoSeconds = 0.3;
constexpr std::chrono::milliseconds kPause{10};
constexpr std::chrono::milliseconds kStorePatience{2000};
constexpr const char* kYes = "yes";
// The most messages between two ranks in one exchange, each with its own tag.
constexpr int kMaxMessages = 64;
constexpr int kMaxTag = 1 << 30;  // above it, tags start again from 0

class GlooTransport : public Transport {
 public:
  explicit GlooTransport(GlooGroup group) : group_(std::move(group)) {}

  std::string name() const override { return "Gloo"; }

  Error lost(const std::string& reason, Patience patience) override {
    const std::string missing = call_roll();
    // Before the first step, nothing can be resumed.
    const char* what_next =
        patience == Patience::kForStep ? " and can be resumed, with any number of processes" : "";
    return {ErrorKind::kLostProcess,
            fmt::format("lost {}; the run ends here{} ({})", missing, what_next, reason)};
  }

  void mark_dead(int64_t rank) noexcept override {
    try {
      group_.store.set("dead", rank, kYes);
    } catch (const std::exception&) {
      return;  // the other ranks find out without this entry
    }
  }

  void announce_failure(const std::string& why) noexcept override {
    try {
      group_.store.set("failed", group_.rank, why);
      group_.store.set("named", group_.rank, kYes);
      close();
      if (group_.rank == 0) keep_store_open(Others::kAll);
    } catch (...) {
      return;  // the other ranks find out without this entry
    }
  }

 private:
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;

  void start_next(std::span<const Message> sent, std::span<const Message> received) override {
    if (group_.group == nullptr) throw lost("another rank was lost before", Patience::kForStep);
    try {
      Works works;
      for (const Message& message : received) {
        start(message, received, works, [&](auto& tensors, int rank, int tag) {
          return group_.group->recv(tensors, rank, tag);
        });
      }
      for (const Message& message : sent) {
        start(message, sent, works, [&](auto& tensors, int rank, int tag) {
          return group_.group->send(tensors, rank, tag);
        });
      }
      first_tag_ = first_tag_ == kMaxTag ? 0 : first_tag_ + kMaxMessages;
      pending_.push_back(std::move(works));
    } catch (const std::exception& error) {
      throw lost(reason_of(error), Patience::kForStep);
    }
  }

  void finish_oldest(Patience patience) override {
    const Stopwatch stopwatch;
    const std::chrono::milliseconds limit = limit_of(patience);
    try {
      for (const auto& work : pending_.front()) {
        if (!work->wait(limit)) throw std::runtime_error("an operation was aborted");
      }
      pending_.pop_front();
    } catch (const std::exception& error) {
      const bool is_late = in_milliseconds(stopwatch.seconds()) >= limit;
      throw lost(is_late ? no_answer_within(limit) : reason_of(error), patience);
    }
  }

  // Other ranks may wait only for this one and not notice a lost rank, so this one closes its
  // connections. Pending messages would keep them open.
  void close() {
    pending_.clear();
    group_.group.reset();
  }

  std::chrono::milliseconds limit_of(Patience patience) const {
    return patience == Patience::kForStep ? group_.timeout : group_.start_timeout;
  }

  // The tag distinguishes the messages to one rank: it contains the index among them.
  template <class Start>
  void start(const Message& message, std::span<const Message> all, Works& works,
             const Start& start) {
    if (message.num_bytes == 0) return;
    const auto index = std::count_if(
        all.data(), &message, [&](const Message& other) { return other.rank == message.rank; });
    std::vector<at::Tensor> tensors = {at::from_blob(
        message.data, {static_cast<int64_t>(message.num_bytes)}, at::TensorOptions(at::kByte))};
    works.push_back(
        start(tensors, static_cast<int>(message.rank), first_tag_ + static_cast<int>(index)));
  }

  std::string name_of(int64_t rank) const {
    return fmt::format("rank {} ({})", rank, group_.hosts[static_cast<std::size_t>(rank)]);
  }

  // Returns which ranks are lost, and why if that is known.
  std::string call_roll() {
    try {
      // If the connection to the store is cut, other calls would wait as long as the start may
      // take.
      group_.store.require_answer(kStorePatience);
      group_.store.set("present", group_.rank, kYes);
      close();
      std::string lost = wait_for_answers();
      group_.store.set("named", group_.rank, kYes);
      if (group_.rank == 0) keep_store_open(Others::kPresent);
      return lost;
    } catch (const std::exception&) {
      close();
      return name_of(0);
    }
  }

  /// The entries of the other ranks in the store.
  struct Answers {
    std::string failure;  // name and message of a rank that has ended by an error
    std::vector<std::string> missing;
    std::vector<std::string> dead;  // those of `missing` whose process is known to have ended
  };

  Answers read_answers() {
    Answers answers;
    for (int64_t r = 0; r < size() && answers.failure.empty(); ++r) {
      if (const auto why = group_.store.find("failed", r)) {
        answers.failure = fmt::format("{}, which ended with: {}", name_of(r), shown(*why));
      }
      if (group_.store.has("present", r)) continue;
      answers.missing.push_back(name_of(r));
      if (group_.store.has("dead", r)) answers.dead.push_back(name_of(r));
    }
    return answers;
  }

  std::string wait_for_answers() {
    const Stopwatch stopwatch;
    while (true) {
      const Answers answers = read_answers();
      if (!answers.failure.empty()) return answers.failure;
      if (answers.missing.empty()) {
        return "the connection to another rank, though all are still there";
      }
      if (!answers.dead.empty()) return joined(answers.dead, " and ");
      double limit = answers.missing.size() > 1 ? kOfSeveralSeconds : kRollCallSeconds;
      if (size() == 2) limit = kOfTwoSeconds;
      if (stopwatch.seconds() > limit) return joined(answers.missing, " and ");
      std::this_thread::sleep_for(kPause);
    }
  }

  enum class Others { kPresent, kAll };

  // Rank 0 hosts the store, so it waits until all other ranks, or those that are present, have read
  // what they need.
  void keep_store_open(Others others) {
    const Stopwatch stopwatch;
    const auto is_waiting = [&] {
      for (int64_t r = 0; r < size(); ++r) {
        const bool is_expected = others == Others::kAll || group_.store.has("present", r);
        if (is_expected && !group_.store.has("named", r)) return true;
      }
      return false;
    };
    while (is_waiting() && stopwatch.seconds() < kRollCallSeconds) {
      std::this_thread::sleep_for(kPause);
    }
  }

  int64_t size() const { return std::ssize(group_.hosts); }

  GlooGroup group_;
  std::deque<Works> pending_;  // one for each exchange that is not finished
  int first_tag_ = 0;          // first tag of the next exchange
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
  // Removes the position from messages like "[./gloo/transport/tcp/pair.cc:589] Read error ...".
  if (text.starts_with("[") && text.find("] ") != std::string::npos) {
    text = text.substr(text.find("] ") + 2);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace trainer::dist

#endif
