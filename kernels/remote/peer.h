#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/remote/message.h"
#include "kernels/remote/server.h"

namespace assay::remote {

/// A process that serves a device, as rank 0, which drives it, reaches it: by messages, its own
/// device directly.
class Peer {
 public:
  Peer(ProcessGroup& job, int rank) : job_(job), rank_(rank) {}
  Peer(ProcessGroup& job, std::unique_ptr<Server> own)
      : job_(job), rank_(job.rank()), own_(std::move(own)) {}

  int rank() const { return rank_; }
  /// True if served in this process, by the caller of tell: the last one, if several ranks do
  /// something together.
  bool is_own() const { return own_ != nullptr; }

  void tell(const Writer& message) {
    if (before_next_) std::exchange(before_next_, nullptr)();
    ++sent_;
    if (!own_) {
      if (wants_answer(message.command())) questions_.push_back(sent_);
      return job_.send(rank_, message.bytes());
    }
    done_ = sent_;
    if (auto answer = own_->handle(message.bytes())) answers_.push_back(std::move(*answer));
  }
  /// Waits for the results of the oldest message not yet heard. Throws the rank's error.
  std::vector<std::byte> hear();
  std::vector<std::byte> ask(const Writer& message) {
    tell(message);
    return hear();
  }
  /// Calls `wake` before the process is next told something.
  void before_next(std::function<void()> wake) { before_next_ = std::move(wake); }
  bool stands_still() const { return before_next_ != nullptr; }
  /// Waits until the process has done all that it was told. Throws the error of that work.
  void settle() {
    if (done_ != sent_) ask(Writer(Command::settle));
  }

 private:
  ProcessGroup& job_;
  int rank_;
  std::unique_ptr<Server> own_;
  std::deque<std::vector<std::byte>> answers_;  // answers of the own device
  // Messages are handled in their order: who has answered one has done all before it.
  std::uint64_t sent_ = 0;
  std::uint64_t done_ = 0;
  std::deque<std::uint64_t> questions_;  // not yet answered
  std::function<void()> before_next_;
};

/// Calls `body` with the number of each rank and its answer. Hears all, else an answer would be
/// taken for that to the next question. Returns the first error.
template <class Body>
std::exception_ptr hear_all(const std::vector<Peer*>& peers, const Body& body) {
  std::exception_ptr error;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    try {
      const auto answer = peers[i]->hear();
      body(i, Reader(answer));
    } catch (const std::exception&) {
      if (!error) error = std::current_exception();
    }
  }
  return error;
}

}  // namespace assay::remote
