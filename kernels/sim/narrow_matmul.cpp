#include "kernels/sim/narrow_matmul.h"

#include <bit>
#include <cmath>
#include <utility>

#include "kernels/sim/bf16x9.h"

namespace assay::sim {
namespace {

std::vector<float> floats(const TensorSpec& spec) {
  return std::vector<float>(static_cast<std::size_t>(spec.elements()));
}

/// Converts factors stored as `stored` to the values that a product in `format` uses.
void take_factors(Format format, DType stored, const void* from, std::vector<float>& to) {
  visit_computed(stored, [&]<class T>(std::type_identity<T>) {
    const auto* elements = static_cast<const T*>(from);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto element = static_cast<float>(elements[i]);
      to[i] = format == ProductFormat::tf32 ? to_tf32(element) : element;
    }
  });
}

void give_result(DType stored, const std::vector<float>& from, void* to) {
  visit_computed(stored, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < from.size(); ++i) static_cast<T*>(to)[i] = static_cast<T>(from[i]);
  });
}

/// One CPU product in f32, with its own tensors.
struct Step {
  OpInstance op;
  std::vector<std::vector<float>> inputs;
  std::vector<float> y;
  std::unique_ptr<Kernel> kernel;
  std::vector<const void*> from;    // each input; null: the previous step's result
  std::vector<const void*> scales;  // of x and W, if they are block-scaled
  std::vector<DType> stored;

  Step(const OpInstance& product, Stream* stream, const Launch::Prepare& prepare) : op(product) {
    Binding binding{.stream = stream, .inputs = {}, .outputs = {}};
    inputs.reserve(op.signature.inputs.size());
    for (const TensorSpec& spec : op.signature.inputs) {
      binding.inputs.push_back(inputs.emplace_back(floats(spec)).data());
    }
    y = floats(op.signature.outputs[0]);
    binding.outputs.push_back(y.data());
    kernel = prepare(op, std::span(&binding, 1));
  }
};

class NarrowMatmul final : public Kernel {
 public:
  NarrowMatmul(Format format, DType result, void* y, std::vector<Step> steps)
      : format_(format), result_(result), y_(y), steps_(std::move(steps)) {}

  void launch() override {
    const void* before = nullptr;
    for (Step& step : steps_) {
      for (std::size_t i = 0; i < step.inputs.size(); ++i) {
        const void* from = step.from[i] == nullptr ? before : step.from[i];
        if (i < step.scales.size()) {
          dequantize(*block_format(format_), static_cast<const std::uint8_t*>(from),
                     static_cast<const std::uint8_t*>(step.scales[i]), step.inputs[i]);
          continue;
        }
        // A bias is not a factor.
        take_factors(i < 2 ? format_ : Format(DType::f32), step.stored[i], from, step.inputs[i]);
      }
      step.kernel->launch();
      before = step.y.data();
    }
    give_result(result_, steps_.back().y, y_);
  }
  std::string implementation() const override {
    return steps_.front().kernel->implementation() + " in f32, factors as in " +
           std::string(name(format_));
  }

 private:
  Format format_;
  DType result_;
  void* y_;
  std::vector<Step> steps_;
};

/// Returns the layers of the op, each as one product in f32; other products unchanged.
std::vector<OpInstance> products_of(const OpInstance& op) {
  if (!op.params.find("act")) return {instantiate(*op.op, DType::f32, op.params)};
  const bool is_stack = op.params.find("layers") != nullptr;
  const std::int64_t layers = is_stack ? op.params.integer("layers") : 1;
  std::int64_t in = op.params.integer("in");
  std::vector<OpInstance> products;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::int64_t out = op.params.integer(is_stack ? "width" : "out");
    Params params;
    params.set("batch", op.params.integer("batch"));
    params.set("in", in);
    params.set("out", out);
    params.set("bias", op.params.integer("bias"));
    params.set("act", op.params.word("act"));
    products.push_back(instantiate(*find_op("linear"), DType::f32, params));
    in = out;
  }
  return products;
}

}  // namespace

bool is_narrow_matmul(const OpInstance& op) {
  return op.signature.factors_per_term > 1 &&
         (op.format.product() != nullptr || op.format == DType::e4m3);
}

float to_tf32(float x) {
  if (!std::isfinite(x)) return x;
  const auto word = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t below_half = 0xfffU + (word >> 13U & 1U);
  return std::bit_cast<float>((word + below_half) & ~0x1fffU);
}

std::unique_ptr<Kernel> narrow_matmul(const OpInstance& op, const Binding& binding,
                                      const Launch::Prepare& prepare) {
  if (splits_factors(op.format)) return bf16x9_matmul(op, binding, prepare);
  std::vector<Step> steps;
  std::size_t next = 0;
  for (const OpInstance& product : products_of(op)) {
    Step& step = steps.emplace_back(product, binding.stream, prepare);
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const bool is_from_before = i == 0 && steps.size() > 1;
      step.from.push_back(is_from_before ? nullptr : binding.inputs.at(next));
      step.stored.push_back(is_from_before ? DType::f32 : op.signature.inputs.at(next).dtype);
      if (!is_from_before) ++next;
    }
  }
  if (block_format(op.format) != nullptr) {
    for (; next < binding.inputs.size(); ++next) {
      steps.front().scales.push_back(binding.inputs[next]);
    }
  }
  return std::make_unique<NarrowMatmul>(op.format, output_dtype(op), binding.outputs.at(0),
                                        std::move(steps));
}

}  // namespace assay::sim
