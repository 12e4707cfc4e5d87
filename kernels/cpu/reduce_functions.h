#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/core/dtype.h"

// What the ranks of an all-reduce do to their elements: its hot loops.
namespace assay::cpu {

/// y[i] = f(a[i], b[i]) for n elements, as gloo::AllreduceOptions takes it; y may be a or b.
using ReduceFunction = void (*)(void* y, const void* a, const void* b, std::size_t n);

/// "sum" (which serves "avg" and "premul_sum" too), "prod", "min" or "max". Integers wrap, 16-bit
/// floats are rounded once by each call, a NaN in either operand is the minimum and the maximum.
/// Throws DeviceError(not_here) for a dtype that it does not have.
ReduceFunction reduce_function(std::string_view reduce, DType dtype);

/// y[i] = y[i] / number, or y[i] number, for n elements: floats rounded once, quotients of integers
/// towards zero.
using FinishFunction = void (*)(void* y, std::size_t n, int number);
FinishFunction divide_function(DType dtype);
FinishFunction scale_function(DType dtype);

}  // namespace assay::cpu
