// A module with its own name, ASSAY_TEST_KIND, and working devices: ASSAY_TEST_DEVICES simulated
// ones, or none if CUDA_VISIBLE_DEVICES is empty.
// Named "toy", it is a backend that nothing else knows. Named "cuda", with eight devices, it stands
// for a host with GPUs, so that tests do not depend on the GPUs of the machine.
#include <cstdlib>

#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "kernels/device/device_id.h"
#include "kernels/device/module.h"
#include "kernels/sim/backend.h"

namespace {

using namespace assay;

const BackendTraits& own_traits() {
  static const BackendTraits traits{
      .kind = ASSAY_TEST_KIND,
      .has_matrix_units = true,
      .limits = {.array_bytes = 1 << 20, .matrix_extents = {128}, .exceed_caches = false},
  };
  return traits;
}

std::unique_ptr<Backend> simulated_devices() {
  const char* mask = std::getenv("CUDA_VISIBLE_DEVICES");
  return sim::make_backend(mask != nullptr && *mask == '\0' ? 0 : ASSAY_TEST_DEVICES, {});
}

class OtherName final : public Backend {
 public:
  const BackendTraits& traits() const override { return own_traits(); }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices = simulated_->describe();
    for (int index = 0; index < std::ssize(devices); ++index) {
      DeviceInfo& device = devices[static_cast<std::size_t>(index)];
      device.device = to_text(DeviceId{kind(), index});
      device.backend = kind();
      device.stand_in.clear();
    }
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    if (index >= std::ssize(simulated_->describe())) {
      throw DeviceError(Failure::device_lost, "there is no " + to_text(DeviceId{kind(), index}));
    }
    return simulated_->open(index);
  }
  Visibility visibility() const override { return simulated_->visibility(); }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                        Bootstrap& bootstrap) override {
    return simulated_->connect(devices, ranks, bootstrap);
  }

 private:
  std::unique_ptr<Backend> simulated_ = simulated_devices();
};

}  // namespace

extern "C" const assay::ModuleEntry* assay_module() {
  static const assay::ModuleEntry entry{assay::version::build_id, []() -> assay::Backend* {
                                          return std::make_unique<OtherName>().release();
                                        }};
  return &entry;
}
