#include "harness/execute/tensor_set.h"

#include <cstdint>

#include "harness/oracle/verdict.h"
#include "kernels/ops/offers.h"

namespace assay {
namespace {

/// Ranks of a collective are devices, or share one. Other ops name the device of each tensor.
Device& holder(const OpInstance& op, std::span<Device* const> lane, int rank,
               const TensorSpec& spec) {
  const int place = op.op->collective && lane.size() > 1 ? rank : spec.device;
  return *lane[static_cast<std::size_t>(place)];
}

std::string tensor_name(const char* kind, std::size_t i, std::size_t rank, std::size_t ranks) {
  return std::string(kind) + " " + std::to_string(i) +
         oracle::of_rank(static_cast<std::int64_t>(rank), static_cast<int>(ranks));
}

/// Libraries' matrix products on GPUs take vectors of 16 bytes, and so do copies that measure links
/// and memory, which nobody else's kernels are put in the place of.
bool needs_alignment(const OpInstance& op, const Device& device) {
  const bool is_matrix_product =
      op.signature.factors_per_term > 1 && op.signature.outputs[0].shape.size() > 1;
  return !device.is_readable_by_host() && (is_matrix_product || !may_be_offered(*op.op));
}

/// Layout of a tensor at a place among the inputs and then the outputs.
input::Layout layout_of(const OpInstance& op, const Device& device, Addresses addresses,
                        std::size_t place, bool is_output) {
  if (addresses == Addresses::aligned) return input::Layout::aligned;
  if (addresses == Addresses::odd && device.has_fences() && !is_output)
    return input::Layout::fenced;
  const bool is_shifted = addresses == Addresses::odd || place % 2 != 0;
  return is_shifted && !needs_alignment(op, device) ? input::Layout::shifted
                                                    : input::Layout::aligned;
}

}  // namespace

Device& executing_device(const OpInstance& op, std::span<Device* const> lane, int rank) {
  const RankTensors tensors = tensors_of(op.signature, rank);
  return holder(op, lane, rank, tensors.inputs.empty() ? TensorSpec{} : tensors.inputs.front());
}

TensorSet::TensorSet(const OpInstance& op, std::span<Device* const> lane, Addresses addresses)
    : in_place_(op.signature.in_place), output_rank_(op.signature.output_rank) {
  for (int rank = 0; rank < op.signature.ranks; ++rank) {
    const RankTensors tensors = tensors_of(op.signature, rank);
    Rank& r = ranks_.emplace_back();
    const auto add = [&](std::vector<input::GuardedTensor>& to, const TensorSpec& spec,
                         bool is_output) {
      Device& device = holder(op, lane, rank, spec);
      const std::size_t place = r.inputs.size() + r.outputs.size();
      to.emplace_back(device, spec, layout_of(op, device, addresses, place, is_output));
    };
    for (const TensorSpec& spec : tensors.inputs)
      add(r.inputs, spec, in_place_ && r.inputs.empty());
    for (const TensorSpec& spec : tensors.outputs) {
      if (!in_place_) add(r.outputs, spec, true);
    }
  }
}

const input::GuardedTensor& TensorSet::output(int rank, std::size_t output) const {
  const Rank& r = ranks_[static_cast<std::size_t>(rank)];
  return in_place_ ? r.inputs[0] : r.outputs[output];
}

Binding TensorSet::binding(int rank) const {
  const Rank& r = ranks_[static_cast<std::size_t>(rank)];
  Binding binding;
  for (const auto& tensor : r.inputs) binding.inputs.push_back(tensor.data());
  if (in_place_) binding.outputs.push_back(r.inputs[0].data());
  for (const auto& tensor : r.outputs) binding.outputs.push_back(tensor.data());
  return binding;
}

void TensorSet::upload(const RankInputs& inputs) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (std::size_t i = 0; i < ranks_[rank].inputs.size(); ++i) {
      ranks_[rank].inputs[i].upload(inputs[rank][i]);
    }
  }
}

void TensorSet::restore(const RankInputs& inputs) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].inputs[0].upload(inputs[rank][0]);
  }
}

void TensorSet::overwrite_input(int rank, int input, WrittenRuns runs) {
  ranks_[static_cast<std::size_t>(rank)].inputs[static_cast<std::size_t>(input)].write(runs);
}

void TensorSet::overwrite_output(int rank, WrittenRuns runs) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  (in_place_ ? r.inputs[0] : r.outputs[0]).write(runs);
}

void TensorSet::arm(const Fill& fill) {
  for (Rank& rank : ranks_) {
    for (auto& tensor : rank.inputs) tensor.set_guards(fill.input_guard);
    for (auto& tensor : rank.outputs) tensor.arm(fill.output_guard, fill.poison);
  }
}

std::optional<std::string> TensorSet::damage() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto find = [&](const char* kind, const auto& tensors) -> std::optional<std::string> {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (const auto found = tensors[i].damage())
          return tensor_name(kind, i, rank, ranks_.size()) + ": " + *found;
      }
      return std::nullopt;
    };
    if (auto found = find("output", ranks_[rank].outputs)) return found;
    if (auto found = find("input", ranks_[rank].inputs)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> TensorSet::elsewhere() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto find = [&](const char* kind, const auto& tensors) -> std::optional<std::string> {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::string now = tensors[i].holder();
        const std::string& wanted = tensors[i].device().info().uuid;
        if (!now.empty() && now != wanted) {
          return tensor_name(kind, i, rank, ranks_.size()) + " lies on device " + now +
                 ", not on " + wanted;
        }
      }
      return std::nullopt;
    };
    if (auto found = find("output", ranks_[rank].outputs)) return found;
    if (auto found = find("input", ranks_[rank].inputs)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> TensorSet::changed_input(const RankInputs& inputs) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const bool replaces_first = in_place_ && has_output(static_cast<int>(rank));
    for (std::size_t i = replaces_first ? 1 : 0; i < ranks_[rank].inputs.size(); ++i) {
      if (ranks_[rank].inputs[i].first_difference(inputs[rank][i])) {
        return tensor_name("input", i, rank, ranks_.size()) + " was overwritten";
      }
    }
  }
  return std::nullopt;
}

}  // namespace assay
