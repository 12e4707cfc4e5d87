#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulator::ptx {

/// Puts the modules of one program together, as the device linker does with relocatable code
/// (`nvcc -rdc=true`): PTX ISA, "Linking Directives". A reference finds the definition of another
/// module; names that only one module knows stay apart; of weak definitions one is left. Throws
/// Error if two are strong. One module stays as it is.
std::string link(const std::vector<std::string_view>& modules);

}  // namespace emulator::ptx
