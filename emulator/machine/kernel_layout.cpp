#include "emulator/machine/kernel_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/ptx/error.h"

namespace emulator {
namespace {

std::size_t slot_bytes(ptx::Type type) {
  return type == ptx::Type::pred ? sizeof(Mask) : ptx::bytes_of(type) * warp_lanes;
}

}  // namespace

FunctionCode* KernelLayout::function(const ptx::Function& function, int line) {
  FunctionCode*& code = functions_[&function];
  if (code != nullptr) return code;
  if (!function.has_body)
    ptx::fail(module_.file, line,
              fmt::format("'{}' has no body: its file is not linked, has no PTX as plain text "
                          "(--no-compress), or "
                          "is the device runtime, which is not emulated",
                          function.name));
  code = &kernel_.functions.emplace_back();
  code->function = &function;
  return code;
}

std::size_t KernelLayout::shared_offset(const ptx::Variable& variable) {
  const auto [found, is_new] = shared_offsets_.try_emplace(variable.name, 0);
  if (is_new) {
    found->second =
        ptx::align_up(kernel_.static_shared_bytes, std::max<std::size_t>(variable.alignment, 1));
    kernel_.static_shared_bytes = found->second + variable.bytes;
  }
  return found->second;
}

std::size_t FunctionLayout::add_local(const ptx::Variable& variable) {
  const std::size_t offset =
      ptx::align_up(code_.local_bytes, std::max<std::size_t>(variable.alignment, 1));
  code_.local_bytes = offset + variable.bytes;
  return offset;
}

std::uint32_t FunctionLayout::reserve(std::size_t bytes) {
  const std::size_t offset = ptx::align_up(code_.register_bytes, std::min<std::size_t>(bytes, 64));
  code_.register_bytes = static_cast<std::uint32_t>(offset + bytes);
  return static_cast<std::uint32_t>(offset);
}

void FunctionLayout::place_parameter(std::string_view name, std::size_t bytes,
                                     std::size_t alignment) {
  // Calls reuse names (param0) in scopes of their own, and none is open while another one is.
  const auto [found, is_new] = parameter_areas_.try_emplace(name, Area{0, 0});
  if (!is_new && found->second.bytes >= bytes) return;
  const std::size_t offset =
      ptx::align_up(code_.parameter_bytes, std::max<std::size_t>(alignment, 8));
  found->second = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)};
  code_.parameter_bytes = static_cast<std::uint32_t>(ptx::align_up(offset + bytes, 16));
}

FunctionLayout::FunctionLayout(KernelLayout& kernel, FunctionCode& code)
    : kernel_(kernel),
      code_(code),
      function_(*code.function),
      body_(ptx::parse_body(kernel.module(), function_)) {
  reserve(256);  // scratch()
  for (const ptx::Register& each : body_.registers)
    places_.push_back({reserve(slot_bytes(each.type)), 0});
  kernel_.kernel().registers =
      std::max(kernel_.kernel().registers, static_cast<int>(body_.registers.size()));
  if (!is_entry())
    for (const auto* list : {&function_.results, &function_.parameters})
      for (const ptx::Parameter& each : *list) {
        if (each.is_register)
          ptx::fail(module().file, function_.line, "parameters in registers are not implemented");
        place_parameter(each.name, each.bytes, each.alignment);
      }
  for (const ptx::Variable& variable : body_.variables) {
    if (variable.space == ptx::Space::parameter)
      place_parameter(variable.name, variable.bytes, variable.alignment);
    if (variable.space == ptx::Space::shared) kernel_.shared_offset(variable);
    if (variable.space == ptx::Space::local) local_offsets_[variable.name] = add_local(variable);
  }
  code_.local_bytes = ptx::align_up(code_.local_bytes, 16);
}

Place FunctionLayout::carry() {
  if (!carry_) carry_ = reserve(sizeof(Mask));
  return {*carry_, 0};
}

Place FunctionLayout::special_place(std::size_t special, std::size_t bytes) {
  const auto [found, is_new] = specials_.try_emplace({special, bytes}, 0);
  if (is_new) {
    found->second = reserve(static_cast<std::uint32_t>(bytes * warp_lanes));
    code_.specials.push_back({special, found->second, bytes});
  }
  return {found->second, 0};
}

Place FunctionLayout::constant(std::uint64_t bits, std::size_t bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (bytes * 8)) - 1;
  const auto [found, is_new] =
      constants_.try_emplace({bits, bytes}, static_cast<std::uint32_t>(code_.constants.size()));
  if (is_new) {
    code_.constants.resize(code_.constants.size() + ptx::align_up(bytes * warp_lanes, 64));
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
      std::memcpy(code_.constants.data() + found->second + lane * bytes, &bits, bytes);
  }
  return {found->second, 1};
}

Place FunctionLayout::address_of(const SymbolAddress& symbol, std::string_view name,
                                 std::int64_t addend, std::size_t bytes) {
  const std::uint64_t address = symbol.value + static_cast<std::uint64_t>(addend);
  if (symbol.on_stack) {
    code_.locals.push_back({reserve(bytes * warp_lanes), address, bytes});
    return {code_.locals.back().offset, 0};
  }
  if (!symbol.relocated) return constant(address, bytes);
  const auto offset = static_cast<std::uint32_t>(code_.constants.size());
  code_.constants.resize(code_.constants.size() + ptx::align_up(bytes * warp_lanes, 64));
  code_.relocations.push_back({offset, name, addend, bytes});
  return {offset, 1};
}

SymbolAddress FunctionLayout::symbol(std::string_view name, int line) {
  if (is_entry())
    for (const ptx::Parameter& each : function_.parameters)
      if (each.name == name)
        return {.space = ptx::Space::parameter, .value = each.offset, .bytes = each.bytes};
  if (const auto area = parameter_areas_.find(name); area != parameter_areas_.end())
    return {.space = ptx::Space::parameter,
            .value = area->second.offset,
            .in_frame = true,
            .bytes = area->second.bytes};
  if (const auto local = local_offsets_.find(name); local != local_offsets_.end())
    return {.space = ptx::Space::local, .value = local->second, .on_stack = !is_entry()};
  for (const ptx::Variable& variable : body_.variables)
    if (variable.name == name && variable.space == ptx::Space::shared)
      return {ptx::Space::shared, kernel_.shared_offset(variable)};
  const ptx::Variable* variable = module().variable(name);
  if (const ptx::Function* pointed = module().function(name);
      variable == nullptr && pointed != nullptr && pointed->has_body)
    return {.space = ptx::Space::reg, .value = function_address(*pointed)};
  if (variable == nullptr)
    ptx::fail(module().file, line, fmt::format("nothing is called '{}'", name));
  if (variable->space == ptx::Space::shared) {
    if (variable->bytes != 0) return {ptx::Space::shared, kernel_.shared_offset(*variable)};
    std::size_t& alignment = kernel_.kernel().dynamic_shared_alignment;
    alignment = std::max(alignment, variable->alignment);
    return {ptx::Space::shared, 0, false, true};
  }
  return {variable->space, 0, false, true};
}

}  // namespace emulator
