#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/product_plan.h"

namespace assay::cuda {

/// The tensors of one product, and the bias [m] of an epilogue that adds one.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  void* d = nullptr;
};

/// A product by cuBLASLt with the fastest of the algorithms that its heuristics propose, found by
/// timing them once. Algorithms that add partial sums in the output's type are not asked for.
class Product {
 public:
  /// Tries the candidates on the operands: d is overwritten. `workspace` may be shared by products
  /// that run one after the other. Throws DeviceError, `unsupported` where the library has no
  /// algorithm for the plan.
  Product(const ProductPlan& plan, const Operands& operands, CudaStream& stream,
          std::shared_ptr<Workspace> workspace = new_workspace());
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void run(const Operands& operands, cudaStream_t stream) const;
  static std::shared_ptr<Workspace> new_workspace();
  /// "cuBLASLt 13.0.2 algorithm 66, tile 20, stages 35, split-K 1".
  std::string implementation() const;

 private:
  void set_bias(const Operands& operands) const;
  cublasStatus_t enqueue(const Operands& operands, const cublasLtMatmulAlgo_t& algorithm,
                         cudaStream_t stream) const;
  double time_s(const Operands& operands, const cublasLtMatmulAlgo_t& algorithm,
                CudaStream& stream) const;
  void choose(const Operands& operands, CudaStream& stream);

  struct Handles;
  std::unique_ptr<Handles> handles_;
  ProductPlan plan_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::shared_ptr<Workspace> workspace_;
};

}  // namespace assay::cuda
