#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Elements of matrices, and sums of matrix units in the plainest way.
namespace emulator::test {

/// Types: f16, bf16, tf32, f32, e4m3, e5m2, s8, u8, s32, f64. tf32 stays as it is.
std::size_t matrix_bytes(const std::string& type);
std::uint64_t matrix_bits(const std::string& type, double value);
double matrix_value(const std::string& type, std::uint64_t bits);

/// One step sums `terms` products and the accumulator, all cut off `fraction_bits` after the
/// largest exponent, which is at least `lowest_exponent`.
struct UnitModel {
  int terms, fraction_bits, lowest_exponent;
  int result_fraction_bits = 23;
};

/// c + the sum of x[l] * y[l], cut off to FP32 or rounded to the nearest FP16 after each step.
double unit_sum(const UnitModel& model, const std::vector<double>& x, const std::string& x_type,
                const std::vector<double>& y, const std::string& y_type, double c, bool to_f16);

}  // namespace emulator::test
