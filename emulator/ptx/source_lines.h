#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace emulator::ptx {

struct SourceLine {
  std::string file;
  int line = 0;
};

/// The place in the source that a line of PTX comes from, by its .file and .loc directives, which
/// `nvcc -lineinfo` writes. Inlined code is followed by the places that it was inlined at, the
/// inmost first. Empty: there are none.
std::vector<SourceLine> source_lines(std::string_view ptx, int line);

/// As FILE:3, inlined at OTHER:40.
std::string text_of(const std::vector<SourceLine>& lines);

}  // namespace emulator::ptx
