#include "kernels/cpu/onednn.h"

#include <dnnl.hpp>

#include "kernels/core/status.h"

namespace assay::cpu {
namespace {

using dnnl::memory;

dnnl::engine& engine() {
#ifdef ASSAY_CPU_ISA_AVX2
  // Refused once a product was planned: all plans come through here.
  static const dnnl::status limited = dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2);
  if (limited != dnnl::status::success) {
    throw DeviceError(Failure::internal, dnnl_version_text() + " cannot leave AVX-512 out");
  }
#endif
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

memory::data_type data_type(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return memory::data_type::bf16;
    case DType::f16:
      return memory::data_type::f16;
    default:
      return memory::data_type::f32;
  }
}

/// Describes `matrices` matrices of rows x cols, with one more dimension if there are several.
memory::desc matrix(std::int64_t matrices, std::int64_t rows, std::int64_t cols, DType dtype,
                    bool transposed) {
  const std::int64_t row_step = transposed ? 1 : cols;
  const std::int64_t col_step = transposed ? rows : 1;
  if (matrices == 1) return {{rows, cols}, data_type(dtype), memory::dims{row_step, col_step}};
  return {{matrices, rows, cols}, data_type(dtype), memory::dims{rows * cols, row_step, col_step}};
}

dnnl::matmul::primitive_desc describe(const memory::desc& x, const memory::desc& w,
                                      const memory::desc& bias, const memory::desc& y) {
  dnnl::primitive_attr attributes;
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
#if DNNL_VERSION_MAJOR >= 3
  return bias.is_zero() ? dnnl::matmul::primitive_desc(engine(), x, w, y, attributes)
                        : dnnl::matmul::primitive_desc(engine(), x, w, bias, y, attributes);
#else
  return bias.is_zero()
             ? dnnl::matmul::primitive_desc(dnnl::matmul::desc(x, w, y), attributes, engine())
             : dnnl::matmul::primitive_desc(dnnl::matmul::desc(x, w, bias, y), attributes,
                                            engine());
#endif
}

}  // namespace

struct DnnlMatmul::Plan {
  dnnl::stream stream;
  memory::desc a, b, bias, y;
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
};

DnnlMatmul::DnnlMatmul(DType inputs, DType output, const Shape& shape) {
  const memory::desc x = matrix(shape.matrices, shape.m, shape.k, inputs, shape.a_transposed);
  const memory::desc w = matrix(shape.matrices, shape.k, shape.n, inputs, shape.b_transposed);
  const memory::desc y = matrix(shape.matrices, shape.m, shape.n, output, false);
  const memory::desc bias = shape.bias ? matrix(1, 1, shape.n, inputs, false) : memory::desc();
  try {
    auto description = describe(x, w, bias, y);
    dnnl::matmul primitive(description);
    plan_ = std::make_unique<Plan>(
        Plan{dnnl::stream(engine()), x, w, bias, y, std::move(description), std::move(primitive)});
  } catch (const dnnl::error& error) {
    // "Invalid arguments" would be our own mistake, and must not pass for a missing feature.
    throw DeviceError(
        error.status == dnnl_unimplemented ? Failure::unsupported : Failure::internal,
        dnnl_version_text() + " matmul " + std::string(name(inputs)) + ": " + error.what());
  }
}

DnnlMatmul::~DnnlMatmul() = default;
DnnlMatmul::DnnlMatmul(DnnlMatmul&&) noexcept = default;

void DnnlMatmul::run(const void* a, const void* b, const void* bias, void* y) {
  // oneDNN's handles are not const, but it only reads the sources.
  const auto at = [](const memory::desc& desc, const void* data) {
    return memory(desc, engine(), const_cast<void*>(data));
  };
  std::unordered_map<int, memory> arguments{{DNNL_ARG_SRC, at(plan_->a, a)},
                                            {DNNL_ARG_WEIGHTS, at(plan_->b, b)},
                                            {DNNL_ARG_DST, at(plan_->y, y)}};
  if (!plan_->bias.is_zero()) arguments.emplace(DNNL_ARG_BIAS, at(plan_->bias, bias));
  plan_->primitive.execute(plan_->stream, arguments);
  plan_->stream.wait();
}

std::string DnnlMatmul::implementation() const {
  return dnnl_version_text() + " matmul " + plan_->description.impl_info_str();
}

std::string dnnl_version_text() {
  const dnnl_version_t* version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
         std::to_string(version->patch);
}

}  // namespace assay::cpu
