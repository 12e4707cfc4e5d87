#include "kernels/device/kernels.h"

#include <string>

#include "kernels/core/status.h"

namespace assay {

void refuse_dtype(const OpInstance& op) {
  throw DeviceError(Failure::not_here, "this device has no " + std::string(op.op->name) + " in " +
                                           std::string(name(op.format)));
}

}  // namespace assay
