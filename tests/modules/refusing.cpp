// A module whose one device cannot be opened. ASSAY_TEST_BUILD_ID overrides its build id.
#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "kernels/device/module.h"

namespace {

using namespace assay;

class RefusingBackend final : public Backend {
 public:
  const BackendTraits& traits() const override {
    static const BackendTraits traits{.kind = "refusing"};
    return traits;
  }
  std::vector<DeviceInfo> describe() const override {
    DeviceInfo info;
    info.device = "refusing:0";
    info.backend = kind();
    info.name = "refusing";
    return {info};
  }
  std::unique_ptr<Device> open(int) override {
    throw DeviceError(Failure::unsupported, "this device cannot be opened");
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const>, int, Bootstrap&) override {
    throw DeviceError(Failure::unsupported, "this backend has no collectives");
  }
};

}  // namespace

extern "C" const assay::ModuleEntry* assay_module() {
#ifdef ASSAY_TEST_BUILD_ID
  const char* const build_id = ASSAY_TEST_BUILD_ID;
#else
  const char* const build_id = assay::version::build_id;
#endif
  static const assay::ModuleEntry entry{
      build_id, []() -> assay::Backend* { return std::make_unique<RefusingBackend>().release(); }};
  return &entry;
}
