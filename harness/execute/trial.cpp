#include "harness/execute/trial.h"

#include <algorithm>

#include "harness/placement/scenario.h"
#include "harness/placement/scenario_ops.h"
#include "kernels/core/status.h"
#include "kernels/device/held_work.h"

namespace assay {

Trial::Trial(const OpInstance& op, Backend& backend, std::span<Device* const> lane)
    : in_place_(op.signature.in_place), first_device_(lane[0]) {
  std::vector<Device*> executing;
  const std::vector<Binding> bindings = make_ranks(op, lane, executing);
  make_kernels(op, backend, lane, bindings, executing);
}

Trial::Trial(const OpInstance& op, std::span<placement::Place* const> lane)
    : in_place_(op.signature.in_place), first_device_(&lane[0]->device()) {
  std::vector<Device*> devices;
  for (const placement::Place* place : lane) devices.push_back(&place->device());
  std::vector<Device*> executing;
  const std::vector<Binding> bindings = make_ranks(op, devices, executing);
  if (placement::find_scenario(op.op->name) != nullptr) {
    kernels_.push_back(placement::prepare_scenario(op, lane, bindings));
  } else {
    make_kernels(op, *lane[0]->devices().backend(lane[0]->id().backend), devices, bindings,
                 executing);
  }
}

/// Ranks of a collective are devices, or share one. Other ops name the device of each tensor.
std::vector<Binding> Trial::make_ranks(const OpInstance& op, std::span<Device* const> lane,
                                       std::vector<Device*>& executing) {
  std::vector<Binding> bindings;
  for (int rank = 0; rank < op.signature.ranks; ++rank) {
    const RankTensors tensors = tensors_of(op.signature, rank);
    const auto holder = [&](const TensorSpec& spec) -> Device& {
      const int place = op.op->collective && lane.size() > 1 ? rank : spec.device;
      return *lane[static_cast<std::size_t>(place)];
    };
    // The source device executes a copy between devices.
    Device& device = tensors.inputs.empty() ? holder({}) : holder(tensors.inputs.front());
    executing.push_back(&device);
    Rank& r = ranks_.emplace_back();
    r.device_uuid = device.info().uuid;
    r.stream = device.create_stream();
    Binding& binding = bindings.emplace_back();
    binding.stream = r.stream.get();
    for (const TensorSpec& spec : tensors.inputs) {
      binding.inputs.push_back(r.inputs.emplace_back(holder(spec), spec).data());
    }
    if (in_place_) binding.outputs.push_back(r.inputs[0].data());
    for (const TensorSpec& spec : tensors.outputs) {
      if (in_place_) break;
      binding.outputs.push_back(r.outputs.emplace_back(holder(spec), spec).data());
    }
  }
  for (Device* device : lane) {
    if (std::ranges::find(executing, device) == executing.end()) bystanders_.push_back(device);
  }
  return bindings;
}

void Trial::make_kernels(const OpInstance& op, Backend& backend, std::span<Device* const> lane,
                         std::span<const Binding> bindings, const std::vector<Device*>& executing) {
  if (op.op->collective) {
    SingleProcess bootstrap;
    communicator_ = backend.connect(lane, op.signature.ranks, bootstrap);
    kernels_.push_back(communicator_->prepare(op, bindings));
    return;
  }
  for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
    kernels_.push_back(executing[rank]->prepare(op, bindings[rank]));
  }
}

void Trial::upload(const RankInputs& inputs) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (std::size_t i = 0; i < ranks_[rank].inputs.size(); ++i) {
      ranks_[rank].inputs[i].upload(inputs[rank][i]);
    }
  }
}

void Trial::restore(const RankInputs& inputs) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].inputs[0].upload(inputs[rank][0]);
  }
}

void Trial::arm(const Fill& fill) {
  for (Rank& rank : ranks_) {
    for (auto& tensor : rank.inputs) tensor.set_guards(fill.input_guard);
    for (auto& tensor : rank.outputs) {
      tensor.set_guards(fill.output_guard);
      tensor.poison(fill.poison);
    }
  }
}

void Trial::synchronize() {
  for (const Rank& rank : ranks_) rank.stream->synchronize();
}

/// Waits: the work that follows runs on streams of other devices.
void Trial::flush_bystanders() {
  if (bystander_streams_.empty()) {
    for (Device* device : bystanders_) bystander_streams_.push_back(device->create_stream());
  }
  for (const auto& stream : bystander_streams_) stream->flush_caches();
  for (const auto& stream : bystander_streams_) stream->synchronize();
}

double Trial::time_s(std::int64_t launches, bool cold) {
  if (!timed_) {
    std::vector<Stream*> streams;
    for (const Rank& rank : ranks_) streams.push_back(rank.stream.get());
    std::vector<Kernel*> kernels;
    for (const auto& kernel : kernels_) kernels.push_back(kernel.get());
    timed_ = time_together(streams, kernels);
  }
  if (cold) flush_bystanders();
  rank_times_s_ = timed_->time_s(launches, cold);
  return *std::ranges::max_element(rank_times_s_);
}

void Trial::download_output(int rank, HostTensor& to) const {
  output(ranks_[static_cast<std::size_t>(rank)]).download(to);
}

std::optional<std::span<const std::byte>> Trial::readable_output(int rank) const {
  return output(ranks_[static_cast<std::size_t>(rank)]).readable();
}

std::optional<std::size_t> Trial::first_difference(int rank, const HostTensor& expected) const {
  return output(ranks_[static_cast<std::size_t>(rank)]).first_difference(expected);
}

namespace {

std::string tensor_name(const char* kind, std::size_t i, std::size_t rank) {
  return std::string(kind) + " " + std::to_string(i) + " of rank " + std::to_string(rank);
}

}  // namespace

std::optional<std::string> Trial::damage() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto find = [&](const char* kind, const auto& tensors) -> std::optional<std::string> {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (const auto found = tensors[i].damage())
          return tensor_name(kind, i, rank) + ": " + *found;
      }
      return std::nullopt;
    };
    if (auto found = find("output", ranks_[rank].outputs)) return found;
    if (auto found = find("input", ranks_[rank].inputs)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> Trial::elsewhere() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& r = ranks_[rank];
    const auto is_other = [](const std::string& uuid, const std::string& wanted) {
      return !uuid.empty() && uuid != wanted;
    };
    const auto find = [&](const char* kind, const auto& tensors) -> std::optional<std::string> {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::string holder = tensors[i].holder();
        const std::string& wanted = tensors[i].device().info().uuid;
        if (is_other(holder, wanted)) {
          return tensor_name(kind, i, rank) + " lies on device " + holder + ", not on " + wanted;
        }
      }
      return std::nullopt;
    };
    if (auto found = find("output", r.outputs)) return found;
    if (auto found = find("input", r.inputs)) return found;
    if (const std::string uuid = r.stream->device_uuid(); is_other(uuid, r.device_uuid)) {
      return "rank " + std::to_string(rank) + " runs on device " + uuid + ", not on " +
             r.device_uuid;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Trial::changed_input(const RankInputs& inputs) const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (std::size_t i = in_place_ ? 1 : 0; i < ranks_[rank].inputs.size(); ++i) {
      if (ranks_[rank].inputs[i].first_difference(inputs[rank][i])) {
        return tensor_name("input", i, rank) + " was overwritten";
      }
    }
  }
  return std::nullopt;
}

}  // namespace assay
