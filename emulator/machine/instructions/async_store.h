#pragma once

#include "emulator/machine/decoder.h"

namespace emulator {

/// st.async and red.async: the modifier `.async` has been read.
void decode_async_store(Decoder& decoder, bool reduces);

}  // namespace emulator
