#include "kernels/remote/collective.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "kernels/base/status.h"
#include "kernels/cpu/reduce_functions.h"
#include "kernels/op.h"

namespace assay::remote {
namespace {

/// By a library's own loops where they do the same; its minimum of a NaN is not defined.
std::string_view native(std::string_view reduce, DType dtype) {
  constexpr std::array known{DType::f32, DType::f64, DType::i32, DType::i64};
  if (std::ranges::find(known, dtype) == known.end()) return "";
  if (reduce == "prod") return "prod";
  return reduce == "min" || reduce == "max" ? "" : "sum";
}

class GroupKernel final : public Kernel {
 public:
  GroupKernel(ProcessGroup& job, const std::vector<int>& members, const OpInstance& op,
              const Binding& binding)
      : job_(job),
        members_(members),
        input_(binding.inputs[0]),
        output_(binding.outputs[0]),
        count_(static_cast<std::size_t>(op.signature.outputs[0].elements())) {
    if (count_ > std::numeric_limits<int>::max()) {
      throw DeviceError(Failure::unsupported, "MPI counts no more elements than an int can");
    }
    const std::string& reduce = op.params.word("reduce");
    reduction_ = {op.dtype, native(reduce, op.dtype), cpu::reduce_function(reduce, op.dtype)};
    // All ranks hold the same sum and treat it alike, so they still agree bit for bit. Doubling the
    // sum is doubling its terms.
    if (reduce == "avg") {
      finish_ = cpu::divide_function(op.dtype);
      number_ = op.signature.ranks;
    } else if (reduce == "premul_sum") {
      finish_ = cpu::scale_function(op.dtype);
      number_ = 2;
    }
    implementation_ = job.library() + " allreduce";
    if (reduction_.native.empty()) implementation_ += ", own " + reduce;
    if (finish_ != nullptr) implementation_ += reduce == "avg" ? ", own division" : ", own scaling";
  }
  void launch() override {
    job_.allreduce(members_, input_, output_, count_, reduction_);
    if (finish_ != nullptr) finish_(output_, count_, number_);
  }
  std::string implementation() const override { return implementation_; }

 private:
  ProcessGroup& job_;
  const std::vector<int>& members_;
  const void* input_;
  void* output_;
  std::size_t count_;
  Reduction reduction_;
  cpu::FinishFunction finish_ = nullptr;
  int number_ = 0;
  std::string implementation_;
};

class GroupCommunicator final : public Communicator {
 public:
  GroupCommunicator(ProcessGroup& job, std::vector<int> members)
      : job_(job), members_(std::move(members)) {}
  std::string transport() const override { return "mpi"; }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return std::make_unique<GroupKernel>(job_, members_, op, bindings.front());
  }

 private:
  ProcessGroup& job_;
  std::vector<int> members_;
};

/// Members of a job as one finds them before a collective library can talk.
class GroupBootstrap final : public Bootstrap {
 public:
  GroupBootstrap(ProcessGroup& job, std::span<const int> members) : job_(job), members_(members) {}
  int rank() const override {
    return static_cast<int>(std::ranges::find(members_, job_.rank()) - members_.begin());
  }
  int size() const override { return static_cast<int>(members_.size()); }
  void broadcast(std::span<std::byte> bytes, int root) override {
    std::vector<int> order(members_.begin(), members_.end());
    std::swap(order.front(), order.at(static_cast<std::size_t>(root)));
    job_.broadcast(order, bytes);
  }

 private:
  ProcessGroup& job_;
  std::span<const int> members_;
};

}  // namespace

std::unique_ptr<Communicator> connect(ProcessGroup& job, Backend& backend, Device& device,
                                      std::vector<int> members) {
  if (backend.ranks_share_device()) {
    return std::make_unique<GroupCommunicator>(job, std::move(members));
  }
  GroupBootstrap bootstrap(job, members);
  Device* own = &device;
  return backend.connect(std::span(&own, 1), static_cast<int>(members.size()), bootstrap);
}

}  // namespace assay::remote
