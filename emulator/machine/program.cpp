#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "emulator/machine/address_windows.h"
#include "emulator/machine/counts/counts.h"
#include "emulator/machine/coverage.h"
#include "emulator/machine/kernel_compiler.h"
#include "emulator/machine/kernel_layout.h"
#include "emulator/machine/program_state.h"
#include "emulator/ptx/error.h"
#include "emulator/ptx/link.h"

namespace emulator {
namespace {

/// PTX that is wrong is a fault of its program.
template <class F>
auto with_faults(F f) {
  try {
    return f();
  } catch (const ptx::Error& error) {
    throw Fault(FaultKind::illegal_instruction, error.what());
  }
}

}  // namespace

Program::State::State(std::string_view ptx, const std::string& file, Memory& memory_of_gpus,
                      int gpu_count)
    : memory(memory_of_gpus),
      gpus(gpu_count),
      module(std::string(ptx), file),
      addresses(static_cast<std::size_t>(gpu_count)) {
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry) continue;
    std::vector<Parameter>& list = parameters[std::string(function.name)];
    for (const ptx::Parameter& each : function.parameters)
      list.push_back({each.offset, each.bytes});
  }
  place_variables();
}

Program::State::~State() {
  for (const auto& of_gpu : addresses)
    for (const auto& [name, address] : of_gpu) memory.release(address);
}

void Program::State::place_variables() {
  const auto is_placed = [](const ptx::Variable& variable) {
    return (variable.space == ptx::Space::global || variable.space == ptx::Space::constant) &&
           variable.bytes != 0 && !variable.is_extern;
  };
  for (const ptx::Variable& variable : module.variables) {
    if (!is_placed(variable)) continue;
    if (variable.space == ptx::Space::constant) constant_bytes += variable.bytes;
    const std::uintptr_t shared = variable.is_managed ? memory.allocate_managed(variable.bytes) : 0;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::uintptr_t address =
          variable.is_managed ? shared : memory.allocate(gpu, variable.bytes);
      if (address == 0)
        throw Fault(FaultKind::illegal_instruction,
                    fmt::format("{}:{}: no memory for '{}' on GPU {}", module.file, variable.line,
                                variable.name, gpu));
      addresses[static_cast<std::size_t>(gpu)][variable.name] = address;
    }
  }
  // A second pass: initial values may be addresses of variables that come later.
  for (const ptx::Variable& variable : module.variables)
    for (int gpu = 0; gpu < gpus; ++gpu)
      if (is_placed(variable)) initialise(variable, gpu);
}

void Program::State::initialise(const ptx::Variable& variable, int gpu) {
  const auto& of_gpu = addresses[static_cast<std::size_t>(gpu)];
  std::byte* bytes =
      memory.view(of_gpu.at(variable.name), variable.bytes, Access::write, host, module.file);
  std::memset(bytes, 0, variable.bytes);
  for (const ptx::InitialValue& value : variable.initial) {
    std::uint64_t bits = value.bits;
    if (!value.symbol.empty()) {
      const auto found = of_gpu.find(value.symbol);
      const ptx::Function* function = module.function(value.symbol);
      if (found == of_gpu.end() && (function == nullptr || !function->has_body))
        ptx::fail(module.file, variable.line,
                  fmt::format("the address of '{}' as an initial value is not implemented",
                              value.symbol));
      bits = (found != of_gpu.end() ? found->second : function_address(*function)) +
             static_cast<std::uint64_t>(value.addend);
      if (value.mask != 0) bits = (bits & value.mask) >> std::countr_zero(value.mask);
    }
    std::memcpy(bytes + value.offset, &bits, value.bytes);
  }
}

const ptx::Function& Program::State::entry(std::string_view name) const {
  const ptx::Function* function = module.function(name);
  if (function == nullptr || !function->is_entry || !function->has_body)
    throw std::out_of_range(fmt::format("{} has no kernel '{}'", module.file, name));
  return *function;
}

