// A host with eight GPUs: simulated devices that call themselves cuda:0 to cuda:7, unless
// CUDA_VISIBLE_DEVICES is empty. For tests that must not depend on which devices a machine has.
#include <cstdlib>

#include "assay/version.h"
#include "kernels/core/status.h"
#include "kernels/device/module.h"
#include "kernels/sim/backend.h"

namespace {

using namespace assay;

std::unique_ptr<Backend> eight_devices() {
  const char* mask = std::getenv("CUDA_VISIBLE_DEVICES");
  return sim::make_backend(mask != nullptr && *mask == '\0' ? 0 : 8, {});
}

class EightGpus final : public Backend {
 public:
  std::string kind() const override { return "cuda"; }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices = simulated_->describe();
    for (DeviceInfo& device : devices) {
      device.device = kind() + device.device.substr(device.device.find(':'));
      device.backend = kind();
    }
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    if (index >= std::ssize(simulated_->describe())) {
      throw DeviceError(Failure::device_lost, "there is no cuda:" + std::to_string(index));
    }
    return simulated_->open(index);
  }
  Visibility visibility() const override { return simulated_->visibility(); }
  bool ranks_share_device() const override { return false; }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                        Bootstrap& bootstrap) override {
    return simulated_->connect(devices, ranks, bootstrap);
  }

 private:
  std::unique_ptr<Backend> simulated_ = eight_devices();
};

}  // namespace

extern "C" const assay::ModuleEntry* assay_module() {
  static constexpr assay::ModuleEntry entry{assay::version::build_id, []() -> assay::Backend* {
                                              return std::make_unique<EightGpus>().release();
                                            }};
  return &entry;
}
