#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/exact.h"

namespace emulator::test {

/// A PTX type by its name: "u8", "s64", "f32", "pred".
class Type {
 public:
  Type(const char* name);  // NOLINT(google-explicit-constructor)

  const std::string& name() const { return name_; }
  int bits() const { return bits_; }
  int bytes() const { return bits_ < 8 ? 1 : bits_ / 8; }
  bool is_float() const { return name_[0] == 'f'; }
  bool is_predicate() const { return name_ == "pred"; }
  bool is_signed() const { return name_[0] == 's'; }
  Format format() const { return bits_ == 16 ? f16 : bits_ == 32 ? f32 : f64; }
  std::uint64_t mask() const;

  /// ".reg .b32 %a;", loads and stores for a register `%name` that holds the type. 8-bit values
  /// and f16 live in 16-bit registers, as nvcc has them.
  std::string declaration(const std::string& name) const;
  std::string load(const std::string& name, const std::string& address) const;
  std::string store(const std::string& name, const std::string& address) const;

 private:
  std::string name_;
  int bits_;
};

using Random = std::mt19937_64;

/// The values of a type where arithmetic has its corners.
std::vector<std::uint64_t> corners(const Type& type);

/// A value of the type: a corner, near a power of two, near `related`, or any.
std::uint64_t draw(const Type& type, std::uint64_t related, Random& random);

/// Operand tuples for an instruction: all pairs of corners, and as many drawn ones. The count is a
/// multiple of 128.
std::vector<std::vector<std::uint64_t>> operand_tuples(const std::vector<Type>& types,
                                                       std::uint64_t seed);

}  // namespace emulator::test
