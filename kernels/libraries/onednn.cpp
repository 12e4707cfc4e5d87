// oneDNN, version 2 or 3, that of the build: `--kernels onednn`. Its primitives are called as they
// are, also where our own kernels leave them out (docs/deviations.md).
#include <cstdlib>
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#include <utility>

#include "kernels/libraries/library.h"

namespace assay::libraries {
namespace {

using dnnl::algorithm;
using dnnl::memory;

dnnl::engine& engine() {
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

memory::data_type data_type(std::string_view dtype) {
  if (dtype == "f32") return memory::data_type::f32;
  if (dtype == "bf16") return memory::data_type::bf16;
  if (dtype == "f16") return memory::data_type::f16;
  throw NotMine("it has no " + std::string(dtype));
}

memory::dims dense(const Shape& shape) {
  memory::dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

memory::desc described(const Shape& shape, std::string_view dtype) {
  return {shape, data_type(dtype), dense(shape)};
}

memory::desc input(const Problem& p, std::size_t i) {
  return described(p.input(i), p.input_dtype(i));
}
memory::desc output(const Problem& p) { return described(p.output(), p.output_dtype()); }

/// Makes the description of a primitive; what oneDNN does not have is not ours.
template <class Make>
auto planned(const Make& make) {
  try {
    return make();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) throw NotMine(error.what());
    throw;
  }
}

/// Where an argument of a primitive comes from.
struct Argument {
  int id;
  memory::desc desc;
};

/// A launch of a primitive with these inputs, in their order.
template <class Primitive, class Description>
Made launched(const Description& description, std::vector<Argument> inputs,
              const memory::desc& result) {
  auto primitive = std::make_shared<Primitive>(description);
  auto stream = std::make_shared<dnnl::stream>(engine());
  return {
      [=](const void* const* in, void* const* out, void*) {
        std::unordered_map<int, memory> arguments{{DNNL_ARG_DST, memory(result, engine(), out[0])}};
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          // oneDNN's handles are not const, but it only reads the sources.
          arguments.emplace(inputs[i].id,
                            memory(inputs[i].desc, engine(), const_cast<void*>(in[i])));
        }
        primitive->execute(*stream, arguments);
        stream->wait();
      },
      description.impl_info_str()};
}

Made eltwise(const Problem& p, algorithm kind, float alpha, float beta) {
  const memory::desc x = input(p, 0);
  const auto description = planned([&] {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::eltwise_forward::primitive_desc(engine(), dnnl::prop_kind::forward_inference, kind,
                                                 x, x, alpha, beta);
#else
    return dnnl::eltwise_forward::primitive_desc(
        {dnnl::prop_kind::forward_inference, kind, x, alpha, beta}, engine());
#endif
  });
  return launched<dnnl::eltwise_forward>(description, {{DNNL_ARG_SRC, x}}, x);
}

/// An operand of (outer, inner) stands for (outer, 1, inner).
memory::desc operand(const Problem& p, std::size_t i) {
  Shape shape = p.input(i);
  if (shape.size() < p.output().size()) shape.insert(shape.begin() + 1, 1);
  return described(shape, p.input_dtype(i));
}

Made binary(const Problem& p, algorithm kind) {
  const memory::desc a = operand(p, 0);
  const memory::desc b = operand(p, 1);
  const memory::desc y = output(p);
  const auto description = planned([&] {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::binary::primitive_desc(engine(), kind, a, b, y);
#else
    return dnnl::binary::primitive_desc({kind, a, b, y}, engine());
#endif
  });
  return launched<dnnl::binary>(description, {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}}, y);
}

/// Along the middle extent, or over all.
Made reduction(const Problem& p, algorithm kind, float power, float epsilon) {
  const memory::desc x = input(p, 0);
  Shape kept = p.input(0);
  std::int64_t& reduced = kept.size() == 3 ? kept[1] : kept[0];
  if (reduced == 1) throw NotMine("it does not reduce one element");
  reduced = 1;
  const memory::desc y = described(kept, p.output_dtype());
  const auto description = planned([&] {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::reduction::primitive_desc(engine(), kind, x, y, power, epsilon);
#else
    return dnnl::reduction::primitive_desc({kind, x, y, power, epsilon}, engine());
#endif
  });
  return launched<dnnl::reduction>(description, {{DNNL_ARG_SRC, x}}, y);
}

Made softmax(const Problem& p) {
  const memory::desc x = input(p, 0);
  const auto description = planned([&] {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::softmax_forward::primitive_desc(engine(), dnnl::prop_kind::forward_inference,
                                                 algorithm::softmax_accurate, x, x, 1);
#else
    return dnnl::softmax_forward::primitive_desc({dnnl::prop_kind::forward_inference, x, 1},
                                                 engine());
#endif
  });
  return launched<dnnl::softmax_forward>(description, {{DNNL_ARG_SRC, x}}, x);
}

/// Along the last extent, with weight and bias.
Made layernorm(const Problem& p) {
  constexpr float epsilon = 1e-5F;
  const memory::desc x = input(p, 0);
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  const auto description = planned([&] {
#if DNNL_VERSION_MAJOR >= 3
    return dnnl::layer_normalization_forward::primitive_desc(
        engine(), dnnl::prop_kind::forward_inference, x, x, epsilon, flags);
#else
    return dnnl::layer_normalization_forward::primitive_desc(
        {dnnl::prop_kind::forward_inference, x, epsilon, flags}, engine());
#endif
  });
  return launched<dnnl::layer_normalization_forward>(
      description,
      {{DNNL_ARG_SRC, x}, {DNNL_ARG_SCALE, input(p, 1)}, {DNNL_ARG_SHIFT, input(p, 2)}}, x);
}

Made product(const Problem& p, const memory::desc& a, const memory::desc& b,
             const memory::desc& bias, const memory::desc& y) {
  dnnl::primitive_attr attributes;
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  if (const auto act = p.word("act"); !act.empty() && act != "none") {
    dnnl::post_ops after;
    const auto kind = act == "relu"   ? algorithm::eltwise_relu
                      : act == "gelu" ? algorithm::eltwise_gelu_erf
                                      : algorithm::eltwise_gelu_tanh;
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(kind, 0, 0);
#else
    after.append_eltwise(1, kind, 0, 0);
#endif
    attributes.set_post_ops(after);
  }
  const auto description = planned([&] {
#if DNNL_VERSION_MAJOR >= 3
    return bias.is_zero() ? dnnl::matmul::primitive_desc(engine(), a, b, y, attributes)
                          : dnnl::matmul::primitive_desc(engine(), a, b, bias, y, attributes);
#else
    return bias.is_zero() ? dnnl::matmul::primitive_desc({a, b, y}, attributes, engine())
                          : dnnl::matmul::primitive_desc({a, b, bias, y}, attributes, engine());
#endif
  });
  std::vector<Argument> inputs{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}};
  if (!bias.is_zero()) inputs.push_back({DNNL_ARG_BIAS, bias});
  return launched<dnnl::matmul>(description, inputs, y);
}

