#include "emulator/machine/kernel_compiler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "emulator/machine/decoder.h"
#include "emulator/ptx/error.h"

namespace emulator {
namespace {

std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string demangle(std::string_view name) {
  const std::string mangled(name);
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return mangled;
  std::string result(text);
  std::free(text);
  return result;
}

std::size_t slot_bytes(ptx::Type type) {
  return type == ptx::Type::pred ? sizeof(Mask) : ptx::bytes_of(type) * warp_lanes;
}

}  // namespace

KernelCompiler::KernelCompiler(const ptx::Module& module, const ptx::Function& entry,
                               Observed observed)
    : module_(module), observed_(observed), kernel_(std::make_unique<KernelCode>()) {
  kernel_->module = &module;
  kernel_->function = &entry;
  kernel_->demangled = demangle(entry.name);
}

std::unique_ptr<KernelCode> KernelCompiler::compile() {
  kernel_->entry = function(*kernel_->function, kernel_->function->line);
  kernel_->local_bytes = align_up(kernel_->local_bytes, 16);
  return std::move(kernel_);
}

FunctionCode* KernelCompiler::function(const ptx::Function& function, int line) {
  if (std::ranges::find(open_, &function) != open_.end())
    ptx::fail(module_.file, line,
              fmt::format("'{}' calls itself, which is not implemented", function.name));
  if (const auto found = functions_.find(&function); found != functions_.end())
    return found->second;
  if (!function.has_body)
    ptx::fail(module_.file, line, fmt::format("'{}' has no body", function.name));
  FunctionCode& code = kernel_->functions.emplace_back();
  code.function = &function;
  functions_[&function] = &code;
  open_.push_back(&function);
  FunctionCompiler(*this, function, code).compile();
  open_.pop_back();
  if (observed_.coverage) code.executed = std::make_unique<std::uint8_t[]>(code.codes.size());
  return &code;
}

std::size_t KernelCompiler::shared_offset(const ptx::Variable& variable) {
  const auto [found, is_new] = shared_offsets_.try_emplace(variable.name, 0);
  if (is_new) {
    found->second =
        align_up(kernel_->static_shared_bytes, std::max<std::size_t>(variable.alignment, 1));
    kernel_->static_shared_bytes = found->second + variable.bytes;
  }
  return found->second;
}

std::size_t KernelCompiler::add_local(const ptx::Variable& variable) {
  const std::size_t offset =
      align_up(kernel_->local_bytes, std::max<std::size_t>(variable.alignment, 1));
  kernel_->local_bytes = offset + variable.bytes;
  return offset;
}

FunctionCompiler::FunctionCompiler(KernelCompiler& kernel, const ptx::Function& function,
                                   FunctionCode& code)
    : kernel_(kernel),
      function_(function),
      code_(code),
      body_(ptx::parse_body(kernel.module(), function)) {}

std::uint32_t FunctionCompiler::reserve(std::size_t bytes) {
  const std::size_t offset = align_up(code_.register_bytes, std::min<std::size_t>(bytes, 64));
  code_.register_bytes = static_cast<std::uint32_t>(offset + bytes);
  return static_cast<std::uint32_t>(offset);
}

void FunctionCompiler::place_parameter(std::string_view name, std::size_t bytes,
                                       std::size_t alignment) {
  // Calls reuse names (param0) in scopes of their own, and none is open while another one is.
  const auto [found, is_new] = parameter_areas_.try_emplace(name, Area{0, 0});
  if (!is_new && found->second.bytes >= bytes) return;
  const std::size_t offset = align_up(code_.parameter_bytes, std::max<std::size_t>(alignment, 8));
  found->second = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)};
  code_.parameter_bytes = static_cast<std::uint32_t>(align_up(offset + bytes, 16));
}

