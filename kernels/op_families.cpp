#include "kernels/op_families.h"

#include <utility>

#include "kernels/op_passes.h"

namespace assay {
namespace {

Parameter size(std::string_view name) { return {.name = name, .minimum = 0}; }
Parameter extent(std::string_view name) { return {.name = name, .minimum = 1}; }
/// Left out of case ids when it is 0.
Parameter optional_extent(std::string_view name) {
  return {.name = name, .minimum = 0, .otherwise = ParamValue{std::int64_t{0}}};
}
Parameter limited(std::string_view name, std::int64_t minimum, std::int64_t maximum) {
  return {.name = name, .minimum = minimum, .maximum = maximum};
}
Parameter flag(std::string_view name) { return limited(name, 0, 1); }
Parameter choice(std::string_view name, std::vector<std::string_view> words) {
  return {.name = name, .words = std::move(words)};
}

/// Left out of case ids when it is the first.
Parameter optional_choice(std::string_view name, std::vector<std::string_view> words) {
  Parameter parameter = choice(name, std::move(words));
  parameter.otherwise = ParamValue{std::string(parameter.words.front())};
  return parameter;
}

/// By the device's engine for copies, or by a kernel that reads and writes.
Parameter copier() { return choice("by", {"engine", "kernel"}); }
Parameter ways() { return optional_choice("ways", {"one", "both"}); }
/// Backends whose devices do not compute in the host's memory. No object: the table may be asked
/// for before those of this file exist.
std::vector<std::string_view> with_own_memory() { return {"cuda", "sim"}; }

Parameter activation() { return choice("act", {"none", "relu", "gelu", "gelu_tanh"}); }

Op make(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature, Passes passes) {
  std::vector<DType> dtypes = row.dtypes;
  dtypes.insert(dtypes.end(), row.not_on_cpu.begin(), row.not_on_cpu.end());
  return {.name = row.name,
          .formula = row.formula,
          .dtypes = std::move(dtypes),
          .not_on_cpu = row.not_on_cpu,
          .parameters = std::move(parameters),
          .signature = signature,
          .passes = std::move(passes)};
}

Op make(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
        Passes (*passes_of)(DType, const Params&)) {
  Op op = make(row, std::move(parameters), signature, Passes{});
  op.passes_of = passes_of;
  return op;
}

}  // namespace

Op elementwise(const OpRow& row, Operands operands, Passes passes) {
  return make(row, {size("n"), optional_extent("cols"), optional_extent("ld")},
              elementwise_signature(operands), std::move(passes));
}

Op cast_op(const OpRow& row) {
  std::vector<std::string_view> names;
  for (const DType dtype : row.dtypes) names.push_back(name(dtype));
  return make(row, {choice("to", names), size("n"), optional_extent("cols"), optional_extent("ld")},
              cast_signature, cast_passes());
}

Op random_op(const OpRow& row) {
  return make(row, {size("n"), limited("seed", 0, std::int64_t{1} << 44)}, random_signature,
              no_inputs());
}

Op reduction(const OpRow& row, int inputs, Least least, Passes passes) {
  return make(row, {least == Least::none ? size("n") : extent("n")}, reduction_signature(inputs),
              std::move(passes));
}

Op norm_op(const OpRow& row, Passes passes) {
  return make(row, {size("n")}, norm_signature, std::move(passes));
}

Op index_reduction(const OpRow& row, Passes passes) {
  return make(row, {extent("n")}, index_signature, std::move(passes));
}

Op whole_array(const OpRow& row, Passes passes) {
  return make(row, {size("n")}, array_signature, std::move(passes));
}

Op rowwise(const OpRow& row, Passes passes) {
  return make(row, {extent("rows"), extent("cols"), optional_extent("ld")},
              rowwise_signature(false), std::move(passes));
}

Op rowwise_affine(const OpRow& row, Passes passes) {
  return make(row, {extent("rows"), extent("cols"), optional_extent("ld")}, rowwise_signature(true),
              std::move(passes));
}

Op transpose_op(const OpRow& row) {
  return make(row, {extent("rows"), extent("cols")}, transpose_signature, moves());
}

Op gather_op(const OpRow& row) {
  return make(row, {extent("rows"), extent("cols"), size("count")}, gather_signature,
              gather_passes());
}

Op batched_matmul_op(const OpRow& row) {
  return make(row, {extent("batch"), extent("m"), extent("n"), extent("k")},
              batched_matmul_signature, plain_sums());
}

Op linear_op(const OpRow& row) {
  return make(row, {extent("batch"), extent("in"), extent("out"), flag("bias"), activation()},
              linear_signature, linear_passes);
}

Op linear_stack_op(const OpRow& row) {
  return make(row,
              {extent("batch"), extent("in"), extent("width"), limited("layers", 1, 64),
               flag("bias"), activation()},
              linear_stack_signature, stack_passes);
}

Op memcpy_op(const OpRow& row) {
  Op op = make(row,
               {choice("from", {"host"}), choice("to", {"host"}), size("bytes"),
                choice("threads", {"one", "all"}), optional_choice("pages", {"normal", "huge"})},
               memcpy_signature, copies());
  op.only_on = {"cpu"};
  return op;
}

Op memcpy_2d_op(const OpRow& row) {
  Op op = make(row,
               {choice("from", {"host"}), choice("to", {"host"}), extent("rows"), extent("width"),
                extent("pitch"), choice("threads", {"one", "all"})},
               memcpy_2d_signature, copies());
  op.only_on = {"cpu"};
  return op;
}

Op device_memcpy_op(const OpRow& row) {
  const std::vector<std::string_view> places{"pageable", "pinned", "device"};
  Op op = make(row, {choice("from", places), choice("to", places), size("bytes"), copier(), ways()},
               device_memcpy_signature, copies());
  op.only_on = with_own_memory();
  return op;
}

Op peer_memcpy_op(const OpRow& row) {
  Op op = make(row, {size("bytes"), copier(), choice("access", {"direct", "staged"}), ways()},
               peer_memcpy_signature, copies());
  op.only_on = with_own_memory();
  return op;
}

Op stream_op(const OpRow& row, Streams streams, Passes passes) {
  return make(row, {size("n")}, stream_signature(streams), std::move(passes));
}

Op allreduce_op(const OpRow& row) {
  Op op =
      make(row,
           {choice("reduce", {"sum", "prod", "min", "max", "avg", "premul_sum"}),
            limited("ranks", 1, 1024), extent("count"), optional_choice("place", {"out", "in"})},
           allreduce_signature, allreduce_passes);
  op.collective = true;
  return op;
}

}  // namespace assay
