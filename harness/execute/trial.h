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
#include "kernels/ops/op.h"

namespace assay {

/// The inputs of one launch: `inputs[rank][i]`.
using RankInputs = std::vector<std::vector<HostTensor>>;

/// A case on a lane, ready to launch: its tensors on their devices, its kernel bound to them.
class Trial {
 public:
  /// `lane` has the devices of the op: of a collective one, or one for each rank. Throws
  /// DeviceError.
  Trial(const OpInstance& op, Backend& backend, std::span<Device* const> lane);
  /// The same of any op, those that are steps on the placement layer too.
  Trial(const OpInstance& op, std::span<placement::Place* const> lane);

  int ranks() const { return static_cast<int>(ranks_.size()); }
  std::string implementation() const { return kernels_.front()->implementation(); }
  MathMode math_mode() const { return kernels_.front()->math_mode(); }
  /// Empty unless ranks talk to each other; of a scenario known when it was launched.
  std::string transport() const {
    return communicator_ ? communicator_->transport() : kernels_.front()->transport();
  }

  void upload(const RankInputs& inputs);
  /// What stands where nothing was computed. All three differ: an op that runs past its end would
  /// otherwise read a guard and write the same one (a copy does).
  struct Fill {
    std::byte poison;        // in the outputs
    std::byte input_guard;   // around the inputs
    std::byte output_guard;  // around the outputs
  };
  /// Before a judged launch: fresh guards and poisoned outputs.
  void arm(const Fill& fill);

  /// The op overwrites input 0 with its output: it must be restored before each launch whose result
  /// counts.
  bool in_place() const { return in_place_; }
  /// Of an op in place: gives input 0 its content back.
  void restore(const RankInputs& inputs);

  /// Enqueues the op once, asynchronously where the device can.
  void launch() {
    for (const auto& kernel : kernels_) kernel->launch();
  }
  void synchronize();
  /// Seconds of device time that `launches` launches take, the slowest rank's. Cold: with nothing
  /// of the tensors in the devices' caches when they begin. The launches are one graph where the
  /// device has such a thing, and else, if they are few, held back until all are enqueued.
  double time_s(std::int64_t launches, bool cold = false);
  /// How the last time_s launched: "graph" or "loop".
  std::string_view launched_by() const { return graph_ ? "graph" : "loop"; }
  /// Of the device of rank 0, now.
  DeviceCondition condition() const { return first_device_->condition(); }

  void download_output(int rank, HostTensor& to) const;
  /// A rank's output where it lies, if the host can read it there.
  std::optional<std::span<const std::byte>> readable_output(int rank) const;
  /// The index of the first element of a rank's output whose bits are not those of `expected`.
  std::optional<std::size_t> first_difference(int rank, const HostTensor& expected) const;

  /// Where the last launches wrote besides their outputs: a guard band that is not as it was.
  std::optional<std::string> damage() const;
  /// A tensor, or a stream, of another device than the rank's, by what the driver says of it.
  std::optional<std::string> elsewhere() const;
  /// What the launches leave changed for those of other trials; it is put right when this one ends.
  std::optional<std::string> changed_process() const { return before_.changed(); }
  /// An input that is not as it was. Nothing when all is well.
  std::optional<std::string> changed_input(const RankInputs& inputs) const;

 private:
  struct Rank {
    std::string device_uuid;  // where it executes
    std::unique_ptr<Stream> stream;
    std::vector<input::GuardedTensor> inputs;
    std::vector<input::GuardedTensor> outputs;  // none of an op in place
    std::unique_ptr<Event> start;
    std::unique_ptr<Event> stop;
  };

  const input::GuardedTensor& output(const Rank& rank) const {
    return in_place_ ? rank.inputs[0] : rank.outputs[0];
  }

  /// Tensors and streams; what kernels are bound to, and the device of each rank.
  std::vector<Binding> make_ranks(const OpInstance& op, std::span<Device* const> lane,
                                  std::vector<Device*>& executing);
  void make_kernels(const OpInstance& op, Backend& backend, std::span<Device* const> lane,
                    std::span<const Binding> bindings, const std::vector<Device*>& executing);
  void prepare_graph(std::int64_t launches);

  ProcessState before_;
  bool in_place_;
  const Device* first_device_;
  std::vector<Rank> ranks_;
  std::unique_ptr<Communicator> communicator_;  // ends first: it may wait for what a rank does
  /// One of all ranks of a collective, else one each. Last: they refer to all of the above.
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unique_ptr<Kernel> graph_;  // so many launches of the only kernel; null: they are a loop
  std::int64_t graph_launches_ = 0;
};

}  // namespace assay