/// Weights are stored as rows of the inputs' factors.
Made linear(const Problem& p) {
  const Shape& w = p.input(1);
  const memory::desc weights({w[1], w[0]}, data_type(p.input_dtype(1)), memory::dims{1, w[1]});
  memory::desc bias;
  if (p.word("bias") == "1") bias = described({1, w[0]}, p.input_dtype(2));
  return product(p, input(p, 0), weights, bias, output(p));
}

Made batched_matmul(const Problem& p) {
  return product(p, input(p, 0), input(p, 1), {}, output(p));
}

/// The gradient of the outputs is stored as rows of the batch.
Made linear_dw(const Problem& p) {
  const Shape& dy = p.input(0);
  const memory::desc rows({dy[1], dy[0]}, data_type(p.input_dtype(0)), memory::dims{1, dy[1]});
  return product(p, rows, input(p, 1), {}, output(p));
}

Made reorder(const memory::desc& from, const memory::desc& to) {
  const auto description =
      planned([&] { return dnnl::reorder::primitive_desc(engine(), from, engine(), to); });
  return launched<dnnl::reorder>(description, {{DNNL_ARG_FROM, from}}, to);
}

Made transpose(const Problem& p) {
  const Shape& x = p.input(0);
  return reorder({{x[1], x[0]}, data_type(p.dtype()), memory::dims{1, x[1]}}, output(p));
}

