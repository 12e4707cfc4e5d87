#pragma once

#include <string_view>

#include "emulator/machine/warp.h"

namespace emulator {

/// Functions that kernels call and no module defines: vprintf, __assertfail, malloc and
/// free.
bool is_driver_function(std::string_view name);
void call_driver_function(Warp& warp, const CallSite& site, Mask lanes);

}  // namespace emulator
