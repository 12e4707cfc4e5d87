#pragma once

#include <cstdint>

#include "emulator/ptx/types.h"

namespace emulator {

/// Where shared, local and parameter space lie among generic addresses: parts of the address space
/// that nothing else has.
struct AddressWindows {
  std::uintptr_t shared, local, parameter, end;
  std::uintptr_t base_of(ptx::Space space) const;
  /// generic: none of them, so global.
  ptx::Space space_of(std::uintptr_t address) const;
};

const AddressWindows& address_windows();

}  // namespace emulator
