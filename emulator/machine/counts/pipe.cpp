#include "emulator/machine/counts/pipe.h"

#include <algorithm>
#include <optional>
#include <span>

#include "emulator/ptx/types.h"

namespace emulator {
namespace {

/// Instructions of the sequences for what a GPU has no instruction for.
constexpr unsigned char divide_f32 = 8, root_f32 = 7, reciprocal_f32 = 5, divide_f64 = 10,
                        divide_32 = 16, divide_64 = 70;

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

class Reader {
 public:
  explicit Reader(const ptx::Instruction& instruction) : instruction_(instruction) {
    for (const std::string_view modifier : instruction.modifiers)
      if (const auto type = ptx::type_named(modifier)) types_[count_++ % types_.size()] = *type;
  }
  bool has(std::string_view modifier) const {
    return std::ranges::find(instruction_.modifiers, modifier) != instruction_.modifiers.end();
  }
  /// The first and the second type; b32 where there is none.
  ptx::Type type(std::size_t which = 0) const {
    return which < count_ ? types_[which] : ptx::Type::b32;
  }
  std::size_t bytes(std::size_t which = 0) const {
    return type(which) == ptx::Type::pred ? 1 : ptx::bytes_of(type(which));
  }
  bool is_float() const { return ptx::is_float(type()) || has("bf16") || has("bf16x2"); }
  bool is_wide() const { return bytes() == 8; }
  std::size_t count() const { return has("v8") ? 8 : has("v4") ? 4 : has("v2") ? 2 : 1; }

 private:
  const ptx::Instruction& instruction_;
  std::array<ptx::Type, 4> types_{};
  std::size_t count_ = 0;
};

Cost in(Pipe pipe, std::size_t instructions = 1, std::size_t special = 0) {
  Cost cost;
  cost.pipe = pipe;
  cost.instructions = static_cast<unsigned char>(instructions);
  cost.special = static_cast<unsigned char>(special);
  return cost;
}

Cost memory_access(const Reader& reader, Traffic traffic) {
  // Parameters of kernels are constants that any instruction reads; those of functions are
  // registers.
  if (reader.has("param") || reader.has("param::entry") || reader.has("param::func")) return {};
  Cost cost = in(Pipe::load_store);
  if (reader.has("const")) return cost;
  cost.traffic = traffic;
  cost.bytes = static_cast<unsigned char>(reader.bytes() * reader.count());
  cost.is_read_only = reader.has("nc");
  return cost;
}

Cost move(const ptx::Instruction& instruction) {
  Cost cost;
  cost.moves = true;
  for (const ptx::Operand& operand : instruction.operands) {
    // Registers of 32 bits that form one of 64 are that register.
    const bool packs = operand.kind == ptx::OperandKind::vector;
    if (operand.kind == ptx::OperandKind::special ||
        (packs && instruction.modifiers.back() == "b32")) {
      cost.pipe = Pipe::integer;
      cost.instructions = 1;
    }
  }
  return cost;
}

Cost convert(const Reader& reader) {
  const std::size_t to = reader.bytes(0), from = reader.bytes(1);
  const bool floats = ptx::is_float(reader.type(0)) || ptx::is_float(reader.type(1));
  if (!floats) {
    if (reader.has("sat")) return in(Pipe::convert);
    if (to <= from) {  // the lower part of a register
      Cost cost;
      cost.moves = true;
      return cost;
    }
    return in(to == 8 ? Pipe::integer : Pipe::widen);  // the upper half: zero or the sign
  }
  return in(to == 8 || from == 8 ? Pipe::convert_wide : Pipe::convert);
}

Cost divide(const Reader& reader, std::string_view opcode) {
  if (reader.is_float()) {
    if (reader.has("approx") || reader.has("full")) return in(Pipe::f32, 2, 1);
    if (reader.is_wide()) return in(Pipe::f64, divide_f64, 1);
    return in(Pipe::f32, opcode == "div" ? divide_f32 : reciprocal_f32, 1);
  }
  Cost cost = in(Pipe::integer, reader.is_wide() ? divide_64 : divide_32, 1);
  cost.is_division = true;
  return cost;
}

constexpr std::string_view compares[] = {"setp", "set", "selp", "slct", "min", "max"};
constexpr std::string_view quarter_rate[] = {"popc", "clz", "brev", "bfind"};

/// Arithmetic and logic: in the pipe of the type.
Cost compute(const Reader& reader, std::string_view opcode) {
  if (reader.is_float() && reader.is_wide() && opcode != "selp") return in(Pipe::f64);
  if (reader.is_float() && !is_one_of(opcode, compares)) return in(Pipe::f32);
  if (is_one_of(opcode, quarter_rate)) return in(Pipe::integer, 4);
  const bool multiplies = opcode == "mul" || opcode == "mad";
  if (multiplies && reader.has("wide")) return in(Pipe::integer);
  if (multiplies && reader.is_wide()) return in(Pipe::integer, 4);
  return in(Pipe::integer, reader.is_wide() ? 2 : 1);
}

constexpr std::string_view special_functions[] = {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt"};
constexpr std::string_view control_flow[] = {
    "bra", "brx", "ret", "exit", "bar", "fence", "membar", "trap", "griddepcontrol", "barrier"};
constexpr std::string_view votes[] = {"vote", "match", "elect", "activemask", "redux"};
constexpr std::string_view without_model[] = {
    "cp", "mma", "wmma", "mbarrier", "ldmatrix", "stmatrix", "movmatrix", "setmaxnreg", "wgmma"};
constexpr std::string_view free_of_charge[] = {"cvta", "isspacep", "pmevent", "prefetch",
                                               "prefetchu"};

}  // namespace

Cost cost_of(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const Reader reader(instruction);
  if (opcode == "ld" || opcode == "ldu") return memory_access(reader, Traffic::load);
  if (opcode == "st") return memory_access(reader, Traffic::store);
  if (opcode == "atom" || opcode == "red") return memory_access(reader, Traffic::atomic);
  if (opcode == "mov") return move(instruction);
  if (opcode == "cvt") return convert(reader);
  if (opcode == "div" || opcode == "rem") return divide(reader, opcode);
  if (opcode == "rcp" && !reader.has("approx")) return divide(reader, opcode);
  if (opcode == "sqrt" && !reader.has("approx"))
    return reader.is_wide() ? in(Pipe::f64, divide_f64, 1) : in(Pipe::f32, root_f32, 1);
  if (opcode == "rcp" || opcode == "sqrt" || is_one_of(opcode, special_functions))
    return in(Pipe::special);
  if (opcode == "shfl") return in(Pipe::shuffle);
  if (is_one_of(opcode, votes)) return in(Pipe::control);
  if (is_one_of(opcode, control_flow)) {
    Cost cost = in(Pipe::control);
    cost.ends_block = true;
    return cost;
  }
  if (is_one_of(opcode, free_of_charge)) return {};
  if (opcode == "call") {
    Cost cost = in(Pipe::control);
    cost.is_call = true;
    cost.ends_block = true;
    return cost;
  }
  if (is_one_of(opcode, without_model)) {
    Cost cost = in(Pipe::control);
    cost.is_unknown = true;
    return cost;
  }
  return compute(reader, opcode);
}

}  // namespace emulator
