#include "kernels/core/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
  bool floating;
  int precision_bits;
  DType accumulator;
  int smallest_exponent = 0;
  int largest_exponent = 0;
};

constexpr std::array rows{
    Row{DType::f64, "f64", 8, true, 53, DType::f64, -1022, 1023},
    Row{DType::f32, "f32", 4, true, 24, DType::f32, -126, 127},
    Row{DType::bf16, "bf16", 2, true, 8, DType::f32, -126, 127},
    Row{DType::f16, "f16", 2, true, 11, DType::f32, -14, 15},
    Row{DType::i64, "i64", 8, false, 63, DType::i64},
    Row{DType::i32, "i32", 4, false, 31, DType::i32},
    Row{DType::i8, "i8", 1, false, 7, DType::i32},
    Row{DType::u8, "u8", 1, false, 8, DType::u8},
    Row{DType::e4m3, "e4m3", 1, true, 4, DType::f32, -6, 8},
    Row{DType::e5m2, "e5m2", 1, true, 3, DType::f32, -14, 15},
    Row{DType::i16, "i16", 2, false, 15, DType::i16},
    Row{DType::u16, "u16", 2, false, 16, DType::u16},
    Row{DType::u32, "u32", 4, false, 32, DType::u32},
    Row{DType::u64, "u64", 8, false, 64, DType::u64},
    Row{DType::boolean, "bool", 1, false, 1, DType::boolean},
};

struct OtherName {
  std::string_view name;
  DType dtype;
};

/// Names in NumPy and PyTorch, as far as they mean the same in both: "float" does not.
constexpr std::array other_names{
    OtherName{"float64", DType::f64},        OtherName{"double", DType::f64},
    OtherName{"float32", DType::f32},        OtherName{"bfloat16", DType::bf16},
    OtherName{"float16", DType::f16},        OtherName{"half", DType::f16},
    OtherName{"int64", DType::i64},          OtherName{"int32", DType::i32},
    OtherName{"int16", DType::i16},          OtherName{"int8", DType::i8},
    OtherName{"uint64", DType::u64},         OtherName{"uint32", DType::u32},
    OtherName{"uint16", DType::u16},         OtherName{"uint8", DType::u8},
    OtherName{"float8_e4m3fn", DType::e4m3}, OtherName{"float8_e5m2", DType::e5m2},
};

const Row& row(DType dtype) { return rows.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::span<const DType> all_dtypes() {
  static constexpr auto dtypes = [] {
    std::array<DType, rows.size()> list{};
    for (std::size_t i = 0; i < rows.size(); ++i) list[i] = rows[i].dtype;
    return list;
  }();
  return dtypes;
}

std::span<const DType> computed_dtypes() {
  static const auto first = std::ranges::find(all_dtypes(), DType::i16);
  return {all_dtypes().begin(), first};
}

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  for (const Row& r : rows) {
    if (r.name == text) return r.dtype;
  }
  for (const OtherName& other : other_names) {
    if (other.name == text) return other.dtype;
  }
  return std::nullopt;
}

std::size_t size_bytes(DType dtype) { return row(dtype).bytes; }
bool is_floating(DType dtype) { return row(dtype).floating; }
int precision_bits(DType dtype) { return row(dtype).precision_bits; }
DType accumulator(DType dtype) { return row(dtype).accumulator; }

int smallest_exponent(DType dtype) { return row(dtype).smallest_exponent; }
int largest_exponent(DType dtype) { return row(dtype).largest_exponent; }

double unit_roundoff(DType dtype) {
  return is_floating(dtype) ? std::ldexp(1.0, -precision_bits(dtype)) : 0.0;
}

}  // namespace assay