void FunctionCompiler::compile() {
  reserve(256);  // scratch()
  for (const ptx::Register& each : body_.registers)
    places_.push_back({reserve(slot_bytes(each.type)), 0});
  kernel_.kernel().registers =
      std::max(kernel_.kernel().registers, static_cast<int>(body_.registers.size()));
  if (!is_entry())
    for (const auto* list : {&function_.results, &function_.parameters})
      for (const ptx::Parameter& each : *list) {
        if (each.is_register)
          ptx::fail(kernel_.module().file, function_.line,
                    "parameters in registers are not implemented");
        place_parameter(each.name, each.bytes, each.alignment);
      }
  for (const ptx::Variable& variable : body_.variables) {
    if (variable.space == ptx::Space::parameter)
      place_parameter(variable.name, variable.bytes, variable.alignment);
    if (variable.space == ptx::Space::shared) kernel_.shared_offset(variable);
    if (variable.space == ptx::Space::local)
      local_offsets_[variable.name] = kernel_.add_local(variable);
  }
  for (const ptx::Instruction& instruction : body_.instructions) {
    Decoder decoder(*this, instruction);
    const DecodeFunction decode = find_opcode(instruction.opcode);
    if (decode == nullptr)
      decoder.fail(fmt::format("the opcode '{}' is not known", instruction.opcode));
    decode(decoder);
    if (kernel_.counts()) {
      code_.costs.resize(code_.codes.size() - 1);
      code_.costs.push_back(cost_of(instruction));
    }
  }
  // A body may end without `ret`, after a jump back or a trap.
  ptx::Instruction end;
  end.opcode = "ret";
  end.line = body_.instructions.empty() ? function_.line : body_.instructions.back().line;
  Decoder decoder(*this, end);
  find_opcode("ret")(decoder);
  if (kernel_.counts()) code_.costs.resize(code_.codes.size());
}

Place FunctionCompiler::carry() {
  if (!carry_) carry_ = reserve(sizeof(Mask));
  return {*carry_, 0};
}

Place FunctionCompiler::special_place(Special special, bool wide) {
  const auto [found, is_new] = specials_.try_emplace({special, wide}, 0);
  if (is_new) {
    found->second = reserve(wide ? 256 : 128);
    code_.specials.push_back({special, found->second, wide});
  }
  return {found->second, 0};
}

Place FunctionCompiler::constant(std::uint64_t bits, std::size_t bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (bytes * 8)) - 1;
  const auto [found, is_new] =
      constants_.try_emplace({bits, bytes}, static_cast<std::uint32_t>(code_.constants.size()));
  if (is_new) {
    code_.constants.resize(code_.constants.size() + align_up(bytes * warp_lanes, 64));
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
      std::memcpy(code_.constants.data() + found->second + lane * bytes, &bits, bytes);
  }
  return {found->second, 1};
}

Place FunctionCompiler::address_constant(std::string_view name, std::int64_t addend,
                                         std::size_t bytes) {
  const auto offset = static_cast<std::uint32_t>(code_.constants.size());
  code_.constants.resize(code_.constants.size() + align_up(bytes * warp_lanes, 64));
  code_.relocations.push_back({offset, name, addend, bytes});
  return {offset, 1};
}

SymbolAddress FunctionCompiler::symbol(std::string_view name, int line) {
  if (is_entry())
    for (const ptx::Parameter& each : function_.parameters)
      if (each.name == name) return {ptx::Space::parameter, each.offset, false, false, each.bytes};
  if (const auto area = parameter_areas_.find(name); area != parameter_areas_.end())
    return {ptx::Space::parameter, area->second.offset, true, false, area->second.bytes};
  if (const auto local = local_offsets_.find(name); local != local_offsets_.end())
    return {ptx::Space::local, local->second};
  for (const ptx::Variable& variable : body_.variables)
    if (variable.name == name && variable.space == ptx::Space::shared)
      return {ptx::Space::shared, kernel_.shared_offset(variable)};
  const ptx::Variable* variable = kernel_.module().variable(name);
  if (variable == nullptr)
    ptx::fail(kernel_.module().file, line, fmt::format("nothing is called '{}'", name));
  if (variable->space == ptx::Space::shared) {
    if (variable->bytes != 0) return {ptx::Space::shared, kernel_.shared_offset(*variable)};
    std::size_t& alignment = kernel_.kernel().dynamic_shared_alignment;
    alignment = std::max(alignment, variable->alignment);
    return {ptx::Space::shared, 0, false, true};
  }
  return {variable->space, 0, false, true};
}

}  // namespace emulator
