#pragma once

#include <vector>

#include "emulator/ptx/lexer.h"
#include "emulator/ptx/module.h"

namespace emulator::ptx {

/// Reads what follows `.global`, `.shared`, … up to its semicolon: `.align 4 .b8 name[16] = {1,
/// 2};`.
std::vector<Variable> read_variables(Lexer& lexer, Space space);
/// Reads `(.param .u64 a, .param .align 8 .b8 b[16])` and lays the parameters out one behind the
/// other.
std::vector<Parameter> read_parameters(Lexer& lexer, std::size_t* total_bytes);

}  // namespace emulator::ptx
