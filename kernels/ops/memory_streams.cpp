#include <utility>

#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

// Reads or writes a whole memory once, with as little other work as possible.
namespace assay {
namespace {

enum class Streams {
  read,   // a tensor to one element
  write,  // a scalar to a tensor
  copy,
  triad,  // two tensors and a scalar to a tensor
};

template <Streams streams>
Signature signature(DType dtype, const Params& params) {
  const TensorSpec tensor{.dtype = dtype, .shape = {params.integer("n")}};
  const TensorSpec scalar{.dtype = dtype, .shape = {1}};
  Signature s{.inputs = {tensor}, .outputs = {tensor}};
  double flops = 0;
  switch (streams) {
    case Streams::read:
      s.outputs = {scalar};
      s.is_copy = tensor.elements() == 1;
      break;
    case Streams::write:
      s.inputs = {scalar};
      s.is_constant = true;
      break;
    case Streams::copy:
      s.is_copy = true;
      break;
    case Streams::triad:
      s.inputs = {tensor, tensor, scalar};
      flops = 2 * as_double(tensor.elements());
      break;
  }
  return with_work(std::move(s), flops);
}

template <Streams streams>
Op memory_stream(const OpRow& row, Passes passes) {
  return make_op(row, {size("n")}, signature<streams>, std::move(passes));
}

}  // namespace

std::vector<Op> memory_streams_ops() {
  using enum DType;
  return {
      memory_stream<Streams::read>({"stream_read", "y = exclusive or of x[i]", {i64}},
                                   bit_for_bit()),
      memory_stream<Streams::write>({"stream_write", "y[i] = a", {f64}}, moves()),
      memory_stream<Streams::copy>({"stream_copy", "y[i] = x[i]", {f64}}, moves()),
      memory_stream<Streams::triad>({"stream_triad", "y[i] = a[i] + s b[i], rounded once", {f64}},
                                    bit_for_bit()),
  };
}

}  // namespace assay
