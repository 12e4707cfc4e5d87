#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "emulator/runtime/process.h"
#include "emulator/runtime/say.h"

// Functions of the driver by their names: those of the stand-in for libcuda, and of this library.
namespace emulator {
namespace {

void* find_driver_function(const char* name) {
  if (!std::string_view(name).starts_with("cu")) return nullptr;
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

cudaError_t find_entry_point(const char* name, void** function, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* result) {
  constexpr unsigned long long known = cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream;
  if (name == nullptr || function == nullptr || *name == '\0' || (flags & ~known) != 0)
    return last_error() = cudaErrorInvalidValue;
  // Initialises the driver, as most calls of the runtime do.
  if (const cudaError_t error = call(Wants::devices, [](Process&, Lock&) { return cudaSuccess; });
      error != cudaSuccess)
    return error;
  *function = find_driver_function(name);
  if (result != nullptr) {
    *result =
        *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  }
  if (*function == nullptr) say(fmt::format("{} of the driver is not emulated", name));
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return find_entry_point(name, function, flags, result);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result) {
  if (static_cast<int>(version) > driver_version()) {
    if (function == nullptr) return last_error() = cudaErrorInvalidValue;
    *function = nullptr;
    if (result != nullptr) *result = cudaDriverEntryPointVersionNotSufficent;
    return cudaSuccess;
  }
  return find_entry_point(name, function, flags, result);
}
