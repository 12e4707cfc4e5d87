#include "kernels/cpu/process_allreduce.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "kernels/core/status.h"
#include "kernels/cpu/allreduce_postscale.h"
#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/op.h"

namespace assay::cpu {
namespace {

/// Names the library's own reduction where it does the same. Its minimum of a NaN is undefined.
std::string_view native(std::string_view reduce, DType dtype) {
  constexpr std::array known{DType::f32, DType::f64, DType::i32, DType::i64};
  if (std::ranges::find(known, dtype) == known.end()) return "";
  if (reduce == "prod") return "prod";
  return reduce == "min" || reduce == "max" ? "" : "sum";
}

class ProcessKernel final : public Kernel {
 public:
  ProcessKernel(Bootstrap& processes, const OpInstance& op, const Binding& binding)
      : processes_(processes),
        input_(binding.inputs[0]),
        output_(binding.outputs[0]),
        count_(static_cast<std::size_t>(op.signature.outputs[0].elements())),
        after_(allreduce_postscale(op)) {
    if (count_ > std::numeric_limits<int>::max()) {
      throw DeviceError(Failure::unsupported,
                        processes.library() + " counts no more elements than an int can");
    }
    const std::string& reduce = op.params.word("reduce");
    reduction_ = {op.dtype, native(reduce, op.dtype), reduce_function(reduce, op.dtype)};
    implementation_ = processes.library() + " allreduce";
    if (reduction_.native.empty()) implementation_ += ", own " + reduce;
    implementation_ += after_.name;
  }
  void launch() override {
    processes_.allreduce(input_, output_, count_, reduction_);
    if (after_.finish != nullptr) after_.finish(output_, count_, after_.number);
  }
  std::string implementation() const override { return implementation_; }

 private:
  Bootstrap& processes_;
  const void* input_;
  void* output_;
  std::size_t count_;
  AllreducePostscale after_;
  Reduction reduction_;
  std::string implementation_;
};

class ProcessCommunicator final : public Communicator {
 public:
  explicit ProcessCommunicator(Bootstrap& processes) : processes_(processes) {}
  std::string transport() const override { return processes_.transport(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return std::make_unique<ProcessKernel>(processes_, op, bindings.front());
  }

 private:
  Bootstrap& processes_;
};

}  // namespace

std::unique_ptr<Communicator> connect_processes(Bootstrap& bootstrap) {
  if (bootstrap.library().empty()) {
    throw DeviceError(Failure::unsupported, "nothing reduces over these processes");
  }
  return std::make_unique<ProcessCommunicator>(bootstrap);
}

}  // namespace assay::cpu
