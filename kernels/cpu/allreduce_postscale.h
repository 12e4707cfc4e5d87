#pragma once

#include <string_view>

#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/op.h"

namespace assay::cpu {

/// What an all-reduce leaves to be done with the sum. All ranks hold the same one and treat it
/// alike, so they still agree bit for bit; doubling the sum is doubling its terms.
struct AllreducePostscale {
  FinishFunction finish = nullptr;  // null: nothing
  int number = 0;
  std::string_view name;  // ", own division": to follow the library's name
};

inline AllreducePostscale allreduce_postscale(const OpInstance& op) {
  const std::string& reduce = op.params.word("reduce");
  if (reduce == "avg") return {divide_function(op.dtype), op.signature.ranks, ", own division"};
  if (reduce == "premul_sum") return {scale_function(op.dtype), 2, ", own scaling"};
  return {};
}

}  // namespace assay::cpu
