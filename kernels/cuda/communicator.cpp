#include "kernels/cuda/communicator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/cuda/describe.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/faults.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/nccl.h"
#include "kernels/cuda/nccl_ranks.h"
#include "kernels/ops/collectives.h"
#include "kernels/ops/deviations.h"

namespace assay::cuda {
namespace {

/// Encodes 2 as an element of the message.
std::array<std::byte, 8> two_as(DType dtype) {
  std::array<std::byte, 8> scalar{};
  visit_computed(dtype, [&]<class T>(std::type_identity<T>) {
    T two;
    if constexpr (is_narrow_float<T>) {
      two = T(2.0F);
    } else {
      two = 2;
    }
    std::memcpy(scalar.data(), &two, sizeof two);
  });
  return scalar;
}

/// Reduction handles, one for each rank's communicator.
class Reductions {
 public:
  /// None for a collective that only moves.
  Reductions(NcclRanks& ranks, const OpInstance& op) : ranks_(ranks) {
    if (!reduces(*collective_of(op))) return;
    const std::string& reduce = op.params.word("reduce");
    if (reduce != "premul_sum") {
      of_rank_.assign(ranks.size(), nccl_reduction(reduce));
      return;
    }
    auto scalar = two_as(op.dtype());
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      of_rank_.emplace_back();
      ranks.demand(
          Nccl::instance().create_premul_sum(&of_rank_.back(), scalar.data(), nccl_type(op.dtype()),
                                             ncclScalarHostImmediate, ranks[rank]),
          "ncclRedOpCreatePreMulSum");
      ++made_;
    }
  }
  ~Reductions() {
    for (std::size_t rank = 0; rank < made_ && !ranks_.is_broken(); ++rank) {
      Nccl::instance().destroy_reduction(of_rank_[rank], ranks_[rank]);
    }
  }
  Reductions(const Reductions&) = delete;
  Reductions& operator=(const Reductions&) = delete;
  ncclRedOp_t operator[](std::size_t rank) const { return of_rank_[rank]; }

 private:
  NcclRanks& ranks_;
  std::vector<ncclRedOp_t> of_rank_;
  std::size_t made_ = 0;
};

/// Whether a GPU leaves reductions to NVSwitches by a driver before CUDA 12.8.
bool has_old_multicast(std::span<const Binding> bindings) {
  return std::ranges::any_of(bindings, [](const Binding& binding) {
    return driver_version() < 12080 && has_multicast(stream_of(binding).ordinal());
  });
}

class CollectiveKernel final : public Kernel {
 public:
  CollectiveKernel(NcclRanks& ranks, const OpInstance& op, std::span<const Binding> bindings)
      : ranks_(ranks),
        bindings_(bindings.begin(), bindings.end()),
        collective_(*collective_of(op)),
        count_(static_cast<std::size_t>(op.params.integer("count"))),
        type_(nccl_type(op.dtype())),
        chunk_bytes_(count_ * size_bytes(op.dtype())),
        is_in_place_(op.signature.in_place),
        root_(root_of(op)),
        all_ranks_(op.signature.ranks),
        implementation_(Nccl::instance().version_text() + nccl_settings_text()),
        reductions_(ranks, op),
        check_(std::make_shared<const std::function<void()>>(
            [&ranks] { ranks.demand_no_earlier_error(); })) {
    // A sum of two is the same in either order.
    const ParamValue* reduce = op.params.find("reduce");
    const bool adds = reduce != nullptr && to_text(*reduce) == "sum";
    if (adds && all_ranks_ > 2 && may_add_in_switches() && has_old_multicast(bindings)) {
      implementation_.append(", ").append(nvls_of_old_driver);
    }
    // An error of the last launch has no later one to find it.
    for (const Binding& binding : bindings_) stream_of(binding).check_after_wait(check_);
    if (collective_ != Collective::send_recv) return;
    for (std::size_t rank = 0; rank < bindings.size(); ++rank) {
      peers_.push_back(peers_of(op, ranks.first() + static_cast<int>(rank)));
    }
  }

  void launch() override {
    const Nccl& nccl = Nccl::instance();
    ranks_.demand(nccl.group_start(), "ncclGroupStart");
    Called called;
    for (std::size_t rank = 0; rank < ranks_.size() && called.result == ncclSuccess; ++rank) {
      called = call(nccl, rank);
    }
    // End the group even after an error: an open group would swallow later calls.
    const ncclResult_t ended = nccl.group_end();
    ranks_.demand(called.result, called.name);
    ranks_.demand(ended, "ncclGroupEnd");
    ranks_.demand_no_earlier_error();
  }
  std::string implementation() const override { return implementation_; }
  bool streams_wait() const override { return bindings_.size() > 1; }

 private:
  struct Called {
    ncclResult_t result = ncclSuccess;
    const char* name = "";
  };

