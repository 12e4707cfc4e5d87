#include "kernels/cpu/allreduce.h"

#include <gloo/allreduce.h>
#include <gloo/config.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

#include "kernels/base/status.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rank_team.h"

namespace assay::cpu {
namespace {

using Contexts = std::vector<std::shared_ptr<gloo::rendezvous::Context>>;
/// y[i] = a[i] + b[i] for n elements, as gloo::math declares them.
using ReduceFunction = void (*)(void*, const void*, const void*, std::size_t);

/// Gloo's own sum, except for integers: it adds them as signed, whose overflow is undefined.
template <class T>
ReduceFunction sum_function() {
  if constexpr (std::is_integral_v<T>) {
    return [](void* y, const void* a, const void* b, std::size_t n) {
      using U = std::make_unsigned_t<T>;
      for (std::size_t i = 0; i < n; ++i) {
        static_cast<U*>(y)[i] = static_cast<const U*>(a)[i] + static_cast<const U*>(b)[i];
      }
    };
  } else {
    return static_cast<ReduceFunction>(&gloo::sum<T>);
  }
}

template <class T>
class AllreduceKernel final : public Kernel {
 public:
  AllreduceKernel(RankTeam& team, const Contexts& contexts, std::span<const Binding> bindings,
                  std::size_t count, int dead_rank)
      : team_(team) {
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
      gloo::AllreduceOptions options(contexts[rank]);
      // Gloo's pointers are not const; it reads the input only.
      options.setInput(static_cast<T*>(const_cast<void*>(bindings[rank].inputs[0])), count);
      options.setOutput(static_cast<T*>(bindings[rank].outputs[0]), count);
      options.setReduceFunction(sum_function<T>());
      options_.push_back(std::move(options));
    }
    work_ = [this, dead_rank](int rank) {
      if (rank != dead_rank) gloo::allreduce(options_[static_cast<std::size_t>(rank)]);
    };
  }

  void launch() override {
    try {
      team_.run(work_);
    } catch (const std::exception& error) {
      throw DeviceError(Failure::internal, gloo_version_text() + " allreduce: " + error.what());
    }
  }
  std::string implementation() const override { return gloo_version_text() + " allreduce ring"; }

 private:
  RankTeam& team_;
  std::vector<gloo::AllreduceOptions> options_;
  std::function<void(int)> work_;
};

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(int ranks, int dead_rank)
      : contexts_(static_cast<std::size_t>(ranks)), dead_rank_(dead_rank), team_(ranks) {
    gloo::rendezvous::HashStore store;
    std::shared_ptr<gloo::transport::Device> device;
    try {
      // In a rank's thread, because the device's own thread inherits the cores of its creator.
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
    const auto count = static_cast<std::size_t>(op.signature.outputs[0].elements());
    return for_dtype<double, float, std::int64_t>(op, [&]<class T>(std::type_identity<T>) {
      return std::make_unique<AllreduceKernel<T>>(team_, contexts_, bindings, count, dead_rank_);
    });
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
