#include "kernels/cpu/collectives.h"

#include <gloo/allreduce.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/cpu/allreduce_postscale.h"
#include "kernels/cpu/rank_team.h"
#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/op.h"

namespace assay::cpu {
namespace {

using Contexts = std::vector<std::shared_ptr<gloo::rendezvous::Context>>;

/// Sets the buffers. Gloo knows only the size of elements; the reduce function knows their type.
template <class Word>
void set_message(gloo::AllreduceOptions& options, const Binding& binding, std::size_t count) {
  auto* output = static_cast<Word*>(binding.outputs[0]);
  // Gloo's pointers are not const, but it only reads the input. In place there is no input.
  auto* input = static_cast<Word*>(const_cast<void*>(binding.inputs[0]));
  if (input != output) options.setInput(input, count);
  options.setOutput(output, count);
}

void set_message(gloo::AllreduceOptions& options, const Binding& binding, const TensorSpec& spec) {
  const auto count = static_cast<std::size_t>(spec.elements());
  switch (size_bytes(spec.dtype)) {
    case 8:
      return set_message<std::uint64_t>(options, binding, count);
    case 4:
      return set_message<std::uint32_t>(options, binding, count);
    default:
      return set_message<std::uint16_t>(options, binding, count);
  }
}

class AllreduceKernel final : public Kernel {
 public:
  AllreduceKernel(RankTeam& team, const Contexts& contexts, std::span<const Binding> bindings,
                  const OpInstance& op, int dead_rank)
      : team_(team) {
    const std::string& reduce = op.params.word("reduce");
    const ReduceFunction function = reduce_function(reduce, op.dtype);
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
      gloo::AllreduceOptions options(contexts[rank]);
      set_message(options, bindings[rank], op.signature.outputs[0]);
      options.setReduceFunction(function);
      options_.push_back(std::move(options));
      outputs_.push_back(bindings[rank].outputs[0]);
    }
    const auto count = static_cast<std::size_t>(op.signature.outputs[0].elements());
    work_ = [this, dead_rank, after = allreduce_postscale(op), count](int rank) {
      if (rank == dead_rank) return;
      gloo::allreduce(options_[static_cast<std::size_t>(rank)]);
      if (after.finish == nullptr) return;
      after.finish(outputs_[static_cast<std::size_t>(rank)], count, after.number);
    };
    implementation_ = gloo_version_text() + " allreduce ring";
    implementation_ += allreduce_postscale(op).name;
  }

  void launch() override {
    try {
      team_.run(work_);
    } catch (const std::exception& error) {
      throw DeviceError(Failure::internal, gloo_version_text() + " allreduce: " + error.what());
    }
  }
  std::string implementation() const override { return implementation_; }

 private:
  RankTeam& team_;
  std::string implementation_;
  std::vector<gloo::AllreduceOptions> options_;
  std::vector<void*> outputs_;
  std::function<void(int)> work_;
};

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(int ranks, int dead_rank)
      : contexts_(static_cast<std::size_t>(ranks)), dead_rank_(dead_rank), team_(ranks) {
    gloo::rendezvous::HashStore store;
    std::shared_ptr<gloo::transport::Device> device;
    try {
      // Runs in a rank's thread: the device's own thread inherits the cores of its creator.
      team_.run([&](int rank) {
        if (rank == 0) device = gloo::transport::tcp::CreateDevice({"127.0.0.1"});
      });
      team_.run([&](int rank) {
        auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
        context->connectFullMesh(store, device);
        contexts_[static_cast<std::size_t>(rank)] = std::move(context);
      });
    } catch (const std::exception& error) {
      throw DeviceError(Failure::internal, gloo_version_text() + " connect: " + error.what());
    }
  }

  std::string transport() const override { return "gloo-tcp"; }

  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return std::make_unique<AllreduceKernel>(team_, contexts_, bindings, op, dead_rank_);
  }

 private:
  Contexts contexts_;
  int dead_rank_;
  RankTeam team_;
};

}  // namespace

std::unique_ptr<Communicator> connect_gloo(int ranks, int dead_rank) {
  return std::make_unique<GlooCommunicator>(ranks, dead_rank);
}

std::string gloo_version_text() {
  return "Gloo " + std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) +
         "." + std::to_string(GLOO_VERSION_PATCH);
}

}  // namespace assay::cpu
