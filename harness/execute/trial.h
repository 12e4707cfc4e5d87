#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/execute/parents_state.h"
#include "harness/execute/tensor_set.h"
#include "harness/placement/devices.h"
#include "kernels/device/backend.h"
#include "kernels/device/process_state.h"
#include "kernels/device/timed_work.h"
#include "kernels/ops/op.h"

namespace assay {

/// A case on a lane, ready to launch: its tensors on their devices, its kernel bound to them. For
/// timing it gets further sets of tensors, which launches take in turns: no launch equals the one
/// before.
class Trial {
 public:
  /// `lane` has the devices of the op; for a collective, one in all or one for each rank. Throws
  /// DeviceError.
  Trial(const OpInstance& op, Backend& backend, std::span<Device* const> lane);
  /// Accepts any op, also steps on the placement layer.
  Trial(const OpInstance& op, std::span<placement::Place* const> lane);

  const OpInstance& op() const { return op_; }
  int ranks() const { return static_cast<int>(streams_.size()); }
  std::string implementation() const { return kernel().implementation(); }
  std::string wrong_algorithms() const { return kernel().wrong_algorithms(); }
  MathMode math_mode() const { return kernel().math_mode(); }
  /// Empty unless ranks talk to each other. Known for a scenario only after its launch.
  std::string transport() const {
    return communicator_ ? communicator_->transport() : kernel().transport();
  }

  /// Gives the first set, the only one so far, tensors at other addresses, and kernels bound
  /// to them. Does nothing for a scenario.
  void lay(Addresses addresses);
  /// Makes further sets of tensors until there are `count`, or the memory of a device ends. Returns
  /// their number. In-place ops and scenarios have one.
  std::size_t make_sets(std::size_t count);
  std::size_t sets() const { return kernels_.size(); }
  TensorSet& tensors(std::size_t set = 0) { return tensors_[set]; }
  const TensorSet& tensors(std::size_t set = 0) const { return tensors_[set]; }

  using Fill = TensorSet::Fill;
  /// Prepares judged launches: sets fresh guards and poisons the outputs of all sets.
  void arm(const Fill& fill);

  /// True if the op overwrites input 0 with its output: restore it before each launch whose result
  /// counts.
  bool in_place() const { return op_.signature.in_place; }

  /// Launches the op once on the first set, in the way of a timed launch: a kernel cannot tell the
  /// launches that are judged.
  void launch() { time_s(1); }
  void synchronize();
  /// Lets the processes of kernels of others stand still until the next launch.
  void pause() {
    for (Device* device : lane_) device->pause();
  }
  /// The processes that `pause` stops.
  std::vector<pid_t> processes() const;
  /// Device time of `launches` launches in seconds, the slowest rank's. They take the sets in
  /// turns, from `first_set` on. Cold: they begin with none of the tensors in the caches of any
  /// device of the lane.
  double time_s(std::int64_t launches, bool cold = false, std::size_t first_set = 0);
  /// Evicts the contents of the caches of all devices of the lane, and waits for it.
  void flush_caches();
  /// True if each rank of a collective has a device, and so a clock, of its own.
  bool has_clock_of_each_rank() const {
    return op_.op->collective && ranks() > 1 && std::ssize(lane_) == ranks();
  }
  /// Times of all ranks in the last time_s.
  const std::vector<double>& rank_times_s() const { return rank_times_s_; }
  /// Launch mode of the last time_s: "graph" or "loop".
  std::string_view launched_by() const { return timed_->was_graph() ? "graph" : "loop"; }
  /// True if launches of the last time_s may have waited for the host, which then is in its time.
  bool was_void() const { return timed_->was_void(); }
  /// Core clock of the first device during the last time_s, read there; empty if unknown.
  std::optional<double> core_clock_hz() const { return timed_->clock_hz(); }
  /// Launches on the first set, waits, and at once fills an output of rank 0: work that goes on
  /// after its stream has ended writes over it.
  void launch_and_fill(std::byte value, std::size_t output);

  /// Device of rank 0, and its current condition.
  const Device& device() const { return *lane_.front(); }
  /// Power and energy are those of all devices of the lane.
  DeviceCondition condition() const;

  /// Describes a guard band of any set that the last launches wrote to. Empty if all are whole.
  std::optional<std::string> damage() const;
  /// Describes a tensor or stream that the driver places on another device than the rank's.
  std::optional<std::string> elsewhere() const;
  /// Describes process state that the launches changed: here, where the trial restores it at its
  /// end, or in the process of kernels of others.
  std::optional<std::string> changed_process() const;
  /// Describes a changed input of any set. `contents` has the inputs of each set, or those of all.
  std::optional<std::string> changed_input(std::span<const RankInputs> contents) const;

 private:
  /// One kernel for all ranks of a collective, else one for each rank.
  using Kernels = std::vector<std::unique_ptr<Kernel>>;

  const Kernel& kernel() const { return *kernels_.front().front(); }
  void make_streams();
  std::vector<Binding> bindings_of(const TensorSet& tensors) const;
  Kernels prepare(const TensorSet& tensors);
  void flush_bystanders();

  ProcessState before_;
  ParentsState parents_;
  OpInstance op_;
  std::vector<Device*> lane_;
  Addresses addresses_ = Addresses::aligned;
  Backend* backend_ = nullptr;  // that makes kernels; null for a scenario
  /// Devices of the lane that execute nothing, such as the target of a copy, and their streams,
  /// made when first needed.
  std::vector<Device*> bystanders_;
  std::vector<std::unique_ptr<Stream>> bystander_streams_;
  std::vector<Device*> executing_;                // of each rank
  std::vector<std::unique_ptr<Stream>> streams_;  // of each rank
  std::vector<TensorSet> tensors_;                // of each set
  std::unique_ptr<Communicator> communicator_;    // ends before the tensors: may wait for ranks
  std::vector<Kernels> kernels_;                  // of each set; refer to all above
  std::unique_ptr<TimedWork> timed_;              // refers to the kernels; made when first needed
  std::vector<double> rank_times_s_;
};

}  // namespace assay
