#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/core/dtype.h"

// Hot loops of an all-reduce: the ranks' operations on their elements.
namespace assay::cpu {

/// y[i] = f(a[i], b[i]) for n elements, in the form of gloo::AllreduceOptions; y may be a or b.
using ReduceFunction = void (*)(void* y, const void* a, const void* b, std::size_t n);

/// `reduce` is "sum" (also for "avg" and "premul_sum"), "prod", "min" or "max". Integers wrap. Each
/// call rounds 16-bit floats once. A NaN in either operand is the minimum and the maximum. Throws
/// DeviceError(not_here) for a dtype without such a function.
ReduceFunction reduce_function(std::string_view reduce, DType dtype);

/// y[i] = y[i] / number, or y[i] number, for n elements. Floats are rounded once; integer quotients
/// round towards zero.
using FinishFunction = void (*)(void* y, std::size_t n, int number);
FinishFunction divide_function(DType dtype);
FinishFunction scale_function(DType dtype);

}  // namespace assay::cpu
