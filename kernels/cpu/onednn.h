#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/core/dtype.h"

namespace assay::cpu {

/// y = a b (+ bias) of row-major matrices, or of several at once, by oneDNN, version 2 or 3. f32
/// means f32: the math mode is always strict.
class DnnlMatmul {
 public:
  struct Shape {
    std::int64_t matrices = 1;  // they follow each other in a, b and y
    std::int64_t m = 1;         // rows of a and y
    std::int64_t n = 1;         // columns of b and y
    std::int64_t k = 1;
    bool a_transposed = false;  // a is stored as k rows of m
    bool b_transposed = false;  // b is stored as n rows of k, as weights are
    bool bias = false;          // n elements, added to each row; in the inputs' dtype
  };

  /// Throws DeviceError(unsupported) if oneDNN has no such product on this CPU (bf16 needs
  /// AVX-512).
  DnnlMatmul(DType inputs, DType output, const Shape& shape);
  ~DnnlMatmul();
  DnnlMatmul(DnnlMatmul&&) noexcept;
  DnnlMatmul& operator=(DnnlMatmul&&) = delete;
  DnnlMatmul(const DnnlMatmul&) = delete;
  DnnlMatmul& operator=(const DnnlMatmul&) = delete;

  /// `bias` is ignored if the shape has none.
  void run(const void* a, const void* b, const void* bias, void* y);

  /// "oneDNN 2.6.3 matmul gemm:jit"
  std::string implementation() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// "oneDNN 2.6.3"
std::string dnnl_version_text();

}  // namespace assay::cpu
