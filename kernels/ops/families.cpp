#include "kernels/ops/families.h"

#include <utility>

#include "kernels/ops/passes.h"

namespace assay {
namespace {

/// By the device's engine for copies, or by a kernel that reads and writes.
Parameter copier() { return choice("by", {"engine", "kernel"}); }
Parameter ways() { return optional_choice("ways", {"one", "both"}); }

}  // namespace

Op elementwise(const OpRow& row, Operands operands, Passes passes) {
  return make_op(row, {size("n"), optional_extent("cols"), optional_extent("ld")},
                 elementwise_signature(operands), std::move(passes));
}

Op cast_op(const OpRow& row) {
  std::vector<std::string_view> names;
  for (const DType dtype : row.dtypes) names.push_back(name(dtype));
  return make_op(row,
                 {choice("to", names), size("n"), optional_extent("cols"), optional_extent("ld")},
                 cast_signature, cast_passes());
}

Op random_op(const OpRow& row) {
  return make_op(row, {size("n"), seed_of_numbers()}, random_signature, no_inputs());
}

Op reduction(const OpRow& row, int inputs, Least least, Passes passes) {
  return make_op(row, {least == Least::none ? size("n") : extent("n")}, reduction_signature(inputs),
                 std::move(passes));
}

Op norm_op(const OpRow& row, Passes passes) {
  return make_op(row, {size("n")}, norm_signature, std::move(passes));
}

Op index_reduction(const OpRow& row, Passes passes) {
  return make_op(row, {extent("n")}, index_signature, std::move(passes));
}

Op whole_array(const OpRow& row, Passes passes) {
  return make_op(row, {size("n")}, array_signature, std::move(passes));
}

Op rowwise(const OpRow& row, Passes passes) {
  return make_op(row, {extent("rows"), extent("cols"), optional_extent("ld")},
                 rowwise_signature(false), std::move(passes));
}

Op rowwise_affine(const OpRow& row, Passes passes) {
  return make_op(row, {extent("rows"), extent("cols"), optional_extent("ld")},
                 rowwise_signature(true), std::move(passes));
}

Op transpose_op(const OpRow& row) {
  return make_op(row, {extent("rows"), extent("cols")}, transpose_signature, moves());
}

Op gather_op(const OpRow& row) {
  return make_op(row, {extent("rows"), extent("cols"), size("count")}, gather_signature,
                 gather_passes());
}

Op batched_matmul_op(const OpRow& row) {
  return make_op(row, {extent("batch"), extent("m"), extent("n"), extent("k")},
                 batched_matmul_signature, plain_sums());
}

Op linear_op(const OpRow& row) {
  return make_op(row, {extent("batch"), extent("in"), extent("out"), flag("bias"), activation()},
                 linear_signature, linear_passes);
}

Op linear_stack_op(const OpRow& row) {
  return make_op(row,
                 {extent("batch"), extent("in"), extent("width"), limited("layers", 1, 64),
                  flag("bias"), activation()},
                 linear_stack_signature, stack_passes);
}

Op memcpy_op(const OpRow& row) {
  Op op = make_op(row,
                  {choice("from", {"host"}), choice("to", {"host"}), size("bytes"),
                   choice("threads", {"one", "all"}), optional_choice("pages", {"normal", "huge"})},
                  memcpy_signature, copies());
  op.only_on = {"cpu"};
  return op;
}

Op memcpy_2d_op(const OpRow& row) {
  Op op = make_op(row,
                  {choice("from", {"host"}), choice("to", {"host"}), extent("rows"),
                   extent("width"), extent("pitch"), choice("threads", {"one", "all"})},
                  memcpy_2d_signature, copies());
  op.only_on = {"cpu"};
  return op;
}

Op device_memcpy_op(const OpRow& row) {
  const std::vector<std::string_view> places{"pageable", "pinned", "device"};
  Op op =
      make_op(row, {choice("from", places), choice("to", places), size("bytes"), copier(), ways()},
              device_memcpy_signature, copies());
  op.only_on = with_own_memory();
  return op;
}

Op peer_memcpy_op(const OpRow& row) {
  Op op = make_op(row, {size("bytes"), copier(), choice("access", {"direct", "staged"}), ways()},
                  peer_memcpy_signature, copies());
  op.only_on = with_own_memory();
  return op;
}

Op stream_op(const OpRow& row, Streams streams, Passes passes) {
  return make_op(row, {size("n")}, stream_signature(streams), std::move(passes));
}

Op allreduce_op(const OpRow& row) {
  Op op =
      make_op(row,
              {choice("reduce", {"sum", "prod", "min", "max", "avg", "premul_sum"}),
               limited("ranks", 1, 1024), extent("count"), optional_choice("place", {"out", "in"})},
              allreduce_signature, allreduce_passes);
  op.collective = true;
  return op;
}

}  // namespace assay
