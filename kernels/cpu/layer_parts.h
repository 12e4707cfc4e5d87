#pragma once

#include <memory>
#include <string>

#include "kernels/cpu/onednn.h"
#include "kernels/cpu/prepared_layer.h"

// Parts shared by the layers of all dtypes.
namespace assay::cpu {

/// Returns "oneDNN 2.6.3 matmul jit; own relu".
inline std::string with_act(const std::string& implementation, const std::string& act) {
  return act == "none" ? implementation : implementation + "; own " + act;
}

/// Shape of x w^T, with the bias if the layer has one.
inline DnnlMatmul::Shape product_of(const Layer::Shape& shape) {
  return {
      .m = shape.batch, .n = shape.out, .k = shape.in, .b_transposed = true, .bias = shape.bias};
}

/// Layer for i8, with i32 bias and output; `act` is "none" or "relu".
std::unique_ptr<Layer> make_integer_layer(const Layer::Shape& shape, const std::string& act);

}  // namespace assay::cpu
