#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "emulator/runtime/fat_binary.h"
#include "emulator/runtime/functions.h"
#include "emulator/runtime/lacking.h"
#include "emulator/runtime/say.h"

namespace emulator {
namespace {

/// Holds what the static constructors that nvcc generates have registered. They run before main,
/// and must not yet read the environment: the process may still change it.
struct Registry {
  std::mutex mutex;
  std::set<std::shared_ptr<CodeModule>> modules;
  std::map<const void*, std::shared_ptr<Function>> by_host_function;
  std::map<const void*, std::shared_ptr<Function>> by_handle;
  struct Variable {
    std::shared_ptr<CodeModule> code;
    std::string name;
    void** pointer = nullptr;  // of a managed one: where the host's code looks for its address
  };
  std::map<const void*, Variable> variables;  // by address on the host
};

Registry& registry() {
  static auto* made = new Registry;
  return *made;
}

std::shared_ptr<Function> find_registered(const void* symbol) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const auto* functions : {&r.by_host_function, &r.by_handle}) {
    if (const auto found = functions->find(symbol); found != functions->end()) return found->second;
  }
  return nullptr;
}

/// Tells the host's code where the managed variables of the module are, and finds them by these
/// addresses, which `cudaMemcpyToSymbol` gets for them.
void tell_managed_addresses(const CodeModule& module) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::map<const void*, Registry::Variable> by_address;
  for (const auto& [symbol, variable] : r.variables) {
    if (variable.code.get() != &module || variable.pointer == nullptr) continue;
    void* const address = reinterpret_cast<void*>(module.program->variable(variable.name, 0));
    *variable.pointer = address;
    by_address[address] = {variable.code, variable.name};
  }
  r.variables.merge(by_address);
}

/// Takes the newest PTX that the GPU can run, as the driver does.
cudaError_t read(Process& p, CodeModule& module) {
  std::string problem;
  const GpuModel& gpu = p.devices.gpus.front();
  const EmbeddedPtx ptx = embedded_ptx(module.fat_binary, 10 * gpu.major + gpu.minor, problem);
  if (ptx.architecture == 0) {
    if (!problem.empty()) say_lacking("a fat binary: " + problem);
    return cudaErrorNoKernelImageForDevice;
  }
  module.architecture = ptx.architecture;
  try {
    module.program = std::make_shared<Program>(ptx.text, "embedded PTX", p.memory,
                                               static_cast<int>(p.devices.gpus.size()));
  } catch (const std::exception& error) {
    say_lacking(error.what());
    return cudaErrorInvalidPtx;
  }
  tell_managed_addresses(module);
  const auto names = module.program->kernels();
  module.kernels.insert(names.begin(), names.end());
  return cudaSuccess;
}

cudaError_t read_once(Process& p, CodeModule& module) {
  if (module.program == nullptr && module.error == cudaSuccess) module.error = read(p, module);
  return module.error;
}

std::shared_ptr<CodeModule> find_module(Registry& r, void** handle) {
  for (const std::shared_ptr<CodeModule>& module : r.modules)
    if (reinterpret_cast<void**>(module.get()) == handle) return module;
  return nullptr;
}

}  // namespace

cudaError_t find_symbol(Process& p, const void* symbol, std::shared_ptr<CodeModule>& code,
                        std::string& name) {
  {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const auto found = r.variables.find(symbol);
    if (found == r.variables.end()) return cudaErrorInvalidSymbol;
    code = found->second.code;
    name = found->second.name;
  }
  return read_once(p, *code);
}

cudaError_t find_function(Process& p, const void* symbol, std::shared_ptr<Function>& function) {
  function = find_registered(symbol);
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  CodeModule& module = *function->code;
  if (const cudaError_t error = read_once(p, module); error != cudaSuccess) return error;
  return module.kernels.contains(function->name) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

void reset_variables(Process&, int gpu) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  for (const std::shared_ptr<CodeModule>& module : r.modules)
    if (module->program != nullptr) module->program->reset_variables(gpu);
}

const void* add_function(std::shared_ptr<Function> function) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const void* const handle = function.get();
  r.by_handle.emplace(handle, std::move(function));
  return handle;
}

void forget_functions(const CodeModule& code) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::erase_if(r.by_handle, [&](const auto& entry) { return entry.second->code.get() == &code; });
}

std::size_t max_dynamic_shared_bytes(const Function& function, const KernelFacts& facts,
                                     const GpuModel& gpu) {
  const auto& asked = function.max_dynamic_shared_bytes;
  if (const auto found = asked.find(current_device()); found != asked.end()) return found->second;
  return gpu.shared_bytes_per_block -
         std::min(gpu.shared_bytes_per_block, facts.static_shared_bytes);
}

}  // namespace emulator

using namespace emulator;

extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function);

// Called by code that nvcc generates: the toolkit's crt/host_runtime.h and crt/device_functions.h
// declare them.
extern "C" {

void** __cudaRegisterFatBinary(void* fat_binary) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  auto module = std::make_shared<CodeModule>(CodeModule{fat_binary});
  auto* handle = reinterpret_cast<void**>(module.get());
  r.modules.insert(std::move(module));
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto is_it = [&](const auto& module) {
    return reinterpret_cast<void**>(module.get()) == handle;
  };
  for (auto* functions : {&r.by_host_function, &r.by_handle}) {
    std::erase_if(*functions, [&](const auto& entry) { return is_it(entry.second->code); });
  }
  std::erase_if(r.variables, [&](const auto& entry) { return is_it(entry.second.code); });
  std::erase_if(r.modules, is_it);
}

void __cudaRegisterFunction(void** handle, const char* host_function, char* /*device_function*/,
                            const char* name, int /*thread_limit*/, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  auto module = find_module(r, handle);
  if (module == nullptr) return;
  auto function = std::make_shared<Function>(Function{std::move(module), name, host_function});
  r.by_handle.emplace(function.get(), function);
  r.by_host_function.insert_or_assign(host_function, std::move(function));
}

void __cudaRegisterVar(void** handle, char* host_variable, char* /*device_address*/,
                       const char* name, int, size_t, int, int) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (auto module = find_module(r, handle))
    r.variables.insert_or_assign(host_variable, Registry::Variable{std::move(module), name});
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char* /*device_address*/,
                              const char* name, int, size_t, int, int) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (auto module = find_module(r, handle)) {
    r.variables.insert_or_assign(host_pointer,
                                 Registry::Variable{std::move(module), name, host_pointer});
  }
}

/// The host uses a managed variable of the module for the first time.
char __cudaInitModule(void** handle) {
  const cudaError_t error = call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<CodeModule> module;
    {
      Registry& r = registry();
      const std::lock_guard lock(r.mutex);
      module = find_module(r, handle);
    }
    return module == nullptr ? cudaErrorInvalidResourceHandle : read_once(p, *module);
  });
  if (error != cudaSuccess)
    give_up("the host uses a __managed__ variable, and there is no memory for it: " +
            std::string(cudaGetErrorString(error)));
  return 1;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  if (kernel == nullptr) return last_error() = cudaErrorInvalidValue;
  return __cudaGetKernel(kernel, host_function);
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  const auto function = find_registered(host_function);
  if (function == nullptr) return last_error() = cudaErrorInvalidDeviceFunction;
  *kernel = reinterpret_cast<cudaKernel_t>(function.get());
  return cudaSuccess;
}

}  // extern "C"
