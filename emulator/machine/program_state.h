#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/machine/function_code.h"
#include "emulator/machine/machine.h"
#include "emulator/ptx/module.h"

namespace emulator {

struct Program::State {
  State(std::string_view ptx, const std::string& file, Memory& memory_of_gpus, int gpu_count);
  ~State();

  /// Compiles the kernel at its first use. Throws std::out_of_range for an unknown name.
  KernelCode& kernel(std::string_view name);
  const ptx::Function& entry(std::string_view name) const;

  Memory& memory;
  const int gpus;
  ptx::Module module;
  std::vector<std::unordered_map<std::string_view, std::uintptr_t>>
      addresses;  // of variables, by GPU
  std::map<std::string, std::vector<Parameter>, std::less<>> parameters;
  std::size_t constant_bytes = 0;

 private:
  void place_variables();
  void initialise(const ptx::Variable& variable, int gpu);
  void link(KernelCode& kernel) const;

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<KernelCode>, std::less<>> kernels_;
  std::map<std::string, KernelFacts, std::less<>> facts_;
  friend class Program;
};

}  // namespace emulator
