#pragma once

#include <string>
#include <string_view>

namespace emulator::ptx {

/// The place in the source that a line of PTX comes from, by its .file and .loc directives, which
/// `nvcc -lineinfo` writes: FILE:12, followed for inlined code by the places that it was
/// inlined at, the inmost first: FILE:3, inlined at OTHER:40. Empty: there are none.
std::string source_place(std::string_view ptx, int line);

}  // namespace emulator::ptx