/// Fills in the addresses of variables, which differ from GPU to GPU, and where dynamic shared
/// memory begins.
void Program::State::link(KernelCode& kernel) const {
  for (const auto& of_gpu : addresses) {
    auto& ranges = kernel.constant_ranges.emplace_back();
    for (const ptx::Variable& variable : module.variables)
      if (const auto found = of_gpu.find(variable.name);
          variable.space == ptx::Space::constant && found != of_gpu.end())
        ranges.emplace_back(found->second, found->second + variable.bytes);
  }
  for (FunctionCode& function : kernel.functions) {
    for (const auto& of_gpu : addresses) {
      std::vector<std::byte>& constants =
          function.constants_of_gpu.emplace_back(function.constants);
      constants.resize(constants.size() + 64);
      for (const FunctionCode::Relocation& relocation : function.relocations) {
        std::uint64_t value = kernel.dynamic_shared_begin();
        const ptx::Variable& variable = *module.variable(relocation.symbol);
        if (variable.space != ptx::Space::shared) {
          const auto found = of_gpu.find(relocation.symbol);
          if (found == of_gpu.end())
            ptx::fail(module.file, variable.line,
                      fmt::format("'{}' is declared but not defined", relocation.symbol));
          value = found->second;
        }
        value += static_cast<std::uint64_t>(relocation.addend);
        for (std::size_t lane = 0; lane < warp_lanes; ++lane)
          std::memcpy(constants.data() + relocation.offset + lane * relocation.bytes, &value,
                      relocation.bytes);
      }
    }
  }
}

KernelCode& Program::State::kernel(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return *found->second;
  const ptx::Function& function = entry(name);
  const std::shared_ptr<KernelCode> kernel = with_faults([&] {
    std::unique_ptr<KernelCode> code =
        compile_kernel(module, function, {coverage_wanted(), counts_wanted()});
    link(*code);
    return code;
  });
  add_to_coverage(module.text.size(), std::string(name), kernel);
  return *kernels_.emplace(name, kernel).first->second;
}

std::string link_ptx(const std::vector<std::string_view>& modules) {
  return with_faults([&] { return ptx::link(modules); });
}

Program::Program(std::string_view ptx, const std::string& file, Memory& memory, int gpus)
    : state_(with_faults([&] { return std::make_unique<State>(ptx, file, memory, gpus); })) {}

Program::~Program() = default;

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> names;
  for (const auto& [name, list] : state_->parameters) names.push_back(name);
  return names;
}

const KernelFacts& Program::facts(std::string_view name) const {
  const ptx::Function& function = state_->entry(name);
  const KernelCode& kernel = state_->kernel(name);
  const std::lock_guard lock(state_->mutex_);
  if (const auto found = state_->facts_.find(name); found != state_->facts_.end())
    return found->second;
  KernelFacts facts;
  facts.name = name;
  facts.demangled = kernel.demangled;
  facts.static_shared_bytes = kernel.static_shared_bytes;
  facts.local_bytes = kernel.local_bytes;
  facts.constant_bytes = state_->constant_bytes;
  facts.parameter_bytes = function.parameter_bytes;
  // Virtual registers live shortly; more than 255 no thread has.
  facts.registers = std::clamp(kernel.registers / 4, 8, 255);
  const auto product = [](const std::array<unsigned, 3>& extents) {
    return static_cast<int>(extents[0] * extents[1] * extents[2]);
  };
  if (function.max_threads[0] != 0) facts.max_threads = product(function.max_threads);
  if (function.required_threads[0] != 0) facts.max_threads = product(function.required_threads);
  facts.required_threads = function.required_threads;
  facts.required_cluster = function.cluster;
  facts.max_cluster_blocks = function.max_cluster_blocks;
  facts.needs_cluster = function.needs_cluster;
  // The register file has 65536: a block of many threads leaves each fewer.
  facts.registers =
      std::min(facts.registers, std::max(8, 65536 / std::max(facts.max_threads, 1) / 8 * 8));
  return state_->facts_.emplace(name, std::move(facts)).first->second;
}

std::span<const Program::Parameter> Program::parameters(std::string_view kernel) const {
  const auto found = state_->parameters.find(kernel);
  if (found == state_->parameters.end())
    throw std::out_of_range(fmt::format("{} has no kernel '{}'", state_->module.file, kernel));
  return found->second;
}

void Program::reset_variables(int gpu) {
  const auto& of_gpu = state_->addresses.at(static_cast<std::size_t>(gpu));
  for (const ptx::Variable& variable : state_->module.variables)
    if (of_gpu.contains(variable.name) && !variable.is_managed) state_->initialise(variable, gpu);
}

std::uintptr_t Program::variable(std::string_view name, int gpu, std::size_t* bytes) const {
  const auto& of_gpu = state_->addresses.at(static_cast<std::size_t>(gpu));
  const auto found = of_gpu.find(name);
  if (found == of_gpu.end()) return 0;
  if (bytes != nullptr) *bytes = state_->module.variable(name)->bytes;
  return found->second;
}

}  // namespace emulator
