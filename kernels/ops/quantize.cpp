#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Bytes of all elements, then those of all scales.
Signature signature(DType dtype, const Params& params) {
  const BlockFormat& format = *block_format(*parse_format(params.word("to")));
  const std::int64_t rows = params.integer("rows");
  const std::int64_t cols = params.integer("cols");
  if (cols % format.block != 0) {
    throw NotApplicable("quantize: " + params.word("to") + " needs `cols` to be a multiple of " +
                        std::to_string(format.block) + ", not " + std::to_string(cols));
  }
  const std::int64_t row = format.element_bytes(cols) + format.scale_bytes(cols);
  Signature s{.inputs = {{dtype, {rows, cols}}}, .outputs = {{DType::u8, {rows * row}}}};
  return with_work(std::move(s), as_double(rows) * as_double(cols));
}

}  // namespace

std::vector<Op> quantize_ops() {
  using enum DType;
  return {make_op(
      {"quantize",
       "the rows of x as `to`: all elements, then the scales of all blocks; elements to "
       "nearest even, larger ones saturate",
       {f32, bf16, f16}},
      {choice("to", {"mxfp8", "mxfp4", "nvfp4"}), extent("rows"), extent("cols")}, signature,
      with_signs_in_turns(judged_on({.distribution = Distribution::blocks}, real_data, exact_rule),
                          {1, 6}))};
}

}  // namespace assay
