#include "kernels/ranks/backend.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/core/fnv1a.h"
#include "kernels/device/device_id.h"
#include "kernels/ranks/traits.h"
#include "kernels/remote/device.h"
#include "kernels/remote/peer.h"

namespace assay::ranks {

using remote::Command;
using remote::Peer;
using remote::Reader;
using remote::RemoteDevice;
using remote::RemoteKernel;
using remote::Server;
using remote::Writer;

namespace {

std::string uuid_of(int rank) { return "RANK-" + std::to_string(rank); }

class RemoteCommunicator final : public Communicator {
 public:
  explicit RemoteCommunicator(std::vector<Peer*> peers) : peers_(std::move(peers)) {
    std::vector<int> members;
    for (const Peer* peer : peers_) members.push_back(peer->rank());
    // Tells all ranks before hearing any: they may wait for each other.
    for_others_first(
        [&](std::size_t i) { peers_[i]->tell(Writer(Command::connect).put(members)); });
    ids_.resize(peers_.size());
    const auto error = hear_all(peers_, [&](std::size_t i, Reader reader) {
      ids_[i] = reader.get<std::uint64_t>();
      transport_ = reader.text();
    });
    if (!error) return;
    end();
    std::rethrow_exception(error);
  }
  ~RemoteCommunicator() override { end(); }
  RemoteCommunicator(const RemoteCommunicator&) = delete;
  RemoteCommunicator& operator=(const RemoteCommunicator&) = delete;

  std::string transport() const override { return transport_; }

  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    for_others_first([&](std::size_t i) {
      Writer message(Command::prepare_collective);
      message.put(ids_[i]);
      put_op(message, op);
      put_binding(message, bindings[i]);
      peers_[i]->tell(message);
    });
    std::vector<RemoteKernel::Part> parts;
    std::string implementation;
    MathMode mode;
    std::string wrong_algorithms;
    const auto error = hear_all(peers_, [&](std::size_t i, Reader reader) {
      parts.push_back({peers_[i], reader.get<std::uint64_t>()});
      implementation = reader.text();
      mode = reader.get<MathMode>();
      wrong_algorithms = reader.text();
    });
    std::stable_partition(parts.begin(), parts.end(),
                          [](const auto& part) { return !part.peer->is_own(); });
    auto kernel = std::make_unique<RemoteKernel>(std::move(parts), std::move(implementation), mode,
                                                 std::move(wrong_algorithms));
    if (error) std::rethrow_exception(error);
    return kernel;
  }

 private:
  void end() noexcept {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      try {
        if (ids_[i] != 0) peers_[i]->tell(Writer(Command::end_communicator).put(ids_[i]));
      } catch (const std::exception&) {
        return;  // the job is over
      }
    }
  }

  template <class Body>
  void for_others_first(const Body& body) const {
    for (const bool own : {false, true}) {
      for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (peers_[i]->is_own() == own) body(i);
      }
    }
  }

  std::vector<Peer*> peers_;
  std::vector<std::uint64_t> ids_;
  std::string transport_;
};

class RemoteBackend final : public Backend {
 public:
  RemoteBackend(LaunchInfo info, std::function<std::unique_ptr<ProcessGroup>()> join,
                const Backends& own)
      : info_(std::move(info)), join_(std::move(join)), own_(own) {}
  ~RemoteBackend() override {
    for (const auto& peer : peers_) {
      try {
        if (!peer->is_own()) peer->tell(Writer(Command::leave));
      } catch (const std::exception&) {
        break;  // the job is over already
      }
    }
  }
  RemoteBackend(const RemoteBackend&) = delete;
  RemoteBackend& operator=(const RemoteBackend&) = delete;

  const BackendTraits& traits() const override { return ranks::traits(); }
  std::vector<DeviceInfo> describe() const override {
    std::vector<DeviceInfo> devices;
    for (int rank = 0; rank < info_.size; ++rank) devices.push_back(describe(rank));
    return devices;
  }
  std::unique_ptr<Device> open(int index) override {
    if (index >= info_.size) {
      throw DeviceError(Failure::device_lost, "there is no mpi:" + std::to_string(index) +
                                                  ": the job has " + std::to_string(info_.size) +
                                                  " ranks");
    }
    if (peers_.empty()) begin();
    return std::make_unique<RemoteDevice>(describe(index),
                                          *peers_[static_cast<std::size_t>(index)]);
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int /*ranks*/,
                                        Bootstrap& /*bootstrap*/) override {
    std::vector<Peer*> peers;
    for (Device* device : devices) peers.push_back(&static_cast<RemoteDevice*>(device)->peer());
    return std::make_unique<RemoteCommunicator>(std::move(peers));
  }

