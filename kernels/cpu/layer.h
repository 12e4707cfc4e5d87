#pragma once

#include <memory>
#include <string>

#include "kernels/core/dtype.h"
#include "kernels/cpu/prepared_layer.h"

namespace assay::cpu {

/// Makes a layer by the best library that has the dtype and is right. `act` as in the op table.
/// Throws DeviceError.
std::unique_ptr<Layer> make_layer(DType dtype, const Layer::Shape& shape, const std::string& act);

}  // namespace assay::cpu
