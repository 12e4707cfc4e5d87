#include "kernels/cpu/process_collectives.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "kernels/core/status.h"
#include "kernels/cpu/postscale.h"
#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/collectives.h"

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
      : processes_(processes), after_(postscale(op)) {
    const std::int64_t elements =
        std::max(op.signature.inputs[0].elements(), op.signature.outputs[0].elements());
    if (elements > std::numeric_limits<int>::max()) {
      throw DeviceError(Failure::unsupported,
                        processes.library() + " counts no more elements than an int can");
    }
    const int rank = processes.rank();
    finished_ = static_cast<std::size_t>(tensors_of(op.signature, rank).outputs[0].elements());
    call_ = {.collective = *collective_of(op),
             .dtype = op.dtype(),
             .count = static_cast<std::size_t>(op.params.integer("count")),
             .input = binding.inputs[0],
             .output = binding.outputs[0],
             .reduction = {},
             .root = root_of(op),
             .peers = {}};
    implementation_ = processes.library() + " " + std::string(op.op->name);
    if (reduces(call_.collective)) {
      const std::string& reduce = op.params.word("reduce");
      call_.reduction = {native(reduce, op.dtype()), reduce_function(reduce, op.dtype())};
      if (call_.reduction.native.empty()) implementation_ += ", own " + reduce;
      implementation_ += after_.name;
    }
    if (call_.collective == Collective::send_recv) call_.peers = peers_of(op, rank);
  }
  void launch() override {
    processes_.run(call_);
    after_(call_.output, finished_);
  }
  std::string implementation() const override { return implementation_; }

 private:
  Bootstrap& processes_;
  Postscale after_;
  std::size_t finished_ = 0;  // elements of this rank's output that `after_` finishes
  CollectiveCall call_;
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
