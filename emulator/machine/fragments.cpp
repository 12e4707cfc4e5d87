#include "emulator/machine/fragments.h"

#include <fmt/format.h>

#include <array>

namespace emulator {
namespace {

struct TypeRow {
  std::string_view name;
  std::size_t bytes;
};
/// By MatrixType.
constexpr std::array type_rows{TypeRow{"f16", 2}, TypeRow{"bf16", 2}, TypeRow{"tf32", 4},
                               TypeRow{"f32", 4}, TypeRow{"e4m3", 1}, TypeRow{"e5m2", 1},
                               TypeRow{"s8", 1},  TypeRow{"u8", 1},   TypeRow{"s32", 4},
                               TypeRow{"f64", 8}};

std::size_t register_bytes(MatrixType type) { return bytes_of(type) == 8 ? 8 : 4; }

void take_registers(Decoder& decoder, std::size_t index, std::size_t count, bool is_destination,
                    Fragment& fragment) {
  const ptx::Operand& operand = decoder.operand(index);
  const bool is_vector = operand.kind == ptx::OperandKind::vector;
  const std::size_t there = is_vector ? operand.elements.size() : 1;
  if (there != count)
    decoder.fail(fmt::format("operand {} has {} registers instead of {}", index + 1, there, count));
  const ptx::Type width = register_bytes(fragment.type) == 8 ? ptx::Type::b64 : ptx::Type::b32;
  for (std::size_t i = 0; i < count; ++i) {
    const ptx::Operand& each = is_vector ? operand.elements[i] : operand;
    fragment.registers.push_back(is_destination ? decoder.destination(each, width)
                                                : decoder.source(each, width));
  }
}

}  // namespace

std::size_t bytes_of(MatrixType type) { return type_rows[static_cast<std::size_t>(type)].bytes; }
std::string_view name_of(MatrixType type) { return type_rows[static_cast<std::size_t>(type)].name; }

std::optional<MatrixType> maybe_matrix_type(Decoder& decoder) {
  const TypeRow* row = decoder.take_row(type_rows);
  if (row == nullptr) return std::nullopt;
  return static_cast<MatrixType>(row - type_rows.data());
}

MatrixType take_matrix_type(Decoder& decoder) {
  const auto type = maybe_matrix_type(decoder);
  if (!type) decoder.fail("a type of matrices is missing");
  return *type;
}

MatrixKind kind_of(const Decoder& decoder, MatrixType type) {
  switch (type) {
    case MatrixType::f16:
      return MatrixKind::f16;
    case MatrixType::bf16:
      return MatrixKind::bf16;
    case MatrixType::tf32:
      return MatrixKind::tf32;
    case MatrixType::e4m3:
    case MatrixType::e5m2:
      return MatrixKind::f8;
    case MatrixType::s8:
    case MatrixType::u8:
      return MatrixKind::integer;
    case MatrixType::f64:
      return MatrixKind::f64;
    default:
      decoder.fail(fmt::format("matrices of .{} are not multiplied", name_of(type)));
  }
}

bool accumulates(MatrixKind kind, MatrixType type) {
  switch (kind) {
    case MatrixKind::integer:
      return type == MatrixType::s32;
    case MatrixKind::f64:
      return type == MatrixType::f64;
    case MatrixKind::f16:
    case MatrixKind::f8:
      return type == MatrixType::f32 || type == MatrixType::f16;
    default:
      return type == MatrixType::f32;
  }
}

Fragment take_mma_fragment(Decoder& decoder, std::size_t index, MatrixOperand operand, int rows,
                           int columns, MatrixType type, bool is_destination) {
  Fragment fragment{type, {}, {}};
  const int count = rows * columns / warp_lanes;  // elements of a lane
  const int packed = static_cast<int>(register_bytes(type) / bytes_of(type));
  take_registers(decoder, index, static_cast<std::size_t>(count / packed), is_destination,
                 fragment);
  for (int e = 0; e < count; ++e) {
    const int in_register = e % packed, which = e / packed;
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const int group = lane / 4, in_group = lane % 4;
      int row = 0, column = 0;
      if (operand == MatrixOperand::accumulator) {
        // Eight columns after the others, of wgmma.
        row = group + 8 * (e / 2 % (rows / 8));
        column = 2 * in_group + e % 2 + 8 * (e / (rows / 4));
      } else {
        // Along k, four lanes hold a register each; the next registers lie behind, those of a below
        // first.
        const int halves = operand == MatrixOperand::a ? rows / 8 : 1;
        const int across = group + 8 * (which % halves);
        const int along = packed * (in_group + 4 * (which / halves)) + in_register;
        row = operand == MatrixOperand::a ? across : along;
        column = operand == MatrixOperand::a ? along : across;
      }
      fragment.elements.push_back(
          {static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(column)});
    }
  }
  return fragment;
}

Fragment take_wmma_fragment(Decoder& decoder, std::size_t index, MatrixOperand operand, int rows,
                            int columns, bool by_columns, MatrixType type, bool is_destination) {
  Fragment fragment{type, {}, {}};
  const int size = rows * columns;
  // PTX ISA, "Matrix fragments for WMMA": factors of .f16 have 8 registers in all shapes, so that
  // several lanes hold an element.
  const int packed = static_cast<int>(register_bytes(type) / bytes_of(type));
  const bool is_f16_factor = type == MatrixType::f16 && operand != MatrixOperand::accumulator;
  const int count = is_f16_factor ? 8 * packed : size / warp_lanes;
  take_registers(decoder, index, static_cast<std::size_t>(count / packed), is_destination,
                 fragment);
  const int turned = operand == MatrixOperand::accumulator ? 9 : by_columns ? 22 : 13;
  for (int e = 0; e < count; ++e)
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const int at = (e * warp_lanes + (lane ^ turned)) % size;
      fragment.elements.push_back(
          {static_cast<std::uint8_t>(at / columns), static_cast<std::uint8_t>(at % columns)});
    }
  return fragment;
}

}  // namespace emulator
