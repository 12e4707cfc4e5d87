#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/op.h"

namespace assay::cpu {

/// Operation of a reduction over ranks after its sum. All ranks hold the same sum and treat it
/// alike, so they still agree bit for bit. Doubling the sum equals doubling its terms.
struct Postscale {
  FinishFunction finish = nullptr;  // null: no operation
  int number = 0;
  std::string_view name;  // ", own division": appended to the library's name

  /// Applies it to n elements.
  void operator()(void* y, std::size_t n) const {
    if (finish != nullptr) finish(y, n, number);
  }
};

/// None for collectives that only move.
inline Postscale postscale(const OpInstance& op) {
  const ParamValue* reduce = op.params.find("reduce");
  if (reduce == nullptr) return {};
  const std::string name = to_text(*reduce);
  if (name == "avg") return {divide_function(op.dtype()), op.signature.ranks, ", own division"};
  if (name == "premul_sum") return {scale_function(op.dtype()), 2, ", own scaling"};
  return {};
}

}  // namespace assay::cpu
