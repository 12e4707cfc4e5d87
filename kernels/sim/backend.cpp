#include "kernels/sim/backend.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/collectives.h"
#include "kernels/device/device_id.h"
#include "kernels/sim/device.h"
#include "kernels/sim/kernel.h"
#include "kernels/sim/traits.h"

namespace assay::sim {
namespace {

constexpr std::int64_t memory_bytes = std::int64_t{8} << 30;
constexpr const char* mask_name = "ASSAY_SIM_VISIBLE_DEVICES";

/// Returns those of `count` devices that a mask such as "2,0" names. The first invalid entry ends
/// the list, as in CUDA's.
std::vector<int> visible_devices(int count, const char* mask) {
  std::vector<int> visible;
  if (mask == nullptr) {
    for (int index = 0; index < count; ++index) visible.push_back(index);
    return visible;
  }
  for (const std::string& entry : split(mask, ',')) {
    const std::string digits = entry.starts_with("SIM-") ? entry.substr(4) : entry;
    const auto id = parse_device_id(sim::traits().kind + ":" + digits);
    if (!id || id->index >= count) break;
    visible.push_back(id->index);
  }
  return visible;
}

/// Passes each rank's device memory to the CPU's communicator.
class SimCommunicator final : public Communicator {
 public:
  SimCommunicator(std::vector<SimDevice*> devices, std::unique_ptr<Communicator> cpu)
      : devices_(std::move(devices)), cpu_(std::move(cpu)) {}

  std::string transport() const override { return "sim over " + cpu_->transport(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    std::vector<Binding> host;
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
      host.push_back(devices_[rank]->on_host(bindings[rank]));
    }
    const auto prepare_on_cpu = [this](const OpInstance& other, std::span<const Binding> ranks) {
      return cpu_->prepare(other, ranks);
    };
    std::vector<DeviceFaults*> faults;
    for (SimDevice* device : devices_) faults.push_back(&device->faults());
    return std::make_unique<SimKernel>(std::move(faults), op, std::move(host), prepare_on_cpu);
  }

 private:
  std::vector<SimDevice*> devices_;
  std::unique_ptr<Communicator> cpu_;
};

class SimBackend final : public Backend {
 public:
  SimBackend(int devices, std::vector<Fault> faults)
      : count_(devices), faults_(std::move(faults)), cpu_(cpu::make_backend()) {
    visible_ =
        visible_devices(count_, has(FaultKind::ignores_mask) ? nullptr : std::getenv(mask_name));
  }

  const BackendTraits& traits() const override { return sim::traits(); }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices;
    for (int index = 0; index < std::ssize(visible_); ++index) {
      if (!is_lost(index)) devices.push_back(describe(index));
    }
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    if (index >= std::ssize(visible_) && !has(FaultKind::opens_anything)) {
      throw DeviceError(Failure::device_lost,
                        "there is no " + to_text(DeviceId{sim::traits().kind, index}) + ": " +
                            std::to_string(visible_.size()) + " simulated devices are visible");
    }
    DeviceInfo info = describe(index);
    if (has(FaultKind::renamed)) info.name += " of another name";
    return std::make_unique<SimDevice>(std::move(info), index, faults_, peers_);
  }
  Visibility visibility() const override {
    Visibility v{.mask = mask_name};
    for (int device = 0; device < count_; ++device) v.machine.push_back(uuid(device));
    return v;
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                        Bootstrap& bootstrap) override {
    std::vector<SimDevice*> own;
    for (Device* device : devices) own.push_back(static_cast<SimDevice*>(device));
    const auto dead = std::ranges::find_if(faults_, [&](const Fault& fault) {
      return fault.kind == FaultKind::dead_rank && !fault.has_struck() &&
             fault.device.value_or(0) < ranks;
    });
    std::unique_ptr<Communicator> cpu;
    if (dead == faults_.end()) {
      cpu = cpu_->connect({}, ranks, bootstrap);
    } else {
      dead->strike();
      cpu = cpu::Gloo().connect(ranks, dead->device.value_or(0));
    }
    return std::make_unique<SimCommunicator>(std::move(own), std::move(cpu));
  }

 private:
  bool is_lost(int index) const {
    return std::ranges::any_of(faults_, [&](const Fault& fault) {
      return fault.kind == FaultKind::device_lost && fault.concerns(index) && fault.has_struck();
    });
  }
  bool has(FaultKind kind) const {
    return std::ranges::find(faults_, kind, &Fault::kind) != faults_.end();
  }
  static std::string uuid(int device) { return "SIM-" + std::to_string(device); }
  DeviceInfo describe(int index) const {
    const bool is_visible = index < std::ssize(visible_);
    const int device = is_visible ? visible_[static_cast<std::size_t>(index)] : index;
    DeviceInfo info = cpu_->describe().front();
    info.backend = sim::traits().kind;
    info.device = to_text(DeviceId{info.backend, index});
    info.name = "simulated device " + std::to_string(device) + " (no hardware)";
    info.stand_in = "simulated";
    info.uuid = uuid(device);
    info.memory_total_bytes = memory_bytes;
    info.memory_free_bytes = memory_bytes;
    return info;
  }

  int count_;
  std::vector<Fault> faults_;
  std::vector<int> visible_;  // index among all, for each logical device
  std::unique_ptr<Backend> cpu_;
  std::shared_ptr<Peers> peers_ = std::make_shared<Peers>();
};

}  // namespace

std::unique_ptr<Backend> make_backend(int devices, std::vector<Fault> faults) {
  return std::make_unique<SimBackend>(devices, std::move(faults));
}

}  // namespace assay::sim
