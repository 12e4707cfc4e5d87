#include "kernels/sim/backend.h"

#include <algorithm>

#include "kernels/cpu/allreduce.h"
#include "kernels/cpu/backend.h"
#include "kernels/sim/device.h"
#include "kernels/sim/kernel.h"

namespace assay::sim {
namespace {

constexpr std::int64_t memory_bytes = std::int64_t{8} << 30;

/// Hands each rank's device memory to the CPU's communicator.
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
    return std::make_unique<SimKernel>(devices_, op, std::move(host), prepare_on_cpu);
  }

 private:
  std::vector<SimDevice*> devices_;
  std::unique_ptr<Communicator> cpu_;
};

class SimBackend final : public Backend {
 public:
  SimBackend(int devices, std::vector<Fault> faults)
      : count_(devices), faults_(std::move(faults)), cpu_(cpu::make_backend()) {}

  std::string kind() const override { return "sim"; }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices;
    for (int index = 0; index < count_; ++index) {
      if (!is_lost(index)) devices.push_back(describe(index));
    }
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    return std::make_unique<SimDevice>(describe(index), index, faults_, peers_);
  }
  bool ranks_share_device() const override { return false; }
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
      cpu = cpu::connect_gloo(ranks, dead->device.value_or(0));
    }
    return std::make_unique<SimCommunicator>(std::move(own), std::move(cpu));
  }

 private:
  bool is_lost(int index) const {
    return std::ranges::any_of(faults_, [&](const Fault& fault) {
      return fault.kind == FaultKind::device_lost && fault.concerns(index) && fault.has_struck();
    });
  }
  DeviceInfo describe(int index) const {
    DeviceInfo info = cpu_->describe().front();
    info.device = "sim:" + std::to_string(index);
    info.backend = "sim";
    info.name = "simulated device " + std::to_string(index) + " (no hardware)";
    info.uuid = "SIM-" + std::to_string(index);
    info.memory_total_bytes = memory_bytes;
    info.memory_free_bytes = memory_bytes;
    return info;
  }

  int count_;
  std::vector<Fault> faults_;
  std::unique_ptr<Backend> cpu_;
  std::shared_ptr<Peers> peers_ = std::make_shared<Peers>();
};

}  // namespace

std::unique_ptr<Backend> make_backend(int devices, std::vector<Fault> faults) {
  return std::make_unique<SimBackend>(devices, std::move(faults));
}

}  // namespace assay::sim