 private:
  void begin() {
    if (!job_) job_ = join_();
    const OwnDevice own = own_device(*job_, own_, info_);
    std::vector<std::unique_ptr<Peer>> peers;
    for (int rank = 0; rank < info_.size; ++rank) {
      peers.push_back(
          rank == job_->rank()
              ? std::make_unique<Peer>(*job_, std::make_unique<Server>(*job_, served(own, rank)))
              : std::make_unique<Peer>(*job_, rank));
    }
    peers_ = std::move(peers);
  }
  DeviceInfo describe(int rank) const {
    DeviceInfo info;
    info.backend = ranks::traits().kind;
    info.device = to_text(DeviceId{info.backend, rank});
    info.name = "rank " + std::to_string(rank) + " of " + std::to_string(info_.size) + " (" +
                info_.launcher + ")";
    info.uuid = uuid_of(rank);
    return info;
  }

  LaunchInfo info_;
  std::function<std::unique_ptr<ProcessGroup>()> join_;
  const Backends& own_;
  std::unique_ptr<ProcessGroup> job_;
  std::vector<std::unique_ptr<Peer>> peers_;  // index: rank
};

/// Least number of all ranks.
std::int64_t min_of_all(ProcessGroup& group, std::int64_t number) {
  std::vector<int> all(static_cast<std::size_t>(group.size()));
  std::iota(all.begin(), all.end(), 0);
  const auto least = [](void* y, const void* a, const void* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      static_cast<std::int64_t*>(y)[i] =
          std::min(static_cast<const std::int64_t*>(a)[i], static_cast<const std::int64_t*>(b)[i]);
    }
  };
  group.run(all, {.dtype = DType::i64,
                  .count = 1,
                  .input = &number,
                  .output = &number,
                  .reduction = {"", least}});
  return number;
}

/// Device with its own memory for this rank of its host, if there is one.
std::optional<OwnDevice> device_of_rank(const Backends& backends, int local_rank) {
  for (const BackendTraits& traits : backends.traits()) {
    if (traits.memory != MemorySpace::device || traits.only_on_request) continue;
    Backend* const backend = backends.find(traits.kind);
    const int devices = static_cast<int>(backend->describe().size());
    // Launchers may show each rank only its own device.
    const bool has_mask = std::getenv(backend->visibility().mask.c_str()) != nullptr;
    const int index = devices == 1 && has_mask ? 0 : local_rank;
    if (index < devices) return OwnDevice{backend, index};
  }
  return std::nullopt;
}

}  // namespace

OwnDevice own_device(ProcessGroup& group, const Backends& backends, const LaunchInfo& info) {
  if (min_of_all(group, info.command_hash) != -min_of_all(group, -info.command_hash)) {
    throw DeviceError(Failure::internal,
                      "the ranks of a job must have the same command line: rank 0 alone plans");
  }
  const std::optional<OwnDevice> own = device_of_rank(backends, info.local_rank);
  const std::uint64_t hash = own ? fnv1a(own->backend->kind()) : 0;
  const auto kind = static_cast<std::int64_t>(hash >> 2U);  // its negative fits too
  const std::int64_t least = min_of_all(group, kind);
  const bool is_same_everywhere = least == -min_of_all(group, -kind);
  return own && is_same_everywhere ? *own : OwnDevice{backends.find(host_kind), 0};
}

remote::Served served(const OwnDevice& own, int rank) {
  return {.backend = *own.backend,
          .index = own.index,
          .name = "rank " + std::to_string(rank),
          .uuid = uuid_of(rank)};
}

std::unique_ptr<Backend> make_backend(const LaunchInfo& info,
                                      std::function<std::unique_ptr<ProcessGroup>()> join,
                                      const Backends& own) {
  return std::make_unique<RemoteBackend>(info, std::move(join), own);
}

}  // namespace assay::ranks
