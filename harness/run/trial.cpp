#include "harness/run/trial.h"

#include <algorithm>

#include "kernels/base/status.h"

namespace assay {
namespace {

Device& device_of_rank(std::span<Device* const> lane, int rank) {
  return *lane[lane.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
}

}  // namespace

Trial::Trial(const OpInstance& op, Backend& backend, std::span<Device* const> lane)
    : in_place_(op.signature.in_place) {
  const int ranks = op.op->collective ? op.signature.ranks : 1;
  std::vector<Binding> bindings;
  for (int rank = 0; rank < ranks; ++rank) {
    Device& device = device_of_rank(lane, rank);
    Rank& r = ranks_.emplace_back();
    r.device_uuid = device.info().uuid;
    r.stream = device.create_stream();
    r.start = r.stream->create_event();
    r.stop = r.stream->create_event();
    Binding& binding = bindings.emplace_back();
    binding.stream = r.stream.get();
    for (const TensorSpec& spec : op.signature.inputs) {
      binding.inputs.push_back(r.inputs.emplace_back(device, spec).data());
    }
    if (in_place_) binding.outputs.push_back(r.inputs[0].data());
    for (const TensorSpec& spec : op.signature.outputs) {
      if (in_place_) break;
      binding.outputs.push_back(r.outputs.emplace_back(device, spec).data());
    }
  }
  if (op.op->collective) {
    SingleProcess bootstrap;
    communicator_ = backend.connect(lane, ranks, bootstrap);
    kernel_ = communicator_->prepare(op, bindings);
  } else {
    kernel_ = lane[0]->prepare(op, bindings[0]);
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

double Trial::time_s(std::int64_t launches) {
  for (const Rank& rank : ranks_) rank.stream->record(*rank.start);
  for (std::int64_t i = 0; i < launches; ++i) kernel_->launch();
  for (const Rank& rank : ranks_) rank.stream->record(*rank.stop);
  double slowest_s = 0;
  for (const Rank& rank : ranks_) {
    slowest_s = std::max(slowest_s, rank.stream->elapsed_s(*rank.start, *rank.stop));
  }
  return slowest_s;
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
    const auto is_other = [&](const std::string& uuid) {
      return !uuid.empty() && uuid != r.device_uuid;
    };
    const auto find = [&](const char* kind, const auto& tensors) -> std::optional<std::string> {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (const std::string holder = tensors[i].holder(); is_other(holder)) {
          return tensor_name(kind, i, rank) + " lies on device " + holder + ", not on " +
                 r.device_uuid;
        }
      }
      return std::nullopt;
    };
    if (auto found = find("output", r.outputs)) return found;
    if (auto found = find("input", r.inputs)) return found;
    if (const std::string uuid = r.stream->device_uuid(); is_other(uuid)) {
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
