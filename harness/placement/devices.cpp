#include "harness/placement/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay::placement {

Place& Devices::open(const DeviceId& id) {
  if (const auto found = open_.find(id); found != open_.end()) return *found->second;
  Backend* backend = backends_->find(id.backend);
  if (backend == nullptr) {
    std::string remedy = "'assay devices' lists what is here and why the rest is not";
    for (const BackendProblem& problem : backends_->problems()) {
      remedy = assay::to_text(problem) + "; " + remedy;
    }
    std::vector<std::string> kinds;
    for (const BackendTraits& traits : backends_->traits()) kinds.push_back(traits.kind);
    throw DeviceError(Failure::device_lost,
                      fmt::format("there is no {}: this process has devices of {} only; {}",
                                  to_text(id), join(kinds, ", "), remedy));
  }
  std::unique_ptr<Device> device;
  try {
    device = backend->open(id.index);
  } catch (const DeviceError& error) {
    throw DeviceError(error.failure(),
                      fmt::format("{}; 'assay devices' lists what is here", error.what()));
  }
  return *open_.emplace(id, std::make_unique<Place>(*this, id, std::move(device))).first->second;
}

int Devices::count(std::string_view kind) const {
  const Backend* backend = backends_->find(kind);
  return backend == nullptr ? 0 : static_cast<int>(backend->describe().size());
}

DeviceId Devices::current(std::string_view kind) const {
  const auto found = current_.find(kind);
  return {std::string(kind), found == current_.end() ? 0 : found->second};
}

void Devices::note(const Kernel& kernel, const std::string& transport) {
  std::string implementation = kernel.implementation();
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(ran_.implementations, implementation) == ran_.implementations.end()) {
    ran_.implementations.push_back(std::move(implementation));
  }
  if (const MathMode mode = kernel.math_mode(); mode != MathMode{}) ran_.math_mode = mode;
  if (!transport.empty()) ran_.transport = transport;
  if (std::string wrong = kernel.wrong_algorithms(); !wrong.empty()) {
    ran_.wrong_algorithms = std::move(wrong);
  }
}

Devices::Ran Devices::take_ran() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ran_, {});
}

Place& most_free(std::span<Place* const> places) {
  return **std::ranges::max_element(
      places, {}, [](const Place* place) { return place->device().free_memory_bytes(); });
}

}  // namespace assay::placement
