#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace emulator::ptx {

/// The fundamental types of the PTX ISA, section 5.2, and the packed ones.
enum class Type : unsigned char {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
};

/// `.u32` without its dot.
std::optional<Type> type_named(std::string_view name);
std::string_view name_of(Type type);
std::size_t bytes_of(Type type);  // a predicate: 0
bool is_signed(Type type);
bool is_float(Type type);
/// b8 to b64 without a meaning of their own.
bool is_bits(Type type);
bool is_integer(Type type);  // s or u

/// cluster: shared memory of all blocks of a cluster, of which `shared` is the own block's part.
enum class Space : unsigned char {
  reg,
  generic,
  global,
  shared,
  cluster,
  local,
  constant,
  parameter,
};
std::optional<Space> space_named(std::string_view name);

}  // namespace emulator::ptx
