#include "emulator/machine/instructions/multiply.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "emulator/machine/block.h"
#include "emulator/machine/float_rules.h"
#include "emulator/machine/instructions/collective.h"
#include "emulator/machine/matrix_factors.h"
#include "emulator/numbers/number.h"
#include "emulator/numbers/warp_product.h"

namespace emulator {
namespace {

constexpr int max_extent = 32;
using Element = Fragment::Element;

const WarpUnit& find_unit(Warp& warp, MatrixType input, MatrixType result) {
  const LaunchContext& context = warp.block().context();
  const auto& unit = context.warp_units.find(
      unit_input(input), result == MatrixType::f16 ? UnitResult::f16 : UnitResult::f32);
  if (!unit)
    warp.fault(FaultKind::illegal_instruction, 0,
               fmt::format("nothing that is published tells how a {} adds products of .{} in .{}",
                           context.gpu.name, name_of(input), name_of(result)));
  return *unit;
}

void multiply_floats(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  const MatrixCode& matrix = *code.matrix;
  const bool to_f16 = matrix.d.type == MatrixType::f16;
  WarpProduct product(find_unit(warp, matrix.a.type, matrix.d.type),
                      find_unit(warp, matrix.b.type, matrix.d.type), matrix.m, matrix.n, matrix.k);
  read_fragment(warp, matrix.a, [&](Element at, std::uint64_t bits) {
    product.set_a(at.row, at.column, factor_value(matrix.a.type, bits));
  });
  read_fragment(warp, matrix.b, [&](Element at, std::uint64_t bits) {
    product.set_b(at.row, at.column, factor_value(matrix.b.type, bits));
  });
  read_fragment(warp, matrix.c, [&](Element at, std::uint64_t bits) {
    product.accumulator(at.row, at.column) = factor_value(matrix.c.type, bits);
  });
  product.multiply();
  write_fragment(warp, matrix.d, [&](Element at) -> std::uint64_t {
    const float sum = product.accumulator(at.row, at.column);
    if (to_f16) return encode(sum, binary16);
    return std::bit_cast<std::uint32_t>(with_canonical_nan(sum));
  });
}

/// Sums of integers wrap, or stop at the ends of the type (flag).
void multiply_integers(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  const MatrixCode& matrix = *code.matrix;
  std::int32_t a[max_extent][max_extent], b[max_extent][max_extent];
  std::int64_t sums[max_extent][max_extent];
  const auto number = [](MatrixType type, std::uint64_t bits) -> std::int32_t {
    return type == MatrixType::s8 ? static_cast<std::int8_t>(bits)
                                  : static_cast<std::int32_t>(bits);
  };
  read_fragment(warp, matrix.a, [&](Element at, std::uint64_t bits) {
    a[at.row][at.column] = number(matrix.a.type, bits);
  });
  read_fragment(warp, matrix.b, [&](Element at, std::uint64_t bits) {
    b[at.row][at.column] = number(matrix.b.type, bits);
  });
  read_fragment(warp, matrix.c, [&](Element at, std::uint64_t bits) {
    sums[at.row][at.column] = static_cast<std::int32_t>(bits);
  });
  for (int i = 0; i < matrix.m; ++i)
    for (int j = 0; j < matrix.n; ++j)
      for (int l = 0; l < matrix.k; ++l) sums[i][j] += a[i][l] * b[l][j];
  write_fragment(warp, matrix.d, [&](Element at) {
    using Limits = std::numeric_limits<std::int32_t>;
    std::int64_t sum = sums[at.row][at.column];
    if (code.flag) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
    return static_cast<std::uint64_t>(sum);
  });
}

/// A chain of fused operations that goes up in k (Xie et al. 2025). variant: their Rounding.
void multiply_doubles(Warp& warp, const Code& code, Mask lanes) {
  if (!gather_warp(warp, code, lanes)) return;
  const MatrixCode& matrix = *code.matrix;
  double a[max_extent][max_extent], b[max_extent][max_extent], sums[max_extent][max_extent];
  const auto read_into = [&](const Fragment& fragment, double(&to)[max_extent][max_extent]) {
    read_fragment(warp, fragment, [&](Element at, std::uint64_t bits) {
      to[at.row][at.column] = std::bit_cast<double>(bits);
    });
  };
  read_into(matrix.a, a);
  read_into(matrix.b, b);
  read_into(matrix.c, sums);
  const RoundingScope rounding(static_cast<Rounding>(code.variant));
  for (int i = 0; i < matrix.m; ++i)
    for (int j = 0; j < matrix.n; ++j)
      for (int l = 0; l < matrix.k; ++l) sums[i][j] = opaque_fma(a[i][l], b[l][j], sums[i][j]);
  write_fragment(warp, matrix.d,
                 [&](Element at) { return std::bit_cast<std::uint64_t>(sums[at.row][at.column]); });
}

}  // namespace

void emit_product(Decoder& decoder, MatrixKind kind, MatrixCode product) {
  if (kind_of(decoder, product.b.type) != kind ||
      ((kind != MatrixKind::f8 && kind != MatrixKind::integer) && product.b.type != product.a.type))
    decoder.fail(fmt::format("no product of .{} and .{} is known", name_of(product.a.type),
                             name_of(product.b.type)));
  decoder.code.matrix = &decoder.layout().code().matrix_codes.emplace_back(std::move(product));
  if (kind == MatrixKind::integer) {
    decoder.code.flag = decoder.take("satfinite");
    return decoder.emit(multiply_integers);
  }
  decoder.emit(kind == MatrixKind::f64 ? multiply_doubles : multiply_floats);
}

}  // namespace emulator
