#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace emulator::driver {

/// Where a caller of the compiler wants its messages: CU_JIT_ERROR_LOG_BUFFER and its size.
struct ErrorLog {
  char* text = nullptr;
  std::size_t bytes = 0;

  ErrorLog(unsigned count, const CUjit_option* options, void* const* values) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) text = static_cast<char*>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        bytes = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
    }
  }
  void write(const std::string& message) const {
    if (text == nullptr || bytes == 0) return;
    text[message.copy(text, bytes - 1)] = '\0';
  }
};

}  // namespace emulator::driver
