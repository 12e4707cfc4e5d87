#include "emulator/runtime/driver_modules.h"

#include <cstring>
#include <exception>
#include <utility>

#include "emulator/machine/program_state.h"
#include "emulator/runtime/fat_binary.h"
#include "emulator/runtime/functions.h"
#include "emulator/runtime/say.h"
#include "emulator/runtime/streams.h"

namespace emulator {
namespace {

/// Sets the PTX text of an image: itself, or that of a fat binary.
cudaError_t ptx_of(const void* image, int capability, std::string& text, std::string& problem) {
  if (is_fat_binary(image)) {
    EmbeddedPtx ptx = embedded_ptx(image, capability, problem);
    text = std::move(ptx.text);
    return ptx.architecture == 0 ? cudaErrorNoKernelImageForDevice : cudaSuccess;
  }
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    problem = "it is machine code; PTX is emulated";
    return cudaErrorNoKernelImageForDevice;
  }
  text = static_cast<const char*>(image);
  if (text.find(".version") != std::string::npos) return cudaSuccess;
  problem = "it is neither PTX nor a fat binary";
  return cudaErrorInvalidKernelImage;
}

}  // namespace

cudaError_t read_ptx(const void* image, std::string& ptx, std::string& problem) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    return ptx_of(image, 10 * gpu.major + gpu.minor, ptx, problem);
  });
}

cudaError_t link_modules(const std::vector<std::string>& modules, std::string& linked,
                         std::string& problem) {
  if (modules.empty()) return cudaErrorInvalidValue;
  try {
    linked = link_ptx({modules.begin(), modules.end()});
    return cudaSuccess;
  } catch (const Fault& error) {
    problem = error.what();
    return cudaErrorInvalidKernelImage;
  }
}

cudaError_t load_module(const void* image, void** module, std::string& problem) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    if (image == nullptr || module == nullptr) return cudaErrorInvalidValue;
    const GpuModel& gpu = p.devices.model(current_gpu(p));
    const int capability = 10 * gpu.major + gpu.minor;
    auto made = std::make_shared<LoadedModule>();
    if (const cudaError_t e = ptx_of(image, capability, made->ptx, problem); e != cudaSuccess) {
      say("a module is refused: " + problem);
      return e;
    }
    made->code = std::make_shared<CodeModule>(CodeModule{nullptr});
    CodeModule& code = *made->code;
    try {
      code.program = std::make_shared<Program>(made->ptx, "loaded PTX", p.memory,
                                               static_cast<int>(p.devices.gpus.size()));
    } catch (const std::exception& error) {
      problem = error.what();
      say(problem);
      return cudaErrorInvalidPtx;
    }
    code.architecture = code.program->state().module.target;
    if (!can_run(made->ptx, code.architecture, capability)) {
      const bool is_specific = code.program->state().module.is_target_specific;
      problem = "its target is sm_" + std::to_string(code.architecture) + (is_specific ? "a" : "") +
                ", and the GPU's is sm_" + std::to_string(capability);
      say("a module is refused: " + problem);
      return cudaErrorNoKernelImageForDevice;
    }
    const auto names = code.program->kernels();
    code.kernels.insert(names.begin(), names.end());
    *module = p.loaded_modules.add(std::move(made));
    return cudaSuccess;
  });
}

cudaError_t unload_module(void* module) {
  return call(Wants::safety, [&](Process& p, Lock& lock) {
    const auto found = p.loaded_modules.find(module);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    p.loaded_modules.remove(module);
    wait_for_device(p, lock, current_device());
    forget_functions(*found->code);
    return cudaSuccess;
  });
}

cudaError_t module_function(void* module, const char* name, const void** function) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (name == nullptr || function == nullptr) return cudaErrorInvalidValue;
    const auto found = p.loaded_modules.find(module);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (!found->code->kernels.contains(name)) return cudaErrorSymbolNotFound;
    *function = add_function(std::make_shared<Function>(Function{found->code, name}));
    return cudaSuccess;
  });
}

cudaError_t module_variable(void* module, const char* name, std::uintptr_t* address,
                            std::size_t* bytes) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (name == nullptr) return cudaErrorInvalidValue;
    const auto found = p.loaded_modules.find(module);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    const auto place = found->code->program->variable(name, current_gpu(p), bytes);
    if (place == 0) return cudaErrorSymbolNotFound;
    if (address != nullptr) *address = place;
    return cudaSuccess;
  });
}

cudaError_t function_parameters(const void* symbol, std::vector<ParameterPlace>& places) {
  return call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<Function> function;
    if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
    for (const auto& [offset, bytes] : function->code->program->parameters(function->name))
      places.push_back({offset, bytes});
    return cudaSuccess;
  });
}

bool has_runtime_call() { return was_called(); }

bool has_primary_context(int device) {
  Process& p = process();
  const Lock lock(p.mutex);
  return p.primary_contexts.contains(device);
}

cudaError_t owner_of(std::uintptr_t address, int* device, std::uintptr_t* begin,
                     std::size_t* bytes) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto allocation = p.memory.find(address);
    if (!allocation) return cudaErrorInvalidValue;
    *device = allocation->owner == host ? -1 : p.devices.ordinal_of(allocation->owner);
    *begin = allocation->begin;
    *bytes = allocation->bytes;
    return cudaSuccess;
  });
}

}  // namespace emulator
