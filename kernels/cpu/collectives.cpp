#include "kernels/cpu/collectives.h"

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/cpu/postscale.h"
#include "kernels/cpu/rank_team.h"
#include "kernels/cpu/reduce_functions.h"
#include "kernels/ops/collectives.h"

namespace assay::cpu {
namespace {

using Context = std::shared_ptr<gloo::rendezvous::Context>;

/// The part of one rank, launch after launch.
using Part = std::function<void()>;

/// A rank's call with the means to make it.
struct RankCall {
  CollectiveCall call;
  Context context;
  std::size_t ranks;

  bool is_in_place() const { return call.input == call.output; }
  bool is_root() const { return context->rank == call.root; }
  std::size_t chunk_bytes() const { return call.count * size_bytes(call.dtype); }
};

/// Sets the input, unless in place: there is none then. Gloo's pointers are not const, but it only
/// reads the input. It knows only the size of elements; the reduce function knows their type.
template <class Word, class Options>
void set_input(Options& options, const RankCall& rank, std::size_t elements) {
  if (rank.is_in_place()) return;
  options.setInput(static_cast<Word*>(const_cast<void*>(rank.call.input)), elements);
}

template <class Word>
Part allreduce_part(const RankCall& rank) {
  auto options = std::make_shared<gloo::AllreduceOptions>(rank.context);
  set_input<Word>(*options, rank, rank.call.count);
  options->setOutput(static_cast<Word*>(rank.call.output), rank.call.count);
  options->setReduceFunction(rank.call.reduction.combine);
  return [options] { gloo::allreduce(*options); };
}

/// The ring leaves partial sums in every rank's output: those who get none give it room.
template <class Word>
Part reduce_part(const RankCall& rank) {
  auto options = std::make_shared<gloo::ReduceOptions>(rank.context);
  auto room = std::make_shared<std::vector<Word>>(rank.is_root() ? 0 : rank.call.count);
  if (rank.is_root()) {
    set_input<Word>(*options, rank, rank.call.count);
    options->setOutput(static_cast<Word*>(rank.call.output), rank.call.count);
  } else {
    options->setInput(static_cast<Word*>(const_cast<void*>(rank.call.input)), rank.call.count);
    options->setOutput(room->data(), rank.call.count);
  }
  options->setReduceFunction(rank.call.reduction.combine);
  options->setRoot(rank.call.root);
  return [options, room] { gloo::reduce(*options); };
}

/// Gloo has none for any number of ranks: its all-to-all brings the chunks together, which are then
/// reduced in the order of the ranks.
template <class Word>
Part reduce_scatter_part(const RankCall& rank) {
  auto options = std::make_shared<gloo::AlltoallOptions>(rank.context);
  auto chunks = std::make_shared<std::vector<Word>>(rank.ranks * rank.call.count);
  options->setInput(static_cast<Word*>(const_cast<void*>(rank.call.input)), chunks->size());
  options->setOutput(chunks->data(), chunks->size());
  return [options, chunks, call = rank.call, ranks = rank.ranks] {
    gloo::alltoall(*options);
    const Word* chunk = chunks->data();
    std::memcpy(call.output, chunk, call.count * sizeof(Word));
    for (std::size_t other = 1; other < ranks; ++other) {
      chunk += call.count;
      call.reduction.combine(call.output, call.output, chunk, call.count);
    }
  };
}

template <class Word>
Part all_gather_part(const RankCall& rank) {
  auto options = std::make_shared<gloo::AllgatherOptions>(rank.context);
  set_input<Word>(*options, rank, rank.call.count);
  options->setOutput(static_cast<Word*>(rank.call.output), rank.ranks * rank.call.count);
  return [options] { gloo::allgather(*options); };
}

template <class Word>
Part broadcast_part(const RankCall& rank) {
  auto options = std::make_shared<gloo::BroadcastOptions>(rank.context);
  if (rank.is_root()) set_input<Word>(*options, rank, rank.call.count);
  options->setOutput(static_cast<Word*>(rank.call.output), rank.call.count);
  options->setRoot(rank.call.root);
  return [options] { gloo::broadcast(*options); };
}

template <class Word>
Part all_to_all_part(const RankCall& rank) {
  auto options = std::make_shared<gloo::AlltoallOptions>(rank.context);
  const std::size_t elements = rank.ranks * rank.call.count;
  options->setInput(static_cast<Word*>(const_cast<void*>(rank.call.input)), elements);
  options->setOutput(static_cast<Word*>(rank.call.output), elements);
  return [options] { gloo::alltoall(*options); };
}

/// Sends and receives at once.
Part send_recv_part(const RankCall& rank) {
  const auto buffer = [&](const void* memory) {
    return std::shared_ptr(
        rank.context->createUnboundBuffer(const_cast<void*>(memory), rank.chunk_bytes()));
  };
  return [input = buffer(rank.call.input), output = buffer(rank.call.output),
          peers = rank.call.peers, context = rank.context] {
    constexpr std::uint64_t slot = 0;  // messages of a pair keep their order
    if (peers.to >= 0) input->send(peers.to, slot);
    if (peers.from >= 0) output->recv(peers.from, slot);
    if (peers.to >= 0) input->waitSend();
    if (peers.from >= 0) output->waitRecv();
  };
}

template <class Word>
Part part_of(const RankCall& rank) {
  switch (rank.call.collective) {
    case Collective::allreduce:
      return allreduce_part<Word>(rank);
    case Collective::reduce:
      return reduce_part<Word>(rank);
    case Collective::reduce_scatter:
      return reduce_scatter_part<Word>(rank);
    case Collective::all_gather:
      return all_gather_part<Word>(rank);
    case Collective::broadcast:
      return broadcast_part<Word>(rank);
    case Collective::all_to_all:
      return all_to_all_part<Word>(rank);
    case Collective::send_recv:
      return send_recv_part(rank);
  }
  __builtin_unreachable();
}

Part part_of(const RankCall& rank) {
  switch (size_bytes(rank.call.dtype)) {
    case 8:
      return part_of<std::uint64_t>(rank);
    case 4:
      return part_of<std::uint32_t>(rank);
    case 2:
      return part_of<std::uint16_t>(rank);
    default:
      return part_of<std::uint8_t>(rank);
  }
}

/// Name of the algorithm: "allreduce ring".
std::string algorithm(const OpInstance& op) {
  switch (*collective_of(op)) {
    case Collective::allreduce:
      return "allreduce ring";
    case Collective::reduce:
      return "reduce ring";
    case Collective::reduce_scatter:
      return "alltoall, own " + op.params.word("reduce");
    case Collective::all_gather:
      return "allgather ring";
    case Collective::broadcast:
      return "broadcast tree";
    case Collective::all_to_all:
      return "alltoall";
    case Collective::send_recv:
      return "send and recv";
  }
  __builtin_unreachable();
}

}  // namespace

/// Threads that are connected with each other.
class GlooRanks {
 public:
  explicit GlooRanks(int ranks) : contexts_(static_cast<std::size_t>(ranks)), team_(ranks) {
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

  const Context& context(std::size_t rank) const { return contexts_[rank]; }
  /// Runs the part of every rank at once. Messages of a launch that failed may still arrive: then
  /// nothing may follow it.
  void run(const std::function<void(int)>& part) {
    is_sound_ = false;
    team_.run(part);
    is_sound_ = true;
  }
  bool is_sound() const { return is_sound_; }

 private:
  std::vector<Context> contexts_;
  RankTeam team_;
  bool is_sound_ = true;
};

namespace {

class GlooKernel final : public Kernel {
 public:
  GlooKernel(GlooRanks& ranks, std::span<const Binding> bindings, const OpInstance& op,
             int dead_rank)
      : ranks_(ranks),
        name_(gloo_version_text() + " " + std::string(op.op->name)),
        implementation_(gloo_version_text() + " " + algorithm(op)) {
    const Postscale after = postscale(op);
    implementation_ += after.name;
    CollectiveCall call{.collective = *collective_of(op),
                        .dtype = op.dtype(),
                        .count = static_cast<std::size_t>(op.params.integer("count")),
                        .root = root_of(op)};
    if (reduces(call.collective)) {
      call.reduction.combine = reduce_function(op.params.word("reduce"), op.dtype());
    }
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      const auto rank = static_cast<int>(i);
      if (rank == dead_rank) {
        parts_.emplace_back([] {});
        continue;
      }
      call.input = bindings[i].inputs[0];
      call.output = bindings[i].outputs[0];
      if (call.collective == Collective::send_recv) call.peers = peers_of(op, rank);
      const auto elements =
          static_cast<std::size_t>(tensors_of(op.signature, rank).outputs[0].elements());
      parts_.emplace_back([part = part_of({call, ranks.context(i), bindings.size()}), after,
                           output = call.output, elements] {
        part();
        after(output, elements);
      });
    }
    work_ = [this](int rank) { parts_[static_cast<std::size_t>(rank)](); };
  }

