#pragma once

#include "emulator/machine/decoder.h"

namespace emulator {

/// barrier.cluster: `barrier` has been read.
void decode_cluster_barrier(Decoder& decoder);

}  // namespace emulator
