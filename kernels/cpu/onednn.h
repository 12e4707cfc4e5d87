#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/base/dtype.h"

namespace assay::cpu {

/// y[b][o] = sum over i of x[b][i] w[o][i] (+ bias[o]) through oneDNN, version 2 or 3. f32 means
/// f32: the math mode is always strict.
class DnnlMatmul {
 public:
  struct Shape {
    std::int64_t batch;
    std::int64_t in;
    std::int64_t out;
    bool bias;
  };

  /// Throws DeviceError(unsupported) where oneDNN has no such product on this CPU (bf16 needs
  /// AVX-512).
  DnnlMatmul(DType dtype, const Shape& shape);
  ~DnnlMatmul();
  DnnlMatmul(DnnlMatmul&&) noexcept;
  DnnlMatmul& operator=(DnnlMatmul&&) = delete;
  DnnlMatmul(const DnnlMatmul&) = delete;
  DnnlMatmul& operator=(const DnnlMatmul&) = delete;

  /// `bias` is ignored where the shape has none.
  void run(const void* x, const void* w, const void* bias, void* y);

  /// "oneDNN 2.6.3 matmul gemm:jit"
  std::string implementation() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// "oneDNN 2.6.3"
std::string dnnl_version_text();

}  // namespace assay::cpu
