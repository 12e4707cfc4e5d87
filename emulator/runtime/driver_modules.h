#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Modules of the driver's API, for the stand-in of its library. A kernel of one is a handle that
// the runtime's calls of functions take as well.
namespace emulator {

struct CodeModule;

/// Keeps what a CodeModule only points to.
struct LoadedModule {
  std::string ptx;
  std::shared_ptr<CodeModule> code;
};

/// Sets the PTX text of an image, which is such text, or a fat binary with it. Sets `problem` where
/// it refuses one.
cudaError_t read_ptx(const void* image, std::string& ptx, std::string& problem);
/// Links such texts (ptx/link.h).
cudaError_t link_modules(const std::vector<std::string>& modules, std::string& linked,
                         std::string& problem);
/// Loads PTX text, or a fat binary with plain PTX. Sets `problem` where it refuses an image.
cudaError_t load_module(const void* image, void** module, std::string& problem);
/// Waits for the current device.
cudaError_t unload_module(void* module);
/// Returns cudaErrorSymbolNotFound for an unknown name, as `module_variable` does.
cudaError_t module_function(void* module, const char* name, const void** function);
/// The variable of the current device.
cudaError_t module_variable(void* module, const char* name, std::uintptr_t* address,
                            std::size_t* bytes);

struct ParameterPlace {
  std::size_t offset, bytes;
};
cudaError_t function_parameters(const void* function, std::vector<ParameterPlace>& places);

/// Whether the program has called the runtime, which initialises the driver.
bool has_runtime_call();
/// Whether a call of the runtime has made the primary context of a device.
bool has_primary_context(int device);

/// The device of an allocation that holds the address, and where it lies; -1: of the host.
cudaError_t owner_of(std::uintptr_t address, int* device, std::uintptr_t* begin,
                     std::size_t* bytes);

}  // namespace emulator
