#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/ptx/lexer.h"

namespace emulator::ptx {

enum class ConstantKind { integer, f32, f64 };

/// A constant as the PTX ISA, section 4.5, writes it: the bits of the value.
struct Constant {
  ConstantKind kind = ConstantKind::integer;
  std::uint64_t bits = 0;
};

/// `-`, `!` or `~` before it are the caller's. Fails for text that is no number.
Constant read_number(const Token& token, const Lexer& lexer);
/// A number with its sign.
Constant read_constant(Lexer& lexer);
/// A whole number, and sums and products of them in parentheses are not among what nvcc writes.
std::int64_t read_integer(Lexer& lexer);

}  // namespace emulator::ptx
