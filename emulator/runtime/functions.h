#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "emulator/machine/machine.h"
#include "emulator/runtime/process.h"

namespace emulator {

/// The code of one source file, as nvcc's registration passes it.
struct CodeModule {
  const void* fat_binary;
  // Set when a kernel of it is first used.
  std::shared_ptr<Program> program = nullptr;
  std::set<std::string> kernels = {};
  int architecture = 0;  // of the PTX that was taken
  cudaError_t error = cudaSuccess;
};

struct Function {
  std::shared_ptr<CodeModule> code;
  std::string name;  // mangled
  const void* host_function = nullptr;
  // From cudaFuncSetAttribute; shared memory by device.
  std::map<int, std::size_t> max_dynamic_shared_bytes = {};
  std::array<unsigned, 3> required_cluster = {};  // in blocks; zeros: none
  bool allows_non_portable_clusters = false;
};

/// Finds a kernel by its function on the host or by its cudaKernel_t, and reads its PTX if that is
/// its first use. Returns the error that a launch would.
cudaError_t find_function(Process& process, const void* symbol,
                          std::shared_ptr<Function>& function);

/// Finds a variable by its address on the host, and reads its PTX if need be. Returns the error
/// that a copy to it would.
cudaError_t find_symbol(Process& process, const void* symbol, std::shared_ptr<CodeModule>& code,
                        std::string& name);

/// Gives the variables of a GPU their initial values again.
void reset_variables(Process& process, int gpu);
/// Makes a kernel known by the handle that it returns, as that of a cudaKernel_t.
const void* add_function(std::shared_ptr<Function> function);
/// Forgets the kernels of this code.
void forget_functions(const CodeModule& code);

/// Dynamic shared memory that a launch of the function on the current device may ask for.
std::size_t max_dynamic_shared_bytes(const Function& function, const KernelFacts& facts,
                                     const GpuModel& gpu);

}  // namespace emulator
