#pragma once

#include "emulator/machine/flow.h"
#include "emulator/machine/kernel_layout.h"

namespace emulator {

Flow flow_of(FunctionLayout& layout, const ptx::Instruction& instruction);

}  // namespace emulator
