#include "emulator/machine/undefined_registers.h"

#include <algorithm>

namespace emulator {
namespace {

Mask mask_at(const std::byte* from) {
  Mask value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

bool UndefinedRegisters::any() const {
  return std::ranges::any_of(bits_, [](std::byte byte) { return byte != std::byte{0}; });
}

Mask UndefinedRegisters::lanes(Slot slot) const {
  if (slot.bytes == 0) return mask_at(bits_.data() + slot.offset);
  Mask found = 0;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if (bits(slot, lane) != 0) found |= Mask{1} << lane;
  }
  return found;
}

void UndefinedRegisters::define(Slot slot, Mask lanes) {
  std::byte* to = at(slot.offset);
  if (slot.bytes == 0) {
    const Mask rest = mask_at(to) & ~lanes;
    std::memcpy(to, &rest, sizeof rest);
    return;
  }
  results_[slot.offset / results_apart] &= ~lanes;
  for_lanes(lanes, [&](int lane) {
    std::memset(to + static_cast<std::size_t>(lane) * slot.bytes, 0, slot.bytes);
  });
}

void UndefinedRegisters::undefine(Slot slot, Mask lanes) {
  std::byte* to = at(slot.offset);
  set_results(slot, lanes);
  if (slot.bytes == 0) {
    const Mask all = mask_at(to) | lanes;
    std::memcpy(to, &all, sizeof all);
    return;
  }
  for_lanes(lanes, [&](int lane) {
    std::memset(to + static_cast<std::size_t>(lane) * slot.bytes, 0xff, slot.bytes);
  });
}

}  // namespace emulator
