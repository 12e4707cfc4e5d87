#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/lt_matmul.h"

namespace assay::cuda {

/// Shape of one fully connected layer, or of the products of a batch: act(products + bias), rows of
/// `cols` elements, and a bias of `cols` elements.
struct LayerShape {
  Format format;
  std::string act;
  std::int64_t rows, cols;
  std::function<MatmulPlan(DType result)> plan;
};
struct LayerTensors {
  const void* x;
  const void* w;
  const void* bias;  // null: none
  void* y;
  const void* x_scales = nullptr;  // in tiles, of block-scaled factors
  const void* w_scales = nullptr;
};

/// Uses the library's epilogue if it has one for the activation and that is right. Else leaves the
/// sums in the accumulator's type, and our own kernel adds the bias, activates and rounds once.
class Layer {
 public:
  /// As LtMatmul does.
  Layer(const LayerShape& shape, const LayerTensors& t, CudaStream& stream,
        const std::shared_ptr<Workspace>& workspace, const FillOperands& fill_real,
        SearchBudget& budget);

  void run(const LayerTensors& t, cudaStream_t stream) const;
  std::string implementation() const;
  const std::vector<std::string>& wrong_algorithms() const { return rejected_.wrong; }

 private:
  LayerShape shape_;
  std::string epilogue_;
  std::unique_ptr<LtMatmul> product_;
  std::unique_ptr<Workspace> sums_;  // null with the library's epilogue
  Rejected rejected_;
};

}  // namespace assay::cuda
