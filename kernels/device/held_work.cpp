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
/// A single void may mean a busy host. After several, blocked work must be waiting for the device.
constexpr int max_voids_in_a_row = 3;

// Bits on which processes agree.
constexpr unsigned is_well = 1;  // no call has failed
constexpr unsigned has_graph = 2;
constexpr unsigned is_blocked = 4;

}  // namespace

/// The sets as one kernel: each launch is that of the next set.
class HeldWork::Turns final : public Kernel {
 public:
  explicit Turns(LaunchSets sets) : sets_(std::move(sets)) {}
  void begin_with(std::size_t set) { next_ = set; }
  std::size_t sets() const { return sets_.size(); }

  void launch() override {
    for (Kernel* kernel : sets_[next_]) kernel->launch();
    next_ = (next_ + 1) % sets_.size();
  }
  std::string implementation() const override { return one().front()->implementation(); }
  // Sets differ in their tensors alone.
  bool may_wait() const override { return std::ranges::any_of(one(), &Kernel::may_wait); }
  bool streams_wait() const override { return std::ranges::any_of(one(), &Kernel::streams_wait); }
  bool may_stray() const override { return std::ranges::any_of(one(), &Kernel::may_stray); }

 private:
  const std::vector<Kernel*>& one() const { return sets_.front(); }

  LaunchSets sets_;
  std::size_t next_ = 0;
};

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

HeldWork::HeldWork(std::span<Stream* const> streams, const LaunchSets& sets,
                   std::unique_ptr<Meeting> meeting)
    : streams_(streams.begin(), streams.end()),
      turns_(std::make_unique<Turns>(sets)),
      meeting_(std::move(meeting)) {
  for (Stream* stream : streams_) {
    auto start = stream->create_event();
    intervals_.push_back({std::move(start), stream->create_event()});
  }
}

HeldWork::~HeldWork() = default;

std::vector<double> HeldWork::time_s(std::int64_t launches, bool cold, std::size_t first_set) {
  turns_->begin_with(first_set);
  std::vector<double> seconds(streams_.size());
  std::int64_t left = launches;
  was_void_ = false;
  for (Stream* stream : streams_) stream->take_lapse();  // of work that was not timed
  do {
    const std::optional<std::int64_t> launched = launch_some(launches, left, cold);
    if (!launched) return seconds;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      seconds[i] += streams_[i]->elapsed_s(*intervals_[i].start, *intervals_[i].stop);
      was_void_ = streams_[i]->take_lapse() || was_void_;
    }
    left -= *launched;
  } while (left > 0);
  voids_in_a_row_ = was_void_ ? voids_in_a_row_ + 1 : 0;
  can_be_blocked_ = can_be_blocked_ && voids_in_a_row_ < max_voids_in_a_row;
  clock_hz_ = launches > 0 && streams_.size() == 1 ? streams_.front()->clock_hz() : std::nullopt;
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
  const bool may_block = can_be_blocked_ && (graph_ || !turns_->may_wait());
  return is_well | (graph_ ? has_graph : 0) |
         (may_block && blocked.block(streams_) ? is_blocked : 0);
}

void HeldWork::prepare_graph(std::int64_t launches) {
  if (launches == graph_launches_) return;
  graph_launches_ = launches;
  graph_.reset();
  if (launches <= 1 || launches > max_launches_in_graph) return;
  if (launches % static_cast<std::int64_t>(turns_->sets()) != 0) return;
  turns_->begin_with(0);
  graph_ = streams_.front()->as_graph(*turns_, launches, streams_);
}

void HeldWork::enqueue(std::int64_t launches) {
  // Reads it for one stream alone: with others its work would begin later than theirs.
  const bool reads_clock = launches > 0 && streams_.size() == 1;
  if (reads_clock) streams_.front()->begin_clock();
  for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i]->record(*intervals_[i].start);
  if (graph_) {
    graph_->launch();
  } else {
    for (; launches > 0; --launches) turns_->launch();
  }
  if (turns_->may_stray()) {
    for (Stream* stream : streams_) stream->await_all();
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) streams_[i]->record(*intervals_[i].stop);
  if (reads_clock) streams_.front()->end_clock();
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

std::unique_ptr<TimedWork> time_together(std::span<Stream* const> streams, const LaunchSets& sets) {
  if (auto remote = streams.front()->remote_work(streams, sets)) return remote;
  return std::make_unique<HeldWork>(streams, sets);
}

}  // namespace assay
