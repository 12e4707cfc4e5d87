#pragma once

#include <string>
#include <string_view>

namespace emulator {

/// PTX of a fat binary, and the compute capability that it asks for (75 for 7.5).
struct EmbeddedPtx {
  std::string text{};
  int architecture = 0;  // 0: there is none
};

/// Takes the newest PTX that a GPU of this compute capability can run, as the driver does, from a
/// fat binary, or from the wrapper that nvcc passes to __cudaRegisterFatBinary; of relocatable code
/// that of each module, linked. Machine code is passed over. Sets `problem` if nobody could run it
/// here: it has no PTX, or without `--no-compress` it is compressed.
EmbeddedPtx embedded_ptx(const void* image, int capability, std::string& problem);
/// Whether GPUs of a compute capability take PTX: those from its own on, or, for sm_90a, its own
/// alone.
bool can_run(std::string_view ptx, int architecture, int capability);
/// Whether an image begins as one of these.
bool is_fat_binary(const void* image);

}  // namespace emulator
