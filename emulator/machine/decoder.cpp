#include "emulator/machine/decoder.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "emulator/machine/special_registers.h"
#include "emulator/ptx/error.h"

namespace emulator {
namespace {

std::unordered_map<std::string_view, DecodeFunction>& opcode_table() {
  static std::unordered_map<std::string_view, DecodeFunction> table;
  return table;
}

}  // namespace

Opcodes::Opcodes(std::initializer_list<std::pair<std::string_view, DecodeFunction>> rows) {
  for (const auto& [name, decode] : rows)
    if (!opcode_table().emplace(name, decode).second)
      throw std::logic_error(fmt::format("two decoders of '{}'", name));
}

DecodeFunction find_opcode(std::string_view name) {
  const auto found = opcode_table().find(name);
  return found == opcode_table().end() ? nullptr : found->second;
}

Decoder::Decoder(FunctionLayout& layout, const ptx::Instruction& instruction)
    : layout_(layout), instruction_(instruction) {
  code.line = instruction.line;
  code.used_bytes = instruction.used_bytes;
  if (instruction.guard < 0) return;
  if (layout.register_type(instruction.guard) != ptx::Type::pred) fail("the guard is no predicate");
  code.guard = layout.register_place(instruction.guard).offset;
  code.guard_negated = instruction.guard_negated;
}

void Decoder::fail(const std::string& text) const {
  ptx::fail(layout_.module().file, instruction_.line,
            fmt::format("{} in: {}", text, layout_.module().line(instruction_.line)));
}

void Decoder::fail_type(ptx::Type type) const {
  fail(fmt::format("'{}' does not take the type .{}", instruction_.opcode, ptx::name_of(type)));
}

void Decoder::needs(int compute_capability) const {
  const int target = layout_.module().target;
  if (target < compute_capability)
    fail(fmt::format("'{}' needs compute capability {}.{} here, and the target is sm_{}",
                     instruction_.opcode, compute_capability / 10, compute_capability % 10,
                     target));
}

bool Decoder::take(std::string_view modifier) {
  for (std::size_t i = 0; i < instruction_.modifiers.size(); ++i) {
    if ((taken_ >> i & 1) != 0 || instruction_.modifiers[i] != modifier) continue;
    taken_ |= 1u << i;
    return true;
  }
  return false;
}

void Decoder::expect(std::string_view modifier) {
  if (!take(modifier)) fail(fmt::format("'.{}' is missing", modifier));
}

std::optional<ptx::Type> Decoder::maybe_type() {
  for (std::size_t i = 0; i < instruction_.modifiers.size(); ++i) {
    if ((taken_ >> i & 1) != 0) continue;
    const auto type = ptx::type_named(instruction_.modifiers[i]);
    if (!type) continue;
    taken_ |= 1u << i;
    return type;
  }
  return std::nullopt;
}

ptx::Type Decoder::type() {
  const auto type = maybe_type();
  if (!type) fail("a type is missing");
  return *type;
}

std::optional<Rounding> Decoder::rounding() {
  if (take("rn")) return Rounding::nearest;
  if (take("rz")) return Rounding::zero;
  if (take("rm")) return Rounding::down;
  if (take("rp")) return Rounding::up;
  return std::nullopt;
}

bool Decoder::take_scope() {
  for (const std::string_view scope : {"cta", "cluster", "gpu", "gl", "sys"})
    if (take(scope)) {
      code.scope = scope == "cta" ? Scope::block : scope == "cluster" ? Scope::cluster : Scope::gpu;
      return true;
    }
  return false;
}

void Decoder::take_cache_hints() {
  for (const std::string_view hint :
       {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "L1::evict_normal", "L1::evict_unchanged",
        "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B",
        "L2::evict_first", "L2::evict_last", "L2::evict_normal"})
    take(hint);
}

std::size_t Decoder::take_cache_policy() {
  if (!take("L2::cache_hint")) return operands();
  if (operands() == 0) fail("a cache policy is missing");
  source(operands() - 1, ptx::Type::b64);
  return operands() - 1;
}

bool Decoder::take_shared() {
  const bool cluster = take("shared::cluster");
  if (cluster) needs(90);
  if (!cluster && !take("shared") && !take("shared::cta")) return false;
  code.space = cluster ? ptx::Space::cluster : ptx::Space::shared;
  return true;
}

void Decoder::expect_operands(std::size_t least, std::size_t most) {
  if (operands() < least || operands() > most)
    fail(fmt::format("'{}' does not take {} operands", instruction_.opcode, operands()));
}

const ptx::Operand& Decoder::operand(std::size_t index) const {
  if (index >= instruction_.operands.size()) fail("an operand is missing");
  return instruction_.operands[index];
}

ptx::Type Decoder::register_type(const ptx::Operand& operand) const {
  return layout_.register_type(operand.index);
}

Place Decoder::destination(const ptx::Operand& operand, ptx::Type type) {
  if (operand.kind == ptx::OperandKind::sink) return layout_.scratch();
  if (operand.kind != ptx::OperandKind::reg) fail("the destination is no register");
  if (ptx::bytes_of(register_type(operand)) != ptx::bytes_of(type))
    fail(fmt::format("a register of type .{} cannot take .{}", ptx::name_of(register_type(operand)),
                     ptx::name_of(type)));
  return layout_.register_place(operand.index);
}

Place Decoder::source(const ptx::Operand& operand, ptx::Type type) {
  const std::size_t bytes = ptx::bytes_of(type);
  if (operand.negated) fail("'!' stands before predicates only");
  switch (operand.kind) {
    case ptx::OperandKind::reg:
      if (operand.second != -1) fail("'|' stands in destinations only");
      if (ptx::bytes_of(register_type(operand)) != bytes)
        fail(fmt::format("a register of type .{} is no .{}", ptx::name_of(register_type(operand)),
                         ptx::name_of(type)));
      return layout_.register_place(operand.index);
    case ptx::OperandKind::integer:
      if (bytes == 0) return truth(operand);
      if (type == ptx::Type::f32)
        return constant(std::bit_cast<std::uint32_t>(
                            static_cast<float>(static_cast<std::int64_t>(operand.bits))),
                        4);
      if (type == ptx::Type::f64)
        return constant(std::bit_cast<std::uint64_t>(
                            static_cast<double>(static_cast<std::int64_t>(operand.bits))),
                        8);
      return constant(operand.bits, bytes);
    case ptx::OperandKind::f32:
      if (bytes == 8)
        return constant(std::bit_cast<std::uint64_t>(static_cast<double>(
                            std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))),
                        8);
      if (bytes != 4) fail("a number of single precision does not fit");
      return constant(operand.bits, bytes);
    case ptx::OperandKind::f64:
      if (bytes == 4)
        return constant(
            std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits))),
            4);
      if (bytes != 8) fail("a number of double precision does not fit");
      return constant(operand.bits, bytes);
    case ptx::OperandKind::symbol:
      if (operand.name == "WARP_SZ") return constant(warp_lanes, bytes);
      fail("a name is no operand here");
    case ptx::OperandKind::special:
      if (const auto special = find_special(operand.name)) {
        if (bytes < 2) fail("a special register is not read as 8 bits");
        return layout_.special_place(*special, bytes);
      }
      fail(fmt::format("the special register '{}' is not known here", operand.name));
    default:
      fail("an operand of this form is not known here");
  }
}

