#include "emulator/machine/swap_reads.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace emulator {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

/// Base of an address, and the distance from it, through moves and casts of registers that are set
/// once.
struct Address {
  Operand base;
  std::int64_t offset;
  bool operator==(const Address& other) const {
    return offset == other.offset && base.kind == other.base.kind &&
           base.index == other.base.index && base.name == other.base.name;
  }
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

Address address_of(const ptx::Body& body, const Operand& operand) {
  Address address{operand.elements.front(), operand.offset};
  while (address.base.kind == OperandKind::reg) {
    const Instruction* from = only_definition(body, address.base.index);
    if (from == nullptr || (from->opcode != "mov" && from->opcode != "cvta")) break;
    const Operand& source = from->operands[1];
    if (source.kind != OperandKind::reg && source.kind != OperandKind::symbol) break;
    address.base = source;
    address.offset += source.kind == OperandKind::symbol ? source.offset : 0;
  }
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
