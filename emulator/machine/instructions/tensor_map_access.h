#pragma once

#include "emulator/machine/decoder.h"
#include "emulator/machine/tensor_map.h"
#include "emulator/machine/warp.h"

// Tensor maps as instructions find them: parameters of the kernel, and constant or global memory.
namespace emulator {

/// Reads the map at a generic address. Throws LaneFault for what is none, for one that the emulator
/// lacks something to use, and for another rank than the instruction has.
TensorMap read_tensor_map(Warp& warp, int lane, std::uint64_t address, unsigned rank);

/// fence.proxy.tensormap::generic, behind `fence.proxy.tensormap::generic`.
void decode_tensor_map_fence(Decoder&);
/// prefetch.tensormap
void decode_tensor_map_prefetch(Decoder&);

}  // namespace emulator
