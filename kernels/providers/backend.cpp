#include "kernels/providers/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/device/device_id.h"
#include "kernels/providers/own_devices.h"
#include "kernels/providers/socket_group.h"
#include "kernels/remote/device.h"
#include "kernels/remote/message.h"
#include "kernels/remote/peer.h"

namespace assay::providers {

using remote::Command;
using remote::Reader;
using remote::Writer;

class KernelProcess::Connection {
 public:
  Connection(FileDescriptor socket, std::function<void()> lost,
             std::function<std::string()> how_it_ended)
      : group(std::move(socket), 0,
              [this, lost = std::move(lost), how_it_ended = std::move(how_it_ended)] {
                if (is_open) lost();
                throw UsageError("its process " + how_it_ended() + " while it was loaded");
              }),
        peer(group, 1) {}
  bool is_open = false;
  SocketGroup group;
  remote::Peer peer;
};

KernelProcess::KernelProcess(FileDescriptor socket, std::function<void()> lost, Opening opening)
    : left_(std::move(opening.left)),
      connection_(std::make_unique<Connection>(std::move(socket), std::move(lost),
                                               std::move(opening.how_it_ended))) {
  try {
    hear_offers(opening);
  } catch (...) {
    connection_.reset();
    left_();
    throw;
  }
}

KernelProcess::~KernelProcess() {
  connection_.reset();
  left_();
}

void KernelProcess::hear_offers(const Opening& opening) {
  const double limit_s = opening.limit_s;
  const Deadline deadline = after(limit_s);
  const auto next = [&] {
    const std::chrono::duration<double> left = deadline - std::chrono::steady_clock::now();
    if (!connection_->group.wait_for_message(left.count())) {
      throw UsageError(fmt::format(
          "loading it has not ended within {} s: code that runs then may hang", limit_s));
    }
    return connection_->group.receive(1);
  };
  const auto announced = next();
  Reader begin(announced);
  const auto process = begin.get<pid_t>();
  const auto address = begin.get<std::uint64_t>();
  memory_ = remote::ProcessMemory::open(process, address, begin.rest());
  connection_->group.send(1, Writer().put(std::span<const std::byte>(opening.definitions)).bytes());
  const auto answer = next();
  Reader reader(answer);
  if (!reader.get<bool>()) throw UsageError(reader.text());
  offers_.name = reader.text();
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    Offer& offer = offers_.ops.emplace_back(Offer{.op = reader.text()});
    for (auto formats = reader.get<std::size_t>(); formats > 0; --formats) {
      const std::string dtype = reader.text();
      const auto format = parse_format(dtype);
      if (!format) throw UsageError("no dtype is called '" + dtype + "'");
      offer.formats.push_back(*format);
    }
    offer.takes_views = reader.get<bool>();
  }
  for (auto left = reader.get<std::size_t>(); left > 0; --left) {
    std::string kind = reader.text();
    const auto index = std::ranges::count(devices_, kind, &DeviceInfo::backend);
    devices_.push_back(own_info({std::move(kind), reader.text()}, index));
  }
  connection_->is_open = true;
}

std::unique_ptr<Device> KernelProcess::open(const DeviceInfo& info, int index, MemorySpace memory) {
  Writer message;
  connection_->group.send(1, message.put(info.backend).put(index).bytes());
  return std::make_unique<remote::DeviceOfOthers>(
      info, connection_->peer, memory == MemorySpace::host ? memory_ : std::nullopt);
}

class ProvidedBackends::ProvidedBackend final : public Backend {
 public:
  ProvidedBackend(const Backend& real, ProvidedBackends& owner)
      : traits_(real.traits()), real_(&real), owner_(owner) {}
  ProvidedBackend(BackendTraits traits, std::vector<DeviceInfo> own, ProvidedBackends& owner)
      : traits_(std::move(traits)), own_(std::move(own)), owner_(owner) {}

  const BackendTraits& traits() const override { return traits_; }
  std::vector<DeviceInfo> describe() const override {
    return real_ == nullptr ? own_ : real_->describe();
  }
  std::vector<std::string> problems() const override {
    return real_ == nullptr ? std::vector<std::string>{} : real_->problems();
  }
  Visibility visibility() const override {
    return real_ == nullptr ? Backend::visibility() : real_->visibility();
  }
  std::unique_ptr<Device> open(int index) override {
    const std::string id = to_text(DeviceId{kind(), index});
    for (const DeviceInfo& info : describe()) {
      if (info.device != id) continue;
      processes_.push_back(owner_.take_process());
      return processes_.back()->open(info, index, traits_.memory);
    }
    throw DeviceError(Failure::device_lost, "there is no " + id);
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> /*devices*/, int /*ranks*/,
                                        Bootstrap& /*bootstrap*/) override {
    throw DeviceError(Failure::not_here, "kernels of others have no collectives");
  }

 private:
  BackendTraits traits_;
  const Backend* real_ = nullptr;  // null: devices of the provider
  std::vector<DeviceInfo> own_;
  ProvidedBackends& owner_;
  std::vector<std::unique_ptr<KernelProcess>> processes_;  // of the devices that were opened
};

ProvidedBackends::ProvidedBackends(const Backends& real, StartKernelProcess start)
    : start_(std::move(start)), idle_(start_()), offers_(idle_->offers()) {
  for (const BackendTraits& traits : real.traits()) {
    backends_.add(std::make_unique<ProvidedBackend>(*real.find(traits.kind), *this));
  }
  add_own(real);
}

void ProvidedBackends::add_own(const Backends& real) {
  std::map<std::string, std::vector<DeviceInfo>> by_kind;
  for (const DeviceInfo& device : idle_->devices()) by_kind[device.backend].push_back(device);
  for (auto& [kind, devices] : by_kind) {
    // "torch:cuda" are those of our backend "cuda", if it finds any.
    Backend* ours = real.find(kind.substr(kind.rfind(':') + 1));
    const bool is_ours_too = ours != nullptr && !ours->describe().empty();
    backends_.add(std::make_unique<ProvidedBackend>(own_traits(kind, is_ours_too),
                                                    std::move(devices), *this));
  }
}

ProvidedBackends::~ProvidedBackends() = default;

std::unique_ptr<KernelProcess> ProvidedBackends::take_process() {
  return idle_ ? std::move(idle_) : start_();
}

}  // namespace assay::providers
