#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emulator/machine/instructions/collective.h"
#include "emulator/machine/instructions/multiply.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

struct ShapeRow {
  std::string_view name;
  int m, n, k;
};
constexpr std::array shapes{ShapeRow{"m16n8k4", 16, 8, 4},   ShapeRow{"m16n8k8", 16, 8, 8},
                            ShapeRow{"m16n8k16", 16, 8, 16}, ShapeRow{"m16n8k32", 16, 8, 32},
                            ShapeRow{"m8n8k4", 8, 8, 4},     ShapeRow{"m8n8k16", 8, 8, 16}};

struct KindRow {
  std::string_view shape;
  MatrixKind kind;
  int compute_capability;
};
/// PTX ISA, "mma": shapes, and notes on targets.
constexpr std::array kinds{
    KindRow{"m16n8k8", MatrixKind::f16, 75},      KindRow{"m16n8k16", MatrixKind::f16, 80},
    KindRow{"m16n8k8", MatrixKind::bf16, 80},     KindRow{"m16n8k16", MatrixKind::bf16, 80},
    KindRow{"m16n8k4", MatrixKind::tf32, 80},     KindRow{"m16n8k8", MatrixKind::tf32, 80},
    KindRow{"m16n8k32", MatrixKind::f8, 89},      KindRow{"m8n8k16", MatrixKind::integer, 75},
    KindRow{"m16n8k16", MatrixKind::integer, 80}, KindRow{"m16n8k32", MatrixKind::integer, 80},
    KindRow{"m8n8k4", MatrixKind::f64, 80}};

struct LayoutRow {
  std::string_view name;
};
constexpr std::array layouts{LayoutRow{"row"}, LayoutRow{"col"}};

void decode_mma(Decoder& decoder) {
  take_collective(decoder);
  const ShapeRow* shape = decoder.take_row(shapes);
  if (shape == nullptr) decoder.fail("a shape that is known here is missing");
  const LayoutRow *of_a = decoder.take_row(layouts), *of_b = decoder.take_row(layouts);
  if (of_a != &layouts[0] || of_b != &layouts[1]) decoder.fail("'.row.col' is missing");
  const MatrixType d = take_matrix_type(decoder), a = take_matrix_type(decoder),
                   b = take_matrix_type(decoder), c = take_matrix_type(decoder);
  const MatrixKind kind = kind_of(decoder, a);
  const auto* row = std::ranges::find_if(
      kinds, [&](const KindRow& each) { return each.shape == shape->name && each.kind == kind; });
  if (row == kinds.end())
    decoder.fail(fmt::format(".{} of .{} is not implemented", shape->name, name_of(a)));
  decoder.needs(row->compute_capability);
  if (d != c || !accumulates(kind, d))
    decoder.fail(fmt::format("products of .{} are not added to .{} in .{}", name_of(a), name_of(c),
                             name_of(d)));
  decoder.expect_operands(4);
  const auto [m, n, k] = std::array{shape->m, shape->n, shape->k};
  const auto take = [&](std::size_t index, MatrixOperand operand, int rows, int columns,
                        MatrixType type) {
    return take_mma_fragment(decoder, index, operand, rows, columns, type, index == 0);
  };
  emit_product(
      decoder, kind,
      {m, n, k, take(0, MatrixOperand::accumulator, m, n, d), take(1, MatrixOperand::a, m, k, a),
       take(2, MatrixOperand::b, k, n, b), take(3, MatrixOperand::accumulator, m, n, c)});
}

const Opcodes opcodes{{"mma", decode_mma}};

}  // namespace
}  // namespace emulator
