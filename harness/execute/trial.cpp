#include "harness/execute/trial.h"

#include <algorithm>
#include <utility>

#include "harness/placement/scenarios/scenario.h"
#include "kernels/core/status.h"
#include "kernels/device/held_work.h"
#include "kernels/device/process_watch.h"

namespace assay {

Trial::Trial(const OpInstance& op, Backend& backend, std::span<Device* const> lane)
    : op_(op), lane_(lane.begin(), lane.end()), backend_(&backend) {
  tensors_.emplace_back(op_, lane_);
  make_streams();
  kernels_.push_back(prepare(tensors_.front()));
}

Trial::Trial(const OpInstance& op, std::span<placement::Place* const> lane) : op_(op) {
  for (const placement::Place* place : lane) lane_.push_back(&place->device());
  tensors_.emplace_back(op_, lane_);
  make_streams();
  if (op_.op->is_scenario) {
    kernels_.emplace_back().push_back(
        placement::prepare_scenario(op_, lane, bindings_of(tensors_.front())));
  } else {
    backend_ = lane[0]->devices().backend(lane[0]->id().backend);
    kernels_.push_back(prepare(tensors_.front()));
  }
}

void Trial::make_streams() {
  for (int rank = 0; rank < op_.signature.ranks; ++rank) {
    executing_.push_back(&executing_device(op_, lane_, rank));
    streams_.push_back(executing_.back()->create_stream());
  }
  for (Device* device : lane_) {
    if (std::ranges::find(executing_, device) == executing_.end()) bystanders_.push_back(device);
  }
}

std::vector<Binding> Trial::bindings_of(const TensorSet& tensors) const {
  std::vector<Binding> bindings;
  for (int rank = 0; rank < ranks(); ++rank) {
    bindings.push_back(tensors.binding(rank));
    bindings.back().stream = streams_[static_cast<std::size_t>(rank)].get();
  }
  return bindings;
}

Trial::Kernels Trial::prepare(const TensorSet& tensors) {
  before_.watch();
  const std::vector<Binding> bindings = bindings_of(tensors);
  Kernels kernels;
  if (op_.op->collective) {
    if (!communicator_) {
      SingleProcess bootstrap;
      communicator_ = backend_->connect(lane_, op_.signature.ranks, bootstrap);
    }
    kernels.push_back(communicator_->prepare(op_, bindings));
    return kernels;
  }
  for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
    kernels.push_back(executing_[rank]->prepare(op_, bindings[rank]));
  }
  return kernels;
}

void Trial::lay(Addresses addresses) {
  const auto tries = [](const Device* device) { return device->tries_odd_addresses(); };
  if (backend_ == nullptr || addresses == addresses_ || std::ranges::none_of(lane_, tries)) return;
  addresses_ = addresses;
  before_.watch();  // kernels of libraries end too
  timed_.reset();
  kernels_.clear();
  tensors_.clear();  // before others take their memory
  tensors_.emplace_back(op_, lane_, addresses);
  kernels_.push_back(prepare(tensors_.front()));
}

std::size_t Trial::make_sets(std::size_t count) {
  if (backend_ == nullptr || in_place()) return sets();
  timed_.reset();
  while (sets() < count) {
    try {
      TensorSet tensors(op_, lane_);
      Kernels kernels = prepare(tensors);
      tensors_.push_back(std::move(tensors));
      kernels_.push_back(std::move(kernels));
    } catch (const DeviceError& error) {
      if (error.failure() != Failure::out_of_memory) throw;
      break;
    }
  }
  return sets();
}

void Trial::arm(const Fill& fill) {
  for (TensorSet& tensors : tensors_) tensors.arm(fill);
}

void Trial::synchronize() {
  for (const auto& stream : streams_) stream->synchronize();
}

/// Waits: the work that follows runs on streams of other devices.
void Trial::flush_bystanders() {
  if (bystander_streams_.empty()) {
    for (Device* device : bystanders_) bystander_streams_.push_back(device->create_stream());
  }
  for (const auto& stream : bystander_streams_) stream->flush_caches();
  for (const auto& stream : bystander_streams_) stream->synchronize();
}

void Trial::flush_caches() {
  flush_bystanders();
  for (const auto& stream : streams_) stream->flush_caches();
  synchronize();
}

std::vector<pid_t> Trial::processes() const {
  std::vector<pid_t> all;
  for (const Device* device : lane_) {
    if (const auto process = device->process()) all.push_back(*process);
  }
  return all;
}

double Trial::time_s(std::int64_t launches, bool cold, std::size_t first_set) {
  before_.watch();
  if (!timed_) {
    std::vector<Stream*> streams;
    for (const auto& stream : streams_) streams.push_back(stream.get());
    LaunchSets kernels;
    for (const Kernels& of_set : kernels_) {
      auto& set = kernels.emplace_back();
      for (const auto& kernel : of_set) set.push_back(kernel.get());
    }
    timed_ = time_together(streams, kernels);
  }
  if (cold) flush_bystanders();
  rank_times_s_ = timed_->time_s(launches, cold, first_set);
  return *std::ranges::max_element(rank_times_s_);
}

DeviceCondition Trial::condition() const {
  DeviceCondition all = device().condition();
  for (const Device* other : std::span(lane_).subspan(1)) {
    const DeviceCondition one = other->condition();
    const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
      sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
    };
    add(all.power_w, one.power_w);
    add(all.energy_j, one.energy_j);
  }
  return all;
}

void Trial::launch_and_fill(std::byte value, std::size_t number) {
  before_.watch();
  const input::GuardedTensor& output = tensors_.front().output(0, number);
  executing_.front()->launch_and_fill(*kernels_.front().front(), *streams_.front(), output.data(),
                                      value, output.spec().span_bytes());
}

std::optional<std::string> Trial::damage() const {
  for (const TensorSet& tensors : tensors_) {
    if (auto found = tensors.damage()) return found;
  }
  return std::nullopt;
}

std::optional<std::string> Trial::changed_process() const {
  for (Device* device : executing_) {
    auto* const others = dynamic_cast<ProcessWatch*>(device);
    if (others == nullptr) continue;
    if (auto change = parents_.changed()) return change;
    if (auto change = others->changed_process()) return change;
  }
  return before_.changed();
}

std::optional<std::string> Trial::elsewhere() const {
  for (const TensorSet& tensors : tensors_) {
    if (auto found = tensors.elsewhere()) return found;
  }
  for (std::size_t rank = 0; rank < streams_.size(); ++rank) {
    const std::string uuid = streams_[rank]->device_uuid();
    const std::string& wanted = executing_[rank]->info().uuid;
    if (!uuid.empty() && uuid != wanted) {
      return "rank " + std::to_string(rank) + " runs on device " + uuid + ", not on " + wanted;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Trial::changed_input(std::span<const RankInputs> contents) const {
  for (std::size_t set = 0; set < sets(); ++set) {
    if (auto found = tensors_[set].changed_input(contents[set % contents.size()])) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace assay
