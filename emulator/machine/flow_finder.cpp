#include "emulator/machine/flow_finder.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace emulator {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::array<std::string_view, 18> uses{
    "bra",        "brx",     "call",         "ret",   "exit",       "trap",
    "bar",        "barrier", "nanosleep",    "fence", "membar",     "elect",
    "activemask", "alloca",  "stackrestore", "mapa",  "getctarank", "wgmma"};
constexpr std::array<std::string_view, 6> memories{"ld",       "ldu",      "st",
                                                   "ldmatrix", "stmatrix", "sust"};
constexpr std::array<std::string_view, 16> moves{"mov",  "cvta", "and",  "or",       "xor", "not",
                                                 "shl",  "shr",  "shf",  "lop3",     "bfe", "bfi",
                                                 "prmt", "selp", "shfl", "movmatrix"};
constexpr std::array<std::string_view, 4> compares{"setp", "set", "testp", "isspacep"};

/// From one integer to another: some of its bits, or all and its sign.
bool converts_integers(const Instruction& instruction) {
  if (instruction.opcode != "cvt") return false;
  return std::ranges::all_of(instruction.modifiers, [](std::string_view modifier) {
    const auto type = ptx::type_named(modifier);
    return type && !ptx::is_float(*type);
  });
}

/// Follows its values itself, as it does not write its results at once.
bool is_product(const Instruction& instruction) {
  return instruction.opcode == "wgmma" && instruction.has("mma_async");
}

FlowKind kind_of(const Instruction& instruction) {
  const std::string_view name = instruction.opcode;
  if (is_product(instruction)) return FlowKind::memory;
  if (is_one_of(uses, name)) return FlowKind::use;
  if (is_one_of(memories, name)) return FlowKind::memory;
  if (name == "wmma" && (instruction.has("load") || instruction.has("store")))
    return FlowKind::memory;
  // Nothing that touches memory is executed twice.
  const auto is_address = [](const Operand& each) { return each.kind == OperandKind::address; };
  if (std::ranges::any_of(instruction.operands, is_address)) return FlowKind::use;
  if (is_one_of(compares, name)) return FlowKind::compare;
  if (is_one_of(moves, name) || converts_integers(instruction)) return FlowKind::move;
  return FlowKind::compute;
}

/// brx has its index there, barriers their number.
bool begins_with_result(const Instruction& instruction) {
  const std::string_view name = instruction.opcode;
  if (name == "bar" || name == "barrier") return instruction.has("red");
  return name != "brx" && name != "nanosleep" && name != "call" && name != "stackrestore";
}

class Collector {
 public:
  explicit Collector(FunctionLayout& layout) : layout_(layout) {}

  void add(std::vector<Slot>& slots, const Operand& operand) const {
    if (operand.kind == OperandKind::reg) add(slots, operand.index);
    if (operand.second >= 0) add(slots, operand.second);
    for (const Operand& each : operand.elements) add(slots, each);
  }

 private:
  void add(std::vector<Slot>& slots, int index) const {
    const ptx::Type type = layout_.register_type(index);
    const auto bytes = type == ptx::Type::pred ? std::size_t{0} : ptx::bytes_of(type);
    slots.push_back({layout_.register_place(index).offset, static_cast<std::uint8_t>(bytes)});
  }
  FunctionLayout& layout_;
};

}  // namespace

Flow flow_of(FunctionLayout& layout, const Instruction& instruction) {
  Flow flow{.kind = kind_of(instruction)};
  flow.is_plain_move = instruction.opcode == "mov";
  flow.is_product = is_product(instruction);
  const Collector collector(layout);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_address = operand.kind == OperandKind::address;
    if (i == 0 && !is_address && begins_with_result(instruction))
      collector.add(flow.destinations, operand);
    else if (flow.kind != FlowKind::memory || is_address)
      collector.add(flow.sources, operand);
    else
      collector.add(flow.stored, operand);
  }
  // The condition code of extended arithmetic.
  const std::string_view name = instruction.opcode;
  if (instruction.has("cc")) flow.destinations.push_back({layout.carry().offset, 0});
  if (name == "addc" || name == "subc" || name == "madc")
    flow.sources.push_back({layout.carry().offset, 0});
  return flow;
}

}  // namespace emulator
