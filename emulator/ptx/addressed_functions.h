#pragma once

#include <vector>

#include "emulator/ptx/module.h"

namespace emulator::ptx {

/// Functions with a body that a pointer may lead to: an initial value or a `mov` takes their
/// address.
std::vector<const Function*> addressed_functions(const Module& module);

}  // namespace emulator::ptx
