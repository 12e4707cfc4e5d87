#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/input/guarded_tensor.h"
#include "kernels/device/device.h"
#include "kernels/ops/op.h"

namespace assay {

/// The inputs of one launch: `inputs[rank][i]`.
using RankInputs = std::vector<std::vector<HostTensor>>;

/// Where tensors begin.
enum class Addresses {
  aligned,  // as memory does
  odd,      // at a multiple of their elements' size, often of no more; inputs end where memory ends
  uneven    // as memory does, but every second one, of inputs and then outputs, an element later
};

/// The tensors of all ranks for one launch, on their devices.
class TensorSet {
 public:
  /// `lane` has the devices of the op; for a collective, one in all or one for each rank. Throws
  /// DeviceError.
  /// Only inputs that stay as they are end where memory ends: a write past the end of others shows
  /// in a guard band.
  TensorSet(const OpInstance& op, std::span<Device* const> lane,
            Addresses addresses = Addresses::aligned);

  /// Bytes where nothing was computed. All three differ: an op that runs past its end, such as a
  /// copy, would otherwise read a guard and write the same one.
  struct Fill {
    std::byte poison;        // in the outputs
    std::byte input_guard;   // around the inputs
    std::byte output_guard;  // around the outputs
  };
  /// Prepares a judged launch: sets fresh guards and poisons outputs.
  void arm(const Fill& fill);

  void upload(const RankInputs& inputs);
  void upload(int rank, int input, const HostTensor& tensor) {
    ranks_[static_cast<std::size_t>(rank)].inputs[static_cast<std::size_t>(input)].upload(tensor);
  }
  /// Restores the content of input 0 of an in-place op.
  void restore(const RankInputs& inputs);
  using WrittenRuns = std::span<const input::GuardedTensor::Run<const std::byte>>;
  /// Replaces runs of an input.
  void overwrite_input(int rank, int input, WrittenRuns runs);
  /// Replaces runs of an output; only of a rank that has one.
  void overwrite_output(int rank, WrittenRuns runs);

  /// Only of a rank that has an output.
  const input::GuardedTensor& output(int rank, std::size_t output = 0) const;
  /// A binding of a rank, without its stream.
  Binding binding(int rank) const;

  /// Describes a guard band that launches wrote to. Empty if all are whole.
  std::optional<std::string> damage() const;
  /// Describes a tensor that the driver places on another device than its own.
  std::optional<std::string> elsewhere() const;
  /// Describes a changed input. Empty if none changed.
  std::optional<std::string> changed_input(const RankInputs& inputs) const;

 private:
  struct Rank {
    std::vector<input::GuardedTensor> inputs;
    std::vector<input::GuardedTensor> outputs;  // none for an op in place
  };

  bool has_output(int rank) const { return output_rank_ < 0 || output_rank_ == rank; }

  bool in_place_;
  int output_rank_;
  std::vector<Rank> ranks_;
};

/// Device of the lane that executes a rank. The source executes a copy between devices.
Device& executing_device(const OpInstance& op, std::span<Device* const> lane, int rank);

}  // namespace assay
