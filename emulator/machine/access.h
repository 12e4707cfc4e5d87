#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/machine/target.h"
#include "emulator/machine/warp.h"

namespace emulator {

/// The block whose shared memory it is.
inline Block& owner_of(Warp& warp, const Target& target) {
  return target.owner != nullptr ? *target.owner : warp.block();
}

/// Finds the target of an access of `bytes` (1 to 16, a power of two) in a space. Throws
/// LaneFault for an address that the lane must not use, and for a read of bytes that nothing has
/// written.
Target locate(Warp& warp, ptx::Space space, int lane, std::uint64_t address, unsigned bytes,
              Access access);
inline Target locate(Warp& warp, const Code& code, int lane, std::uint64_t address, unsigned bytes,
                     Access access) {
  return locate(warp, code.space, lane, address, bytes, access);
}

/// The bytes of a weak access to global memory by all 32 lanes, each `bytes` behind the one before,
/// as most are, where nothing is to be reported. Null: look at each lane. Notes the access for the
/// search for races.
std::byte* locate_row(Warp& warp, const Code& code, const std::byte* base, unsigned bytes,
                      Access access);

/// Where the lanes of an access to shared memory find their bytes, if no lane's address is wrong
/// and, for a load, all bytes are written. False: look at each lane.
bool locate_shared(Warp& warp, const Code& code, const std::byte* base, Mask lanes, unsigned bytes,
                   Access access, std::uint32_t* offsets);

/// Marks the target's bytes as written, and tells the search for races; the value is the one to be
/// stored.
void note_write(Warp& warp, const Code& code, int lane, const Target& target, unsigned bytes,
                const void* value);
void note_read(Warp& warp, const Code& code, int lane, const Target& target, unsigned bytes);
void note_atomic(Warp& warp, const Code& code, int lane, const Target& target, unsigned bytes,
                 bool writes);

std::uint64_t lane_address(Warp& warp, const AddressPlace& place, int lane);

}  // namespace emulator
