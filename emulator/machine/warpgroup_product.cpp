#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "emulator/machine/float_rules.h"
#include "emulator/machine/fragments.h"
#include "emulator/machine/matrix_factors.h"
#include "emulator/machine/warpgroups.h"
#include "emulator/numbers/number.h"
#include "emulator/numbers/warp_product.h"

namespace emulator {
namespace {

constexpr int max_columns = 256, max_depth = 32;

/// The registers of a warp's frame, as Warp::at gives them.
struct Registers {
  Frame& frame;
  template <class T>
  T* at(Place place) {
    return reinterpret_cast<T*>(frame.registers + place.offset);
  }
};

/// Calls `f(warp within the group, its registers)` for the frames that have not ended.
template <class F>
void for_each_frame(const WarpgroupProduct& product, F f) {
  for (std::size_t i = 0; i < warpgroup_warps; ++i)
    if (product.frames[i] != nullptr) f(static_cast<int>(i), Registers{*product.frames[i]});
}

std::uint64_t load(const std::byte* from, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

/// Calls `f(row, l, bits)` for a, and `g(l, column, bits)` for b.
template <class F, class G>
void read_factors(const std::byte* shared, const WarpgroupProduct& product, F f, G g) {
  const ProductCode& site = *product.code->product;
  const std::size_t bytes = bytes_of(site.a_type);
  if (site.has_a_registers()) {
    for_each_frame(product, [&](int warp, Registers registers) {
      read_fragment(registers, site.a, [&](Fragment::Element at, std::uint64_t bits) {
        f(warp * rows_of_warp + at.row, at.column, bits);
      });
    });
  } else {
    const SharedMatrix a = a_matrix(product);
    for (int i = 0; i < product_rows; ++i)
      for (int l = 0; l < site.k; ++l)
        f(i, l, load(shared + a.offset(static_cast<unsigned>(i), static_cast<unsigned>(l)), bytes));
  }
  const SharedMatrix b = b_matrix(product);
  for (int j = 0; j < site.n; ++j)
    for (int l = 0; l < site.k; ++l)
      g(l, j, load(shared + b.offset(static_cast<unsigned>(j), static_cast<unsigned>(l)), bytes));
}

template <class Sum, class F>
void read_sums(const WarpgroupProduct& product, std::vector<Sum>& sums, F f) {
  const ProductCode& site = *product.code->product;
  if (!product.adds) return;
  for_each_frame(product, [&](int warp, Registers registers) {
    read_fragment(registers, site.d, [&](Fragment::Element at, std::uint64_t bits) {
      sums[static_cast<std::size_t>((warp * rows_of_warp + at.row) * site.n + at.column)] = f(bits);
    });
  });
}

template <class Sum, class F>
void write_sums(const WarpgroupProduct& product, const std::vector<Sum>& sums, F f) {
  const ProductCode& site = *product.code->product;
  for_each_frame(product, [&](int warp, Registers registers) {
    write_fragment(registers, site.d, [&](Fragment::Element at) -> std::uint64_t {
      return f(sums[static_cast<std::size_t>((warp * rows_of_warp + at.row) * site.n + at.column)]);
    });
  });
}

void multiply_integers(const std::byte* shared, const WarpgroupProduct& product) {
  const ProductCode& site = *product.code->product;
  std::int32_t a[product_rows][max_depth] = {}, b[max_columns][max_depth];
  const auto number = [](MatrixType type, std::uint64_t bits) -> std::int32_t {
    return type == MatrixType::s8 ? static_cast<std::int8_t>(bits)
                                  : static_cast<std::int32_t>(bits);
  };
  read_factors(
      shared, product,
      [&](int row, int l, std::uint64_t bits) { a[row][l] = number(site.a_type, bits); },
      [&](int l, int column, std::uint64_t bits) { b[column][l] = number(site.b_type, bits); });
  std::vector<std::int64_t> sums(static_cast<std::size_t>(product_rows * site.n));
  read_sums(product, sums, [](std::uint64_t bits) { return static_cast<std::int32_t>(bits); });
  for (int i = 0; i < product_rows; ++i)
    for (int j = 0; j < site.n; ++j)
      for (int l = 0; l < site.k; ++l)
        sums[static_cast<std::size_t>(i * site.n + j)] += a[i][l] * b[j][l];
  write_sums(product, sums, [&](std::int64_t sum) {
    using Limits = std::numeric_limits<std::int32_t>;
    if (site.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
    return static_cast<std::uint64_t>(sum);
  });
}

/// The units of FP8 are those of wgmma itself (numbers/matrix_units.h); what mma.sync has in their
/// place on Hopper is slower and more precise.
std::optional<WarpUnit> unit_of(const LaunchContext& launch, MatrixType factor, MatrixType sum) {
  const UnitResult result = sum == MatrixType::f16 ? UnitResult::f16 : UnitResult::f32;
  if (bytes_of(factor) != 1) return launch.warp_units.find(unit_input(factor), result);
  const auto unit = matrix_unit(launch.gpu.name, unit_input(factor), result);
  return unit ? std::optional(WarpUnit{*unit}) : std::nullopt;
}

void multiply_floats(const LaunchContext& launch, const std::byte* shared,
                     const WarpgroupProduct& product) {
  constexpr int part = 32;  // rows and columns of a WarpProduct
  const ProductCode& site = *product.code->product;
  const bool to_f16 = site.d.type == MatrixType::f16;
  float a[product_rows][max_depth] = {}, b[max_columns][max_depth];
  read_factors(
      shared, product,
      [&](int row, int l, std::uint64_t bits) {
        a[row][l] = factor_value(site.a_type, bits) * (site.negates_a ? -1.0F : 1.0F);
      },
      [&](int l, int column, std::uint64_t bits) {
        b[column][l] = factor_value(site.b_type, bits) * (site.negates_b ? -1.0F : 1.0F);
      });
  std::vector<float> sums(static_cast<std::size_t>(product_rows * site.n));
  read_sums(product, sums, [&](std::uint64_t bits) { return factor_value(site.d.type, bits); });
  const WarpUnit unit_a = *unit_of(launch, site.a_type, site.d.type),
                 unit_b = *unit_of(launch, site.b_type, site.d.type);
  for (int row = 0; row < product_rows; row += part)
    for (int column = 0; column < site.n; column += part) {
      const int columns = std::min(part, site.n - column);
      WarpProduct tile(unit_a, unit_b, part, columns, site.k);
      const auto sum = [&](int i, int j) -> float& {
        return sums[static_cast<std::size_t>((row + i) * site.n + column + j)];
      };
      for (int i = 0; i < part; ++i)
        for (int l = 0; l < site.k; ++l) tile.set_a(i, l, a[row + i][l]);
      for (int j = 0; j < columns; ++j) {
        for (int l = 0; l < site.k; ++l) tile.set_b(l, j, b[column + j][l]);
        for (int i = 0; i < part; ++i) tile.accumulator(i, j) = sum(i, j);
      }
      tile.multiply();
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < part; ++i) sum(i, j) = tile.accumulator(i, j);
    }
  write_sums(product, sums, [&](float sum) -> std::uint64_t {
    if (to_f16) return encode(sum, binary16);
    return std::bit_cast<std::uint32_t>(with_canonical_nan(sum));
  });
}

SharedMatrix matrix_of(std::uint64_t descriptor, MatrixType type, bool is_mn_major) {
  return {descriptor, static_cast<unsigned>(bytes_of(type)), is_mn_major};
}

}  // namespace

SharedMatrix a_matrix(const WarpgroupProduct& product) {
  const ProductCode& site = *product.code->product;
  return matrix_of(product.a_descriptor, site.a_type, site.is_a_mn_major);
}

SharedMatrix b_matrix(const WarpgroupProduct& product) {
  const ProductCode& site = *product.code->product;
  return matrix_of(product.b_descriptor, site.b_type, site.is_b_mn_major);
}

void check_units(const LaunchContext& launch, const WarpState& warp, const ProductCode& product) {
  if (product.is_integer()) return;
  for (const MatrixType factor : {product.a_type, product.b_type})
    if (!unit_of(launch, factor, product.d.type))
      warp.fault(FaultKind::illegal_instruction, 0,
                 fmt::format("nothing that is published tells how a {} adds products of .{} in .{}",
                             launch.gpu.name, name_of(factor), name_of(product.d.type)));
}

void multiply_warpgroup(const LaunchContext& launch, const std::byte* shared,
                        const WarpgroupProduct& product) {
  if (product.code->product->is_integer()) return multiply_integers(shared, product);
  multiply_floats(launch, shared, product);
}

}  // namespace emulator
