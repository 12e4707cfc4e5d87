#include "kernels/device/held_work.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace assay {
namespace {

/// Enqueueing more than a device's queue holds would wait for the blocked stream.
constexpr std::int64_t max_blocked_launches = 32;
constexpr std::int64_t max_launches_in_graph = 4096;

// Bits on which processes agree.
constexpr unsigned is_well = 1;  // no call has failed
constexpr unsigned has_graph = 2;
constexpr unsigned is_blocked = 4;

/// Kernels that are launched one after the other, each on its own stream.
class KernelGroup final : public Kernel {
 public:
  explicit KernelGroup(std::span<Kernel* const> kernels)
      : kernels_(kernels.begin(), kernels.end()) {}
  void launch() override {
    for (Kernel* kernel : kernels_) kernel->launch();
  }
  std::string implementation() const override { return kernels_.front()->implementation(); }
  bool may_wait() const override { return std::ranges::any_of(kernels_, &Kernel::may_wait); }
  bool streams_wait() const override {
    return std::ranges::any_of(kernels_, &Kernel::streams_wait);
  }

 private:
  std::vector<Kernel*> kernels_;
};

}  // namespace

/// Blocks streams during its lifetime: all or none. A stream that began early would have the
/// enqueueing of the others in its time.
class HeldWork::BlockedStreams {
 public:
  ~BlockedStreams() { unblock(); }
  BlockedStreams() = default;
  BlockedStreams(const BlockedStreams&) = delete;
  BlockedStreams& operator=(const BlockedStreams&) = delete;

  /// True if all streams are blocked.
  bool block(const std::vector<Stream*>& streams) {
    for (Stream* stream : streams) {
      if (!stream->block()) {
        unblock();
        return false;
      }
      blocked_.push_back(stream);
    }
    return true;
  }
  void unblock() {
    for (Stream* stream : blocked_) stream->unblock();
    blocked_.clear();
  }

 private:
  std::vector<Stream*> blocked_;
};

HeldWork::HeldWork(std::span<Stream* const> streams, std::span<Kernel* const> kernels,
                   std::unique_ptr<Meeting> meeting)
    : streams_(streams.begin(), streams.end()),
      group_(kernels.size() > 1 ? std::make_unique<KernelGroup>(kernels) : nullptr),
      kernel_(group_ ? group_.get() : kernels.front()),
      meeting_(std::move(meeting)) {
  for (Stream* stream : streams_) {
    auto start = stream->create_event();
    intervals_.push_back({std::move(start), stream->create_event()});
  }
}

HeldWork::~HeldWork() = default;

std::vector<double> HeldWork::time_s(std::int64_t launches, bool cold) {
  std::vector<double> seconds(streams_.size());
  std::int64_t left = launches;
  do {
    const std::optional<std::int64_t> launched = launch_some(launches, left, cold);
    if (!launched) return seconds;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      seconds[i] += streams_[i]->elapsed_s(*intervals_[i].start, *intervals_[i].stop);
    }
    left -= *launched;
  } while (left > 0);
  return seconds;
}

std::optional<std::int64_t> HeldWork::launch_some(std::int64_t launches, std::int64_t left,
                                                  bool cold) {
  BlockedStreams blocked;
  unsigned ready = 0;
  std::exception_ptr failure;
  try {
    ready = make_ready(launches, cold, blocked);
  } catch (...) {
    failure = std::current_exception();
  }
  const unsigned agreed = meeting_->agree(ready);
  if (failure) std::rethrow_exception(failure);
  if ((agreed & is_well) == 0) return std::nullopt;
  if ((agreed & has_graph) == 0) graph_.reset();
  if ((agreed & is_blocked) == 0) {
    blocked.unblock();
    // The host's part of a launch counts, and must not overlap the flush.
    if (cold) {
      meet_after([&] {
        for (Stream* stream : streams_) stream->synchronize();
      });
    }
    enqueue(left);
    return left;
  }
  if (!graph_) left = std::min(left, max_blocked_launches);
  meet_after([&] { enqueue(left); });
  return left;
}

unsigned HeldWork::make_ready(std::int64_t launches, bool cold, BlockedStreams& blocked) {
  prepare_graph(launches);
  if (cold) {
    for (Stream* stream : streams_) stream->flush_caches();
  }
  const bool may_block = graph_ || !kernel_->may_wait();
  return is_well | (graph_ ? has_graph : 0) |
         (may_block && blocked.block(streams_) ? is_blocked : 0);
}

void HeldWork::prepare_graph(std::int64_t launches) {
  if (launches == graph_launches_) return;
  graph_launches_ = launches;
  graph_.reset();
  if (launches <= 1 || launches > max_launches_in_graph) return;
  graph_ = streams_.front()->as_graph(*kernel_, launches, streams_);
}

void HeldWork::enqueue(std::int64_t launches) {
  for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i]->record(*intervals_[i].start);
  if (graph_) {
    graph_->launch();
  } else {
    for (; launches > 0; --launches) kernel_->launch();
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i]->record(*intervals_[i].stop);
}

/// Meets the other processes also if the call fails: they would wait for ever.
template <class Call>
void HeldWork::meet_after(const Call& call) {
  try {
    call();
  } catch (...) {
    meeting_->agree(0);
    throw;
  }
  meeting_->agree(0);
}

std::unique_ptr<TimedWork> time_together(std::span<Stream* const> streams,
                                         std::span<Kernel* const> kernels) {
  if (auto remote = streams.front()->remote_work(streams, kernels)) return remote;
  return std::make_unique<HeldWork>(streams, kernels);
}

}  // namespace assay
