#include "kernels/providers/provided_kernels.h"

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/core/strides.h"
#include "kernels/device/device_id.h"

namespace assay::providers {
namespace {

/// A problem in C, with the memory that it points to.
class Problem {
 public:
  Problem(const OpInstance& op, const DeviceInfo& device) : dtype_(name(op.format)) {
    for (const auto& [key, value] : op.params.entries()) {
      const std::string& text = texts_.emplace_back(to_text(value));
      const auto* number = std::get_if<std::int64_t>(&value);
      parameters_.push_back(
          {texts_.emplace_back(key).c_str(), text.c_str(), number != nullptr ? *number : 0});
    }
    for (const TensorSpec& spec : op.signature.inputs) add(spec, inputs_);
    for (const TensorSpec& spec : op.signature.outputs) add(spec, outputs_);
    const auto id = parse_device_id(device.device);
    kind_ = id ? id->backend : device.backend;
    problem_ = {.op = texts_.emplace_back(op.op->name).c_str(),
                .dtype = dtype_.c_str(),
                .parameters = parameters_.data(),
                .parameter_count = static_cast<std::int32_t>(parameters_.size()),
                .input_count = static_cast<std::int32_t>(inputs_.size()),
                .output_count = static_cast<std::int32_t>(outputs_.size()),
                .inputs = inputs_.data(),
                .outputs = outputs_.data(),
                .device_kind = kind_.c_str(),
                .device_index = id ? id->index : 0,
                .ranks = op.signature.ranks};
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const assay_problem& get() const { return problem_; }

 private:
  void add(const TensorSpec& spec, std::vector<assay_tensor>& to) {
    const std::vector<std::int64_t>& shape = extents_.emplace_back(spec.shape);
    const std::vector<std::int64_t>& strides = extents_.emplace_back(strides_of(spec));
    to.push_back({texts_.emplace_back(name(spec.dtype)).c_str(),
                  static_cast<std::int32_t>(shape.size()), shape.data(), strides.data()});
  }

  std::string dtype_;
  std::string kind_;
  std::deque<std::string> texts_;  // elements stay where they are
  std::deque<std::vector<std::int64_t>> extents_;
  std::vector<assay_parameter> parameters_;
  std::vector<assay_tensor> inputs_;
  std::vector<assay_tensor> outputs_;
  assay_problem problem_{};
};

[[noreturn]] void fail(const assay_kernel_table& table, std::int32_t result) {
  const char* text = table.last_error();
  const std::string why = text == nullptr || *text == '\0' ? "it does not say why" : text;
  switch (result) {
    case ASSAY_NOT_MINE:
      throw DeviceError(Failure::not_here, std::string(table.name) + ": " + why);
    case ASSAY_OUT_OF_MEMORY:
      throw DeviceError(Failure::out_of_memory, std::string(table.name) + ": " + why);
    default:
      throw DeviceError(Failure::internal, std::string(table.name) + ": " + why);
  }
}

}  // namespace

/// Kernel that the provider made for a problem.
class ProvidedKernels::Made {
 public:
  Made(const assay_kernel_table& table, const Problem& problem) : table_(table) {
    const std::int32_t result = table_.create(&problem.get(), &kernel_);
    if (result != ASSAY_OK) fail(table_, result);
  }
  ~Made() { table_.destroy(kernel_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  std::string implementation() const {
    const char* more = table_.describe == nullptr ? nullptr : table_.describe(kernel_);
    const bool has_more = more != nullptr && *more != '\0';
    return std::string(table_.name) + (has_more ? " " + std::string(more) : "");
  }
  void launch(const Binding& binding, void* stream) {
    const std::int32_t result =
        table_.launch(kernel_, binding.inputs.data(), binding.outputs.data(), stream);
    if (result != ASSAY_OK) fail(table_, result == ASSAY_NOT_MINE ? ASSAY_FAILED : result);
  }
  MathMode math_mode;

 private:
  const assay_kernel_table& table_;
  void* kernel_ = nullptr;
};

namespace {

/// Precision that the device's own product declares: that of its units, whoever uses them. A
/// provider has no say in how it is judged.
MathMode math_mode_of(Device& device, const OpInstance& op, const Binding& binding) {
  if (!op.signature.is_product) return {};
  try {
    return device.prepare(op, binding)->math_mode();
  } catch (const DeviceError&) {
    return {};  // the device has no such product of its own
  }
}

}  // namespace

std::unique_ptr<Kernel> ProvidedKernels::prepare(Device& device, const OpInstance& op,
                                                 const Binding& binding) {
  class ProvidedKernel final : public Kernel {
   public:
    ProvidedKernel(std::shared_ptr<Made> made, Binding binding)
        : made_(std::move(made)), binding_(std::move(binding)) {}
    void launch() override { made_->launch(binding_, binding_.stream->native()); }
    std::string implementation() const override { return made_->implementation(); }
    MathMode math_mode() const override { return made_->math_mode; }
    bool may_wait() const override { return true; }
    bool may_stray() const override { return true; }

   private:
    std::shared_ptr<Made> made_;
    Binding binding_;
  };
  return std::make_unique<ProvidedKernel>(make(device, op, binding), device.reachable(binding));
}

std::shared_ptr<ProvidedKernels::Made> ProvidedKernels::make(Device& device, const OpInstance& op,
                                                             const Binding& binding) {
  const std::string key = std::string(op.op->name) + "/" + std::string(name(op.format)) + "/" +
                          op.params.text() + " " + device.info().device;
  std::weak_ptr<Made>& known = made_[key];
  if (auto made = known.lock()) return made;
  const Problem problem(op, device.info());
  auto made = std::make_shared<Made>(table_, problem);
  made->math_mode = math_mode_of(device, op, binding);
  known = made;
  return made;
}

}  // namespace assay::providers