Library open() {
  if (std::getenv("ASSAY_LIBRARY") != nullptr) {
    throw std::runtime_error(
        "onednn is that of the build, and takes no --library: LD_LIBRARY_PATH chooses another of "
        "the same major version");
  }
  const dnnl_version_t* version = dnnl_version();
  Library library{.name = "oneDNN " + std::to_string(version->major) + "." +
                          std::to_string(version->minor) + "." + std::to_string(version->patch)};
  const auto offer = [&](const std::string& op, const std::string& dtypes, auto make) {
    library.offers.push_back({op, dtypes, make});
  };
  const std::string floats = "f32,bf16,f16";
  for (const auto& [op, kind] : {std::pair{"relu", algorithm::eltwise_relu},
                                 {"exp", algorithm::eltwise_exp},
                                 {"log", algorithm::eltwise_log},
                                 {"tanh", algorithm::eltwise_tanh},
                                 {"sigmoid", algorithm::eltwise_logistic},
                                 {"gelu", algorithm::eltwise_gelu_erf},
                                 {"gelu_tanh", algorithm::eltwise_gelu_tanh},
                                 {"sqrt", algorithm::eltwise_sqrt},
                                 {"square", algorithm::eltwise_square},
                                 {"abs", algorithm::eltwise_abs}}) {
    offer(op, floats, [kind = kind](const Problem& p) { return eltwise(p, kind, 0, 0); });
  }
  // To the nearest, in f32 alone.
  offer("round", "f32",
        [](const Problem& p) { return eltwise(p, algorithm::eltwise_round, 0, 0); });
  for (const auto& [op, kind] : {std::pair{"add", algorithm::binary_add},
                                 {"sub", algorithm::binary_sub},
                                 {"mul", algorithm::binary_mul},
                                 {"div", algorithm::binary_div},
                                 {"min", algorithm::binary_min},
                                 {"max", algorithm::binary_max}}) {
    for (const char* repeats : {"", "_broadcast"}) {
      offer(std::string(op) + repeats, floats,
            [kind = kind](const Problem& p) { return binary(p, kind); });
    }
  }
  for (const auto& [op, kind] : {std::pair{"sum", algorithm::reduction_sum},
                                 {"prod", algorithm::reduction_mul},
                                 {"mean", algorithm::reduction_mean},
                                 {"reduce_min", algorithm::reduction_min},
                                 {"reduce_max", algorithm::reduction_max},
                                 {"norm2", algorithm::reduction_norm_lp_sum}}) {
    const float power = kind == algorithm::reduction_norm_lp_sum ? 2 : 0;
    for (const char* along : {"", "_axis"}) {
      offer(std::string(op) + along, floats,
            [kind = kind, power](const Problem& p) { return reduction(p, kind, power, 0); });
    }
  }
  offer("softmax", floats, softmax);
  offer("softmax_axis", floats, softmax);
  offer("layernorm", "f32", layernorm);
  offer("linear", floats, linear);
  offer("linear_dx", floats, batched_matmul);
  offer("linear_dw", floats, linear_dw);
  offer("batched_matmul", floats, batched_matmul);
  offer("copy", floats, [](const Problem& p) { return reorder(input(p, 0), output(p)); });
  offer("cast", floats, [](const Problem& p) { return reorder(input(p, 0), output(p)); });
  offer("transpose", floats, transpose);
  return library;
}

}  // namespace
}  // namespace assay::libraries

extern "C" __attribute__((visibility("default"))) const assay_kernel_table* assay_kernels() {
  return assay::libraries::table_of(assay::libraries::open);
}
