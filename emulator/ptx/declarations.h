#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emulator/ptx/lexer.h"
#include "emulator/ptx/types.h"

namespace emulator::ptx {

/// One element of an initialiser: a number's bytes, or the address of a variable or function.
struct InitialValue {
  std::size_t offset, bytes;
  std::uint64_t bits = 0;
  std::string_view symbol{};  // empty: a number
  std::int64_t addend = 0;
  bool generic = false;
  std::uint64_t mask = ~std::uint64_t{0};  // of the address, whose bits move down: 0xFF00(f)
};

struct Variable {
  std::string_view name;
  Space space = Space::global;
  Type type = Type::b8;
  std::size_t alignment = 1;
  std::size_t bytes = 0;  // 0: an array without a size (dynamic shared memory)
  bool is_extern = false;
  bool is_managed = false;  // one for the host and all GPUs
  std::vector<InitialValue> initial{};
  int line = 0;
};

/// A register or a variable as a `.param` of a function is a Variable with its offset in the block
/// of parameters.
struct Parameter {
  std::string_view name;
  Type type = Type::b8;
  std::size_t offset = 0, bytes = 0, alignment = 1;
  bool is_register = false;
};

inline std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Reads what follows `.global`, `.shared`, … up to its semicolon: `.align 4 .b8 name[16] = {1,
/// 2};`.
std::vector<Variable> read_variables(Lexer& lexer, Space space);
/// Reads `(.param .u64 a, .param .align 8 .b8 b[16])` and lays the parameters out one behind the
/// other.
std::vector<Parameter> read_parameters(Lexer& lexer, std::size_t* total_bytes);

}  // namespace emulator::ptx
