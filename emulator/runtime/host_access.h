#pragma once

#include "emulator/machine/memory.h"

namespace emulator {

/// Says so when the host reads or writes a GPU's memory, before the signal ends the process as it
/// would with a GPU.
void explain_host_accesses(const Memory& memory);

}  // namespace emulator
