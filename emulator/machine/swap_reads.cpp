#include "emulator/machine/swap_reads.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace emulator {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

/// An address as a sum: registers and symbols, of which moves, casts and additions of registers
/// that are set once are seen through, and a distance.
struct Address {
  using Term = std::tuple<OperandKind, int, std::string_view>;
  std::multiset<Term> terms{};
  std::int64_t offset = 0;
  bool operator==(const Address&) const = default;
};

/// Null: it is set in several places.
const Instruction* only_definition(const ptx::Body& body, int target) {
  const Instruction* found = nullptr;
  for (const Instruction& each : body.instructions) {
    if (each.operands.empty() || each.operands[0].kind != OperandKind::reg ||
        each.operands[0].index != target)
      continue;
    if (found != nullptr) return nullptr;
    found = &each;
  }
  return found;
}

void add(const ptx::Body& body, const Operand& operand, Address& to, int depth = 0) {
  if (operand.kind == OperandKind::integer) {
    to.offset += static_cast<std::int64_t>(operand.bits);
    return;
  }
  const Instruction* from = operand.kind == OperandKind::reg && depth < 16
                                ? only_definition(body, operand.index)
                                : nullptr;
  if (from != nullptr && from->guard < 0 &&
      (from->opcode == "mov" || from->opcode == "cvta" || from->opcode == "add")) {
    const std::size_t sources = from->opcode == "add" ? 3 : 2;
    if (from->operands.size() == sources && !from->has("sat") && !from->has("cc") &&
        from->operands[1].kind != OperandKind::vector) {
      for (std::size_t i = 1; i < sources; ++i) add(body, from->operands[i], to, depth + 1);
      return;
    }
  }
  to.terms.emplace(operand.kind, operand.index, operand.name);
  if (operand.kind == OperandKind::symbol) to.offset += operand.offset;
}

Address address_of(const ptx::Body& body, const Operand& operand) {
  Address address{.terms = {}, .offset = operand.offset};
  add(body, operand.elements.front(), address);
  return address;
}

/// The registers whose values moves bring into this one, itself among them.
std::set<int> sources_of(const ptx::Body& body, int target) {
  std::set<int> found{target};
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction& each : body.instructions)
      if (each.opcode == "mov" && each.operands.size() == 2 &&
          each.operands[0].kind == OperandKind::reg && each.operands[1].kind == OperandKind::reg &&
          found.contains(each.operands[0].index))
        grows |= found.insert(each.operands[1].index).second;
  }
  return found;
}

}  // namespace

std::vector<bool> find_swap_reads(const ptx::Body& body) {
  std::vector<bool> result(body.instructions.size());
  for (const Instruction& swap : body.instructions) {
    if (swap.opcode != "atom" || !swap.has("cas") || swap.operands.size() != 4 ||
        swap.operands[2].kind != OperandKind::reg)
      continue;
    const std::set<int> compared = sources_of(body, swap.operands[2].index);
    const Address place = address_of(body, swap.operands[1]);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Instruction& read = body.instructions[i];
      if (read.opcode == "ld" && read.operands.size() == 2 &&
          read.operands[0].kind == OperandKind::reg && compared.contains(read.operands[0].index) &&
          read.operands[1].kind == OperandKind::address &&
          address_of(body, read.operands[1]) == place)
        result[i] = true;
    }
  }
  return result;
}

}  // namespace emulator