  void launch() override {
    try {
      ranks_.run(work_);
    } catch (const std::exception& error) {
      throw DeviceError(Failure::internal, name_ + ": " + error.what());
    }
  }
  std::string implementation() const override { return implementation_; }

 private:
  GlooRanks& ranks_;
  std::string name_;
  std::string implementation_;
  std::vector<Part> parts_;  // of each rank
  std::function<void(int)> work_;
};

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(std::shared_ptr<GlooRanks> ranks, int dead_rank)
      : ranks_(std::move(ranks)), dead_rank_(dead_rank) {}

  std::string transport() const override { return "gloo-tcp"; }

  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return std::make_unique<GlooKernel>(*ranks_, bindings, op, dead_rank_);
  }

 private:
  std::shared_ptr<GlooRanks> ranks_;
  int dead_rank_;
};

}  // namespace

std::unique_ptr<Communicator> Gloo::connect(int ranks, int dead_rank) {
  if (dead_rank >= 0) {
    return std::make_unique<GlooCommunicator>(std::make_shared<GlooRanks>(ranks), dead_rank);
  }
  std::shared_ptr<GlooRanks>& known = kept_[ranks];
  if (known == nullptr || !known->is_sound()) known = std::make_shared<GlooRanks>(ranks);
  return std::make_unique<GlooCommunicator>(known, dead_rank);
}

std::string gloo_version_text() {
  return "Gloo " + std::to_string(GLOO_VERSION_MAJOR) + "." + std::to_string(GLOO_VERSION_MINOR) +
         "." + std::to_string(GLOO_VERSION_PATCH);
}

}  // namespace assay::cpu
