#include <dlfcn.h>

#include <cstdint>
#include <string_view>

#include "emulator/runtime/lacking.h"

extern "C" {

/// A runtime that is linked into a program starts with this call, and goes on with some that no
/// document describes. It asks for no tensor maps, so who does is a program.
int cuGetProcAddress_v2(const char* name, void** function, int /*version*/, std::uint64_t /*flags*/,
                        int* status) {
  constexpr int symbol_not_found = 1, error_not_found = 500;
  if (name != nullptr && function != nullptr && std::string_view(name).starts_with("cuTensorMap")) {
    *function = dlsym(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), name);
    if (status != nullptr) *status = *function == nullptr ? symbol_not_found : 0;
    return *function == nullptr ? error_not_found : 0;
  }
  static const bool told =
      (emulator::say_lacking(
           "the program has a CUDA runtime linked into it, which needs NVIDIA's driver: link it "
           "with nvcc -cudart shared (and --no-compress), and the emulated one takes its place"),
       true);
  static_cast<void>(told);
  if (function != nullptr) *function = nullptr;
  if (status != nullptr) *status = symbol_not_found;
  return error_not_found;
}

}  // extern "C"
