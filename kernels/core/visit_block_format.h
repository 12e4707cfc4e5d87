#pragma once

#include <type_traits>

#include "kernels/core/product_format.h"
#include "kernels/core/quantize.h"

namespace assay {

/// Calls f(std::type_identity<Format>) with the type of a block-scaled format.
template <class F>
auto visit_block_format(ProductFormat format, const F& f) {
  switch (format) {
    case ProductFormat::mxfp8:
      return f(std::type_identity<Microscaling<false>>{});
    case ProductFormat::mxfp4:
      return f(std::type_identity<Microscaling<true>>{});
    default:
      return f(std::type_identity<Nvfp4>{});
  }
}

}  // namespace assay
