#include "emulator/machine/address_windows.h"

#include "emulator/machine/reservation.h"

namespace emulator {
namespace {

constexpr std::uintptr_t window_bytes = std::uintptr_t{1} << 24;

}  // namespace

std::uintptr_t AddressWindows::base_of(ptx::Space space) const {
  switch (space) {
    case ptx::Space::shared:
    case ptx::Space::cluster:
      return shared;
    case ptx::Space::local:
      return local;
    case ptx::Space::parameter:
      return parameter;
    default:
      return 0;
  }
}

ptx::Space AddressWindows::space_of(std::uintptr_t address) const {
  if (address < shared || address >= end) return ptx::Space::generic;
  if (address < local) return ptx::Space::shared;
  return address < parameter ? ptx::Space::local : ptx::Space::parameter;
}

const AddressWindows& address_windows() {
  static const Reservation reserved(3 * window_bytes, Reservation::Use::addresses_only);
  static const AddressWindows windows{reserved.address(), reserved.address() + window_bytes,
                                      reserved.address() + 2 * window_bytes,
                                      reserved.address() + 3 * window_bytes};
  return windows;
}

}  // namespace emulator
