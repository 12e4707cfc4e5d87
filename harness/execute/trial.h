#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/execute/process_state.h"
#include "harness/input/guarded_tensor.h"
#include "harness/placement/devices.h"
#include "kernels/device/backend.h"
#include "kernels/device/timed_work.h"
#include "kernels/ops/op.h"

namespace assay {

/// The inputs of one launch: `inputs[rank][i]`.
using RankInputs = std::vector<std::vector<HostTensor>>;

/// A case on a lane, ready to launch: its tensors on their devices, its kernel bound to them.
class Trial {
 public:
  /// `lane` has the devices of the op; for a collective, one in all or one for each rank. Throws
  /// DeviceError.
  Trial(const OpInstance& op, Backend& backend, std::span<Device* const> lane);
  /// Accepts any op, also steps on the placement layer.
  Trial(const OpInstance& op, std::span<placement::Place* const> lane);

  int ranks() const { return static_cast<int>(ranks_.size()); }
  std::string implementation() const { return kernels_.front()->implementation(); }
  std::string wrong_algorithms() const { return kernels_.front()->wrong_algorithms(); }
  MathMode math_mode() const { return kernels_.front()->math_mode(); }
  /// Empty unless ranks talk to each other. Known for a scenario only after its launch.
  std::string transport() const {
    return communicator_ ? communicator_->transport() : kernels_.front()->transport();
  }

  void upload(const RankInputs& inputs);
  /// Bytes where nothing was computed. All three differ: an op that runs past its end, such as a
  /// copy, would otherwise read a guard and write the same one.
  struct Fill {
    std::byte poison;        // in the outputs
    std::byte input_guard;   // around the inputs
    std::byte output_guard;  // around the outputs
  };
  /// Prepares a judged launch: sets fresh guards and poisons outputs.
  void arm(const Fill& fill);

  /// True if the op overwrites input 0 with its output: restore it before each launch whose result
  /// counts.
  bool in_place() const { return in_place_; }
  /// Restores the content of input 0 of an in-place op.
  void restore(const RankInputs& inputs);

  /// Enqueues the op once, asynchronously where the device can.
  void launch() {
    for (const auto& kernel : kernels_) kernel->launch();
  }
  void synchronize();
  /// Device time of `launches` launches in seconds, the slowest rank's. Cold: they begin with none
  /// of the tensors in the caches of any device of the lane.
  double time_s(std::int64_t launches, bool cold = false);
  /// Times of all ranks in the last time_s.
  const std::vector<double>& rank_times_s() const { return rank_times_s_; }
  /// Launch mode of the last time_s: "graph" or "loop".
  std::string_view launched_by() const { return timed_->was_graph() ? "graph" : "loop"; }
  /// Current condition of the device of rank 0.
  DeviceCondition condition() const { return first_device_->condition(); }

  void download_output(int rank, HostTensor& to) const;
  /// A rank's output in place, if the host can read it there.
  std::optional<std::span<const std::byte>> readable_output(int rank) const;
  /// Index of the first element of a rank's output whose bits differ from `expected`.
  std::optional<std::size_t> first_difference(int rank, const HostTensor& expected) const;

  /// Describes a guard band that the last launches wrote to. Empty if all are whole.
  std::optional<std::string> damage() const;
  /// Describes a tensor or stream that the driver places on another device than the rank's.
  std::optional<std::string> elsewhere() const;
  /// Describes process state that the launches changed. The trial restores it at its end.
  std::optional<std::string> changed_process() const { return before_.changed(); }
  /// Describes a changed input. Empty if none changed.
  std::optional<std::string> changed_input(const RankInputs& inputs) const;

 private:
  struct Rank {
    std::string device_uuid;  // executing device
    std::unique_ptr<Stream> stream;
    std::vector<input::GuardedTensor> inputs;
    std::vector<input::GuardedTensor> outputs;  // none for an op in place
  };

  const input::GuardedTensor& output(const Rank& rank) const {
    return in_place_ ? rank.inputs[0] : rank.outputs[0];
  }

  /// Makes tensors and streams. Returns the kernels' bindings; `executing` gets the device of each
  /// rank.
  std::vector<Binding> make_ranks(const OpInstance& op, std::span<Device* const> lane,
                                  std::vector<Device*>& executing);
  void make_kernels(const OpInstance& op, Backend& backend, std::span<Device* const> lane,
                    std::span<const Binding> bindings, const std::vector<Device*>& executing);
  void flush_bystanders();

  ProcessState before_;
  bool in_place_;
  const Device* first_device_;
  /// Devices of the lane that execute nothing, such as the target of a copy, and their streams,
  /// made when first needed.
  std::vector<Device*> bystanders_;
  std::vector<std::unique_ptr<Stream>> bystander_streams_;
  std::vector<Rank> ranks_;
  std::unique_ptr<Communicator> communicator_;  // ends first: may wait for ranks
  /// One kernel for all ranks of a collective, else one for each rank. Refers to all above.
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unique_ptr<TimedWork> timed_;  // refers to the kernels; made when first needed
  std::vector<double> rank_times_s_;
};

}  // namespace assay
