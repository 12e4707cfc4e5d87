// A backend as a module: the smallest that the loader accepts. ASSAY_TEST_BUILD_ID overrides the
// build that it claims to be of.
#include "assay/version.h"
#include "kernels/core/status.h"
#include "kernels/device/module.h"

namespace {

using namespace assay;

class ToyBackend final : public Backend {
 public:
  std::string kind() const override { return "toy"; }
  std::vector<DeviceInfo> describe() const override {
    DeviceInfo info;
    info.device = "toy:0";
    info.backend = "toy";
    info.name = "toy";
    return {info};
  }
  std::unique_ptr<Device> open(int) override {
    throw DeviceError(Failure::unsupported, "a toy has no device");
  }
  bool ranks_share_device() const override { return false; }
  std::unique_ptr<Communicator> connect(std::span<Device* const>, int, Bootstrap&) override {
    throw DeviceError(Failure::unsupported, "a toy has no collectives");
  }
};

}  // namespace

extern "C" const assay::ModuleEntry* assay_module() {
#ifdef ASSAY_TEST_BUILD_ID
  constexpr const char* build_id = ASSAY_TEST_BUILD_ID;
#else
  constexpr const char* build_id = assay::version::build_id;
#endif
  static constexpr assay::ModuleEntry entry{
      build_id, []() -> assay::Backend* { return std::make_unique<ToyBackend>().release(); }};
  return &entry;
}
