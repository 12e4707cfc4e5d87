#pragma once

#include <string_view>

#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/op.h"

namespace assay::cpu {

/// Operation of an all-reduce after the sum. All ranks hold the same sum and treat it alike, so
/// they still agree bit for bit. Doubling the sum equals doubling its terms.
struct AllreducePostscale {
  FinishFunction finish = nullptr;  // null: no operation
  int number = 0;
  std::string_view name;  // ", own division": appended to the library's name
};

inline AllreducePostscale allreduce_postscale(const OpInstance& op) {
  const std::string& reduce = op.params.word("reduce");
  if (reduce == "avg") return {divide_function(op.dtype), op.signature.ranks, ", own division"};
  if (reduce == "premul_sum") return {scale_function(op.dtype), 2, ", own scaling"};
  return {};
}

}  // namespace assay::cpu
