#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/device/timed_work.h"

namespace assay {

/// Agreement of the processes that time work together. By default there is only one.
class Meeting {
 public:
  virtual ~Meeting() = default;
  /// Waits for all processes. Returns the bits that are set in each one's `own`.
  virtual unsigned agree(unsigned own) { return own; }
};

/// Work on streams of this process. The launches form graphs where the device has them, and where a
/// graph has each set equally often: it always begins with the first. All streams
/// are blocked until all work of all processes is enqueued, so that no time includes the host's.
///
/// Processes do not wait for ever for one whose call fails: it still meets the others, and a
/// blocked stream ends its blocking by itself. A collective of which one process launched nothing
/// does wait, until the trial's time is over.
class HeldWork final : public TimedWork {
 public:
  /// `streams` are all those on which the kernels work.
  HeldWork(std::span<Stream* const> streams, const LaunchSets& sets,
           std::unique_ptr<Meeting> meeting = std::make_unique<Meeting>());
  ~HeldWork() override;
  HeldWork(const HeldWork&) = delete;
  HeldWork& operator=(const HeldWork&) = delete;

  std::vector<double> time_s(std::int64_t launches, bool cold, std::size_t first_set) override;
  bool was_graph() const override { return graph_ != nullptr; }
  bool was_void() const override { return was_void_; }
  std::optional<double> clock_hz() const override { return clock_hz_; }
  /// Meets the other processes in place of time_s, and so keeps them from launching.
  void decline() { meeting_->agree(0); }

 private:
  struct Interval {
    std::unique_ptr<Event> start;
    std::unique_ptr<Event> stop;
  };
  class BlockedStreams;
  class Turns;

  /// Launches some of the `left` launches out of `launches`: behind a blocked stream a queue holds
  /// only so many. Returns how many, and nothing if another process failed.
  std::optional<std::int64_t> launch_some(std::int64_t launches, std::int64_t left, bool cold);
  /// Makes the graph, flushes and blocks. Returns what this process is ready for.
  unsigned make_ready(std::int64_t launches, bool cold, BlockedStreams& blocked);
  void prepare_graph(std::int64_t launches);
  void enqueue(std::int64_t launches);
  template <class Call>
  void meet_after(const Call& call);

  std::vector<Stream*> streams_;
  std::vector<Interval> intervals_;  // one for each stream
  std::unique_ptr<Turns> turns_;
  std::unique_ptr<Meeting> meeting_;
  std::unique_ptr<Kernel> graph_;  // graph_launches_ launches of turns_; null: a loop
  std::int64_t graph_launches_ = 0;
  int voids_in_a_row_ = 0;
  bool can_be_blocked_ = true;
  // Results of the last time_s.
  bool was_void_ = false;
  std::optional<double> clock_hz_;
};

/// Work on streams of one kind, timed by the process that owns them.
std::unique_ptr<TimedWork> time_together(std::span<Stream* const> streams, const LaunchSets& sets);

}  // namespace assay
