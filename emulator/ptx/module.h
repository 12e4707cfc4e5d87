#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/declarations.h"

namespace emulator::ptx {

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  std::vector<Parameter> results, parameters;
  std::size_t parameter_bytes = 0;
  std::array<unsigned, 3> max_threads{}, required_threads{};  // zeros: none
  std::array<unsigned, 3> cluster{};  // .reqnctapercluster, in blocks; zeros: none
  unsigned max_cluster_blocks = 0;    // .maxclusterrank; 0: none
  bool needs_cluster = false;         // .explicitcluster
  std::string_view body{};
  int line = 0, body_line = 0;
};

/// A module's variables and functions; bodies are still text. The views point into `text`, so a
/// Module stays where it is.
struct Module {
  Module(std::string ptx, std::string file_name);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const Function* function(std::string_view name) const;
  const Variable* variable(std::string_view name) const;
  /// One line of the text, without blanks around it.
  std::string_view line(int number) const;
  /// Names a line for people: FILE:12 where the PTX tells (source_lines.h), else "line 40".
  std::string place(int number) const;

  const std::string text;
  const std::string file;
  int target = 0;                   // 90: sm_90
  bool is_target_specific = false;  // sm_90a
  std::vector<Variable> variables;
  std::vector<Function> functions;

 private:
  void read_target(std::string_view name);

  std::unordered_map<std::string_view, std::size_t> function_index_, variable_index_;
};

struct Register {
  std::string_view name;
  Type type;
};

enum class OperandKind : unsigned char {
  none,
  reg,      // `index`, perhaps `negated`; `second` after a bar: %r1|%p1
  special,  // `name`: %tid.x
  integer,  // `bits`
  f32,      // `bits`: 0f3F800000
  f64,      // `bits`: 0d3FF0000000000000, or 1.0
  symbol,   // `name`, plus `offset`
  label,    // `index` of an instruction
  vector,   // `elements`
  address,  // [elements[0] + offset]; elements[0]: reg, symbol or integer; of a texture also
            // coordinates: [elements[0], elements[1]]
  list,     // (elements) of a call
  sink,     // _
};

struct Operand {
  OperandKind kind = OperandKind::none;
  bool negated = false;
  int index = -1;
  int second = -1;  // -2: a sink
  std::string_view name{};
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  std::vector<Operand> elements{};
};

struct Instruction {
  std::string_view opcode;                    // `ld`
  std::vector<std::string_view> modifiers{};  // `global`, `u32`
  int guard = -1;                             // a predicate's index
  bool guard_negated = false;
  std::vector<Operand> operands{};
  int line = 0;
  std::uint16_t used_bytes = 0xffff;  // .pragma "used_bytes_mask": of those that a load reads

  bool has(std::string_view modifier) const {
    return std::ranges::find(modifiers, modifier) != modifiers.end();
  }
};

/// What a call through a pointer expects of the function: `.callprototype`.
struct Prototype {
  std::vector<Parameter> results, parameters;
};

/// The targets of a `brx.idx`.
using BranchTargets = std::vector<int>;

struct Body {
  std::vector<Register> registers;
  std::vector<Variable> variables;  // local, shared, param
  std::vector<Instruction> instructions;
  std::vector<BranchTargets> branch_targets;
  std::unordered_map<std::string_view, std::size_t> branch_target_index;
  std::unordered_map<std::string_view, Prototype> prototypes;
};

/// Reads the body of a function. Throws Error (error.h).
Body parse_body(const Module& module, const Function& function);

}  // namespace emulator::ptx
