#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "emulator/machine/decoder.h"
#include "emulator/machine/matrix_code.h"
#include "emulator/machine/warp.h"

// Matrices in the registers of a warp.
namespace emulator {

std::size_t bytes_of(MatrixType type);
std::string_view name_of(MatrixType type);
/// The next type of matrices among the modifiers.
std::optional<MatrixType> maybe_matrix_type(Decoder& decoder);
MatrixType take_matrix_type(Decoder& decoder);

/// Types that the same shapes multiply: both floats of 8 bits, or both integers, may mix.
enum class MatrixKind : unsigned char { f16, bf16, tf32, f8, integer, f64 };
MatrixKind kind_of(const Decoder& decoder, MatrixType type);
/// Whether sums of the kind may have the type.
bool accumulates(MatrixKind kind, MatrixType type);

enum class MatrixOperand : unsigned char { a, b, accumulator };

/// The fragments of mma (PTX ISA, "Matrix fragments for mma.m16n8k16" and so on). Sources and
/// destinations differ only in what may stand there.
Fragment take_mma_fragment(Decoder& decoder, std::size_t index, MatrixOperand operand, int rows,
                           int columns, MatrixType type, bool is_destination);

/// A fragment of wmma, whose layout is nobody's business: here it depends on how a and b lie in
/// memory, so that a product that is told the wrong layout is wrong.
Fragment take_wmma_fragment(Decoder& decoder, std::size_t index, MatrixOperand operand, int rows,
                            int columns, bool by_columns, MatrixType type, bool is_destination);

/// Calls `f(element, bits)` for each element of each lane of a Warp, or of what has its `at`.
template <class Registers, class F>
void read_fragment(Registers& warp, const Fragment& fragment, F f) {
  const std::size_t bytes = bytes_of(fragment.type);
  const auto* elements = fragment.elements.data();
  const auto each = [&]<class Bits>(Bits) {
    const std::size_t register_bytes = bytes == 8 ? 8 : 4;
    for (const Place place : fragment.registers) {
      const auto* from = warp.template at<std::byte>(place);
      for (std::size_t offset = 0; offset < register_bytes; offset += bytes)
        for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
          Bits bits;
          std::memcpy(&bits, from + lane * register_bytes + offset, sizeof bits);
          f(*elements++, std::uint64_t{bits});
        }
    }
  };
  if (bytes == 1) return each(std::uint8_t{});
  if (bytes == 2) return each(std::uint16_t{});
  if (bytes == 4) return each(std::uint32_t{});
  each(std::uint64_t{});
}

/// Sets each element of each lane to the bits that `f(element)` returns.
template <class Registers, class F>
void write_fragment(Registers& warp, const Fragment& fragment, F f) {
  const std::size_t bytes = bytes_of(fragment.type), register_bytes = bytes == 8 ? 8 : 4;
  const auto* elements = fragment.elements.data();
  for (const Place place : fragment.registers) {
    auto* to = warp.template at<std::byte>(place);
    for (std::size_t offset = 0; offset < register_bytes; offset += bytes)
      for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint64_t bits = f(*elements++);
        std::memcpy(to + lane * register_bytes + offset, &bits, bytes);
      }
  }
}

}  // namespace emulator
