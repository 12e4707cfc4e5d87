#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/machine/code.h"
#include "emulator/machine/kernel_layout.h"
#include "emulator/ptx/module.h"

namespace emulator {

enum class Rounding : unsigned char { nearest, zero, down, up };

/// One instruction on its way from text to Code. Every modifier has to be taken by the function
/// that decodes the opcode: one that is left over is an error, so nothing is ignored by mistake.
class Decoder {
 public:
  Decoder(FunctionLayout& layout, const ptx::Instruction& instruction);

  Code code;
  const ptx::Instruction& instruction() const { return instruction_; }
  FunctionLayout& layout() { return layout_; }

  /// Fails where the module's target is lower: 80 stands for 8.0.
  void needs(int compute_capability) const;

  bool take(std::string_view modifier);
  void expect(std::string_view modifier);
  /// Takes the first modifier that is the name of a row; null if none is.
  template <class Rows>
  const typename Rows::value_type* take_row(const Rows& rows) {
    for (std::size_t i = 0; i < instruction_.modifiers.size(); ++i) {
      if ((taken_ >> i & 1) != 0) continue;
      for (const auto& row : rows) {
        if (row.name != instruction_.modifiers[i]) continue;
        taken_ |= 1u << i;
        return &row;
      }
    }
    return nullptr;
  }
  /// The next type among the modifiers.
  ptx::Type type();
  std::optional<ptx::Type> maybe_type();
  std::optional<Rounding> rounding();  // .rn .rz .rm .rp
  /// Takes the scopes and cache hints that change nothing here. Returns whether there was a scope.
  bool take_scope();
  void take_cache_hints();
  /// .L2::cache_hint adds a last operand, which changes nothing. Returns how many there are
  /// without.
  std::size_t take_cache_policy();
  /// .shared, .shared::cta or, for compute capability 9.0, .shared::cluster. Sets the space. False:
  /// none of them.
  bool take_shared();

  std::size_t operands() const { return instruction_.operands.size(); }
  void expect_operands(std::size_t least, std::size_t most);
  void expect_operands(std::size_t count) { expect_operands(count, count); }
  const ptx::Operand& operand(std::size_t index) const;
  bool is_register(const ptx::Operand& operand) const {
    return operand.kind == ptx::OperandKind::reg;
  }
  ptx::Type register_type(const ptx::Operand& operand) const;

  /// Registers have to be exactly as wide as the type.
  Place destination(const ptx::Operand& operand, ptx::Type type);
  Place destination(std::size_t index, ptx::Type type) { return destination(operand(index), type); }
  Place source(const ptx::Operand& operand, ptx::Type type);
  Place source(std::size_t index, ptx::Type type) { return source(operand(index), type); }
  /// The `|%p` of an operand; a place that nobody reads when there is none.
  Place second_destination(std::size_t index);
  /// `!` turns the flag on.
  Place predicate(std::size_t index, bool& negated);
  /// A predicate that is given as a number: true but for zero ("Predicate Constants" of PTX).
  Place truth(const ptx::Operand& number);
  Place constant(std::uint64_t bits, std::size_t bytes);
  /// [base + offset]: sets a, offset and flag (a 32-bit base).
  void address(std::size_t index);

  /// Decodes one of several addresses, as `address` does; leaves the code alone.
  AddressPlace address_in(std::size_t index, ptx::Space space);

  /// Ends the instruction.
  void emit(Code::Run run);
  [[noreturn]] void fail(const std::string& text) const;
  [[noreturn]] void fail_type(ptx::Type type) const;

 private:
  FunctionLayout& layout_;
  const ptx::Instruction& instruction_;
  std::uint32_t taken_ = 0;
};

using DecodeFunction = void (*)(Decoder&);
/// Adds opcodes to those that find_opcode knows. Each file of instructions has one.
class Opcodes {
 public:
  Opcodes(std::initializer_list<std::pair<std::string_view, DecodeFunction>> rows);
};
DecodeFunction find_opcode(std::string_view name);  // null: unknown

}  // namespace emulator
