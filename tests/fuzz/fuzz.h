#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

/// Entry of libFuzzer. An exception that escapes from it is a finding, and so is a dead process.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace assay::fuzzing {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Reports a finding that no sanitizer sees.
inline void demand(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "broken promise: " << what << '\n';
  std::abort();
}

}  // namespace assay::fuzzing
