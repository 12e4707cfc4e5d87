#include "harness/ab/paired_workers.h"

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace assay::ab {
namespace {

/// Bounds a wait: a signal that arrives just before it does not end it.
constexpr long max_wait_ms = 200;

void wait(const Lane& lane) {
  std::vector<pollfd> polled;
  lane.add_descriptors(polled);
  const Deadline deadline = lane.deadline().value_or(after(1));
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  poll(polled.data(), polled.size(),
       static_cast<int>(std::clamp<long>(left.count(), 0, max_wait_ms)));
}

/// Stops a lane's worker during its lifetime: threads that wait for work spin on the cores for a
/// while.
class Held {
 public:
  explicit Held(Lane& lane) : lane_(lane), stands_still_(lane.hold()) {}
  ~Held() { lane_.go_on(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  bool stands_still() const { return stands_still_; }

 private:
  Lane& lane_;
  bool stands_still_;
};

}  // namespace

PairedWorkers::PairedWorkers(const std::vector<DeviceId>& lane,
                             const std::vector<std::string>& uuids,
                             const Both<WorkerCommand>& commands, double timeout_s)
    : lanes_{Lane(lane, commands.base, timeout_s), Lane(lane, commands.cand, timeout_s)} {
  for (const Side side : {Side::base, Side::cand}) lanes_[side].expect(uuids);
}

bool PairedWorkers::work(Side side, std::optional<Result>& result,
                         const std::function<bool()>& interrupted) {
  Lane& lane = lanes_[side];
  while (!lane.waits_for_turn()) {
    if (interrupted()) return false;
    result = lane.step();
    if (result) return true;
    if (!lane.waits_for_turn()) wait(lane);
  }
  return true;
}

std::optional<Both<Result>> PairedWorkers::measure(const PlannedTrial& trial, Side first,
                                                   const std::function<bool()>& interrupted) {
  Both<std::optional<Result>> results;
  for (const Side side : {first, other(first)}) {
    if (const auto& gone = lanes_[side].given_up()) {
      results[side] = ended_as(gone->status, gone->reason);
      continue;
    }
    lanes_[side].give(trial);
    if (!work(side, results[side], interrupted)) return std::nullopt;
  }
  for (const Side side : {first, other(first)}) {
    if (results[side]) continue;  // ended before timing
    const Held held(lanes_[other(side)]);
    lanes_[side].grant_turn();
    if (!work(side, results[side], interrupted)) return std::nullopt;
    if (!held.stands_still()) results[side]->record.contended = true;
  }
  return Both<Result>{std::move(*results.base), std::move(*results.cand)};
}

}  // namespace assay::ab