Place Decoder::second_destination(std::size_t index) {
  const ptx::Operand& which = operand(index);
  if (which.second < 0) return layout_.scratch();
  if (layout_.register_type(which.second) != ptx::Type::pred) fail("no predicate follows '|'");
  return layout_.register_place(which.second);
}

Place Decoder::truth(const ptx::Operand& number) {
  return constant(number.bits != 0 ? ~std::uint64_t{0} : 0, sizeof(Mask));
}

Place Decoder::predicate(std::size_t index, bool& negated) {
  const ptx::Operand& which = operand(index);
  if (which.kind == ptx::OperandKind::integer) {
    negated = which.negated;
    return truth(which);
  }
  if (which.kind != ptx::OperandKind::reg || register_type(which) != ptx::Type::pred)
    fail("a predicate is needed");
  negated = which.negated;
  return layout_.register_place(which.index);
}

Place Decoder::constant(std::uint64_t bits, std::size_t bytes) {
  return layout_.constant(bits, bytes);
}

void Decoder::address(std::size_t index) {
  const ptx::Operand& which = operand(index);
  if (which.kind != ptx::OperandKind::address) fail("an address in brackets is needed");
  if (which.elements.size() != 1) fail("coordinates belong to textures and surfaces only");
  const ptx::Operand& base = which.elements.front();
  code.offset = which.offset;
  if (base.kind == ptx::OperandKind::reg) {
    const std::size_t bytes = ptx::bytes_of(register_type(base));
    if (bytes != 4 && bytes != 8) fail("an address has 32 or 64 bits");
    code.a = layout_.register_place(base.index);
    code.flag = bytes == 4;
  } else if (base.kind == ptx::OperandKind::integer) {
    code.a = constant(base.bits, 8);
  } else if (base.kind == ptx::OperandKind::symbol) {
    const SymbolAddress symbol = layout_.symbol(base.name, instruction_.line);
    const bool is_shared = symbol.space == ptx::Space::shared && code.space == ptx::Space::cluster;
    if (symbol.space != code.space && code.space != ptx::Space::generic && !is_shared)
      fail(fmt::format("'{}' lies in another space", base.name));
    if (code.space == ptx::Space::generic && symbol.space != ptx::Space::global)
      code.space = symbol.space;
    code.a = layout_.address_of(symbol, base.name, 0, 8);
    code.flag2 = symbol.in_frame;
  } else {
    fail("an address of this form is not known");
  }
}

AddressPlace Decoder::address_in(std::size_t index, ptx::Space space) {
  const Code before = code;
  code.space = space;
  address(index);
  const AddressPlace result{code.a, code.offset, code.flag, code.space};
  code = before;
  return result;
}

void Decoder::emit(Code::Run run) {
  for (std::size_t i = 0; i < instruction_.modifiers.size(); ++i)
    if ((taken_ >> i & 1) == 0)
      fail(fmt::format("the modifier '.{}' is not implemented", instruction_.modifiers[i]));
  code.run = run;
  layout_.code().codes.push_back(code);
}

}  // namespace emulator
