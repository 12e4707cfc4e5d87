#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Bit-level models of the matrix units ("tensor cores") of NVIDIA GPUs, for sums in FP32 and FP16.
// Written from these descriptions, none of which comes from NVIDIA:
//
// - Fasi, Higham, Mikaitis, Pranesh: "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
//   Science 7:e330, 2021 (V100, T4, A100).
// - Khattak, Mikaitis: "Accurate models of NVIDIA tensor cores", arXiv 2512.07004, 2025 (the rest).
// - Xie, Wang, Yang, Yang: "MMA-Sim: Bit-accurate reference model of tensor cores and matrix
//   cores", arXiv 2511.10909, 2025. It gives the same numbers, and is the only one for T4.
// - DeepSeek-AI: "DeepSeek-V3 technical report", arXiv 2412.19437, 2024, section 3.3.2: sums of
//   FP8 on Hopper, and their promotion every 128 terms.
//
// tests/matrix_units_test.cpp compares the models with results of real GPUs.
namespace emulator {

/// Types that matrix units multiply here.
enum class UnitInput { f16, bf16, tf32, e4m3, e5m2 };
/// Types of their sums. FP16 takes factors of 16 or 8 bits.
enum class UnitResult { f32, f16 };

/// One step of a unit: accumulator + the sum of `terms` products.
///
/// Products are exact. Each product and the accumulator are aligned to the largest exponent among
/// them, a product's being the sum of its factors' exponents, not normalised. Bits below
/// `fraction_bits` after that exponent's unit are cut off, toward zero. The sum of what is left is
/// exact; it is normalised and cut off, toward zero, to `result_fraction_bits`, or rounded to the
/// nearest FP16. A sum of zero is +0.
struct MatrixUnit {
  int terms;
  int fraction_bits;
  int result_fraction_bits = 23;
  int lowest_exponent = -133;  // alignment goes no lower
  /// The smallest exponent of a nonzero factor: subnormal numbers have it too.
  int min_factor_exponent = -126;
  bool rounds_to_f16 = false;
};

/// Returns the unit of the GPU for a type: empty if the GPU has none, or no model describes it.
/// `gpu` is the name of a GpuModel or a product, in any case: "h100", "NVIDIA H100 PCIe".
std::optional<MatrixUnit> matrix_unit(std::string_view gpu, UnitInput input,
                                      UnitResult result = UnitResult::f32);

/// Whether sums of this type keep fewer bits than FP32, so that libraries promote them to FP32
/// along the way unless they are told to be fast.
bool is_promoted(const MatrixUnit& unit);
/// Terms between two promotions.
inline constexpr int promotion_terms = 128;

/// Rows of a tile below.
inline constexpr int tile_rows = 64;

/// Factors of a tile, as the unit sees them.
struct UnitFactors {
  const float* values;
  const std::int32_t* exponents;  // of each value, see factor_exponent
};

/// Exponent of a factor; so low for 0 that it never is the largest.
std::int32_t factor_exponent(double value, const MatrixUnit& unit);

/// accumulators[i] += sum over l < terms of a[l * tile_rows + i] * b[l], for i < rows, a multiple
/// of 16, in steps of the unit. The last step may have fewer terms.
void accumulate(const MatrixUnit& unit, std::int64_t terms, UnitFactors a, UnitFactors b,
                float* accumulators, int rows = tile_rows);

}  // namespace emulator
