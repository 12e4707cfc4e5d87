#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "emulator/libraries/cublas_lt/algorithms.h"
#include "emulator/libraries/cublas_lt/operands.h"
#include "emulator/numbers/matrix_units.h"

// Sums of products: sum(i, j) = sum over l of a(i, l) b(l, j).
namespace emulator::cublas_lt {

/// Terms [begin, end), in this order.
struct Terms {
  std::int64_t begin, end;
};
/// Terms that are summed one after the other into one accumulator.
using PartialSum = std::vector<Terms>;

/// The order of an algorithm's sums over k terms. Partial sums are added in their own order.
/// `rotation` shifts each one's first term: 0 but for the fault of sums in another order.
std::vector<PartialSum> order_of(const Algorithm& algorithm, std::int64_t k, std::int64_t rotation);

/// Rounds the sum of partial sums so far, and each partial sum, as the reduction scheme asks.
struct Reduction {
  std::function<double(double)> of_partial;  // empty: keeps the accumulator's type
  std::function<double(double)> of_total;
};

/// Sums with one fused multiply-add a term; int32 wraps. Result: [column][row].
template <class T>
std::vector<T> sums(const Tiles<T>& a, const std::vector<T>& b, std::int64_t columns,
                    const std::vector<PartialSum>& order, const Reduction& reduction);

/// Sums as a matrix unit makes them. If `promotes`, FP32 adds the unit's sums of 128 terms.
std::vector<float> unit_sums(const MatrixUnit& unit, bool promotes, const Tiles<float>& a,
                             const std::vector<float>& b, std::int64_t columns,
                             const std::vector<PartialSum>& order, const Reduction& reduction);

/// Calls work(i) for 0 <= i < count on all cores if `operations` are many. It must not throw.
void in_parallel(std::int64_t count, double operations,
                 const std::function<void(std::int64_t)>& work);

}  // namespace emulator::cublas_lt
