#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulator {

/// PTX of a fat binary, and the compute capability that it asks for (75 for 7.5).
struct EmbeddedPtx {
  std::string_view text;
  int architecture;
};

/// Lists the PTX in the wrapper that nvcc passes to __cudaRegisterFatBinary. Machine code is passed
/// over. Sets `problem` if PTX is there that cannot be read: without `--no-compress` it is
/// compressed.
std::vector<EmbeddedPtx> embedded_ptx(const void* wrapper, std::string& problem);

}  // namespace emulator
