#pragma once

#include <stdexcept>
#include <string>

namespace emulator::ptx {

/// Text that is not PTX as the emulator knows it. Names file and line.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& file, int line, const std::string& text);

}  // namespace emulator::ptx