  Called call(const Nccl& nccl, std::size_t rank) const {
    const Binding& binding = bindings_[rank];
    const void* const input = binding.inputs[0];
    void* const output = binding.outputs[0];
    const ncclComm_t own = ranks_[rank];
    CUstream_st* const stream = stream_of(binding).handle();
    switch (collective_) {
      case Collective::allreduce:
        return {nccl.all_reduce(input, output, count_, type_, reductions_[rank], own, stream),
                "ncclAllReduce"};
      case Collective::reduce:
        return {nccl.reduce(input, output, count_, type_, reductions_[rank], root_, own, stream),
                "ncclReduce"};
      case Collective::reduce_scatter:
        return {nccl.reduce_scatter(input, output, count_, type_, reductions_[rank], own, stream),
                "ncclReduceScatter"};
      case Collective::all_gather:
        return {nccl.all_gather(is_in_place_
                                    ? chunk(output, static_cast<std::size_t>(ranks_.first()) + rank)
                                    : input,
                                output, count_, type_, own, stream),
                "ncclAllGather"};
      case Collective::broadcast:
        return {nccl.broadcast(input, output, count_, type_, root_, own, stream), "ncclBroadcast"};
      case Collective::all_to_all:
        return all_to_all(nccl, rank);
      case Collective::send_recv:
        return send_recv(nccl, rank, peers_[rank], input, output);
    }
    __builtin_unreachable();
  }

  /// NCCL before 2.28 has no call for it: sends and receptions of one group.
  Called all_to_all(const Nccl& nccl, std::size_t rank) const {
    const Binding& binding = bindings_[rank];
    Called called;
    for (int other = 0; other < all_ranks_ && called.result == ncclSuccess; ++other) {
      const auto at = static_cast<std::size_t>(other);
      called = send_recv(nccl, rank, {.to = other, .from = other}, chunk(binding.inputs[0], at),
                         chunk(binding.outputs[0], at));
    }
    return called;
  }

  Called send_recv(const Nccl& nccl, std::size_t rank, Peers peers, const void* input,
                   void* output) const {
    CUstream_st* const stream = stream_of(bindings_[rank]).handle();
    if (peers.to >= 0) {
      const ncclResult_t sent = nccl.send(input, count_, type_, peers.to, ranks_[rank], stream);
      if (sent != ncclSuccess) return {sent, "ncclSend"};
    }
    if (peers.from < 0) return {};
    return {nccl.receive(output, count_, type_, peers.from, ranks_[rank], stream), "ncclRecv"};
  }

  const void* chunk(const void* begin, std::size_t number) const {
    return static_cast<const std::byte*>(begin) + number * chunk_bytes_;
  }
  void* chunk(void* begin, std::size_t number) const {
    return static_cast<std::byte*>(begin) + number * chunk_bytes_;
  }

  NcclRanks& ranks_;
  std::vector<Binding> bindings_;
  Collective collective_;
  std::size_t count_;
  ncclDataType_t type_;
  std::size_t chunk_bytes_;
  bool is_in_place_;
  int root_;
  int all_ranks_;
  std::string implementation_;
  Reductions reductions_;
  std::shared_ptr<const std::function<void()>> check_;
  std::vector<Peers> peers_;  // of each rank here
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<NcclRanks> ranks, std::string transport)
      : ranks_(std::move(ranks)), transport_(std::move(transport)) {}

  std::string transport() const override { return transport_; }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    refuse_fault("a collective");
    return std::make_unique<CollectiveKernel>(*ranks_, op, bindings);
  }

 private:
  std::shared_ptr<NcclRanks> ranks_;
  std::string transport_;
};

/// Gathers a value of each process, in the order of their ranks.
std::vector<std::uint64_t> gathered(Bootstrap& bootstrap, std::uint64_t own) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(bootstrap.size()), own);
  for (int root = 0; root < bootstrap.size(); ++root) {
    const std::span<std::uint64_t> one(&all[static_cast<std::size_t>(root)], 1);
    bootstrap.broadcast(std::as_writable_bytes(one), root);
  }
  return all;
}

/// A random name: a bootstrap has no names of its processes.
std::uint64_t this_process() {
  static const std::uint64_t name = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32U | source();
  }();
  return name;
}

}  // namespace

std::unique_ptr<Communicator> connect_nccl(std::span<Device* const> devices, Bootstrap& bootstrap,
                                           CommunicatorCache<NcclRanks>& cache) {
  if (const std::string& problem = Nccl::instance().problem(); !problem.empty()) {
    throw DeviceError(Failure::unsupported, problem);
  }
  CommunicatorCache<NcclRanks>::Key key;
  std::vector<int>& ordinals = key.ordinals;
  for (Device* device : devices) ordinals.push_back(static_cast<CudaDevice&>(*device).ordinal());
  const auto make = [&] { return std::make_shared<NcclRanks>(ordinals, bootstrap); };
  if (bootstrap.size() == 1) {
    const auto alone = [](bool is_sound) { return is_sound; };
    return std::make_unique<NcclCommunicator>(cache.get(key, alone, make), "nccl");
  }
  key.processes = gathered(bootstrap, this_process());
  // A process does not see that another's communicator broke.
  const auto agree = [&](bool is_sound) {
    return std::ranges::count(gathered(bootstrap, is_sound ? 1 : 0), 0U) == 0;
  };
  return std::make_unique<NcclCommunicator>(cache.get(key, agree, make), "nccl between processes");
}

}  // namespace assay::cuda
