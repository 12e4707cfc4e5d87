#include "kernels/ranks/device.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::ranks {
namespace {

/// Ends an object of a rank. Ignores a failed message: the rank then has a worse error.
void end(Peer& peer, Command command, std::uint64_t id) noexcept {
  try {
    peer.tell(Writer(command).put(id));
  } catch (const std::exception&) {
    return;
  }
}

class RemoteEvent final : public Event {
 public:
  RemoteEvent(Peer& peer, std::uint64_t id) : peer_(peer), id_(id) {}
  ~RemoteEvent() override { end(peer_, Command::end_event, id_); }
  RemoteEvent(const RemoteEvent&) = delete;
  RemoteEvent& operator=(const RemoteEvent&) = delete;
  std::uint64_t id() const { return id_; }

 private:
  Peer& peer_;
  std::uint64_t id_;
};

std::uint64_t id_of(const Event& event) { return static_cast<const RemoteEvent&>(event).id(); }

class RemoteStream final : public Stream {
 public:
  explicit RemoteStream(Peer& peer)
      : peer_(peer), id_(Reader(peer.ask(Writer(Command::create_stream))).get<std::uint64_t>()) {}
  ~RemoteStream() override { end(peer_, Command::end_stream, id_); }
  RemoteStream(const RemoteStream&) = delete;
  RemoteStream& operator=(const RemoteStream&) = delete;
  std::uint64_t id() const { return id_; }
  const Peer& peer() const { return peer_; }

  std::unique_ptr<Event> create_event() override {
    const auto id = peer_.ask(Writer(Command::create_event).put(id_));
    return std::make_unique<RemoteEvent>(peer_, Reader(id).get<std::uint64_t>());
  }
  /// Waits for the rank, so that it is awake when the next work comes.
  void record(Event& event) override {
    peer_.ask(Writer(Command::record).put(id_).put(id_of(event)));
  }
  double elapsed_s(const Event& start, const Event& stop) override {
    const auto seconds =
        peer_.ask(Writer(Command::elapsed).put(id_).put(id_of(start)).put(id_of(stop)));
    return Reader(seconds).get<double>();
  }
  void synchronize() override { peer_.ask(Writer(Command::synchronize).put(id_)); }
  std::string device_uuid() const override {
    return Reader(peer_.ask(Writer(Command::stream_uuid).put(id_))).text();
  }
  void flush_caches() override { peer_.tell(Writer(Command::flush_caches).put(id_)); }

 private:
  Peer& peer_;
  std::uint64_t id_;
};

const RemoteStream& stream_of(const Interval& interval) {
  return static_cast<const RemoteStream&>(*interval.stream);
}

std::vector<std::uint64_t> addresses(const auto& pointers) {
  std::vector<std::uint64_t> all;
  for (const void* pointer : pointers) all.push_back(address(pointer));
  return all;
}

}  // namespace

void put_binding(Writer& writer, const Binding& binding) {
  writer.put(static_cast<const RemoteStream&>(*binding.stream).id())
      .put(addresses(binding.inputs))
      .put(addresses(binding.outputs));
}

RemoteDevice::RemoteDevice(DeviceInfo info, Peer& peer) : info_(std::move(info)), peer_(peer) {
  const auto told = peer_.ask(Writer(Command::describe));
  Reader reader(told);
  served_ = reader.text();
  info_.stand_in = reader.text();
  is_host_ = reader.get<bool>();
}

void* RemoteDevice::allocate(std::size_t bytes, Memory kind) {
  const auto memory = peer_.ask(Writer(Command::allocate).put(bytes).put(kind));
  // An address on the rank. The host knows only its number.
  return reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr)
      Reader(memory).get<std::uint64_t>());
}

void RemoteDevice::release(void* memory) noexcept { end(peer_, Command::release, address(memory)); }

std::string RemoteDevice::owner_uuid(const void* memory) const {
  return Reader(peer_.ask(Writer(Command::holder).put(address(memory)))).text();
}

std::int64_t RemoteDevice::free_memory_bytes() const {
  return Reader(peer_.ask(Writer(Command::free_memory))).get<std::int64_t>();
}

void RemoteDevice::upload(void* to, const void* from_host, std::size_t bytes) {
  Writer message(Command::upload);
  message.put(address(to)).put(std::span(static_cast<const std::byte*>(from_host), bytes));
  peer_.tell(message);
}

void RemoteDevice::download(void* to_host, const void* from, std::size_t bytes) {
  const auto content = peer_.ask(Writer(Command::download).put(address(from)).put(bytes));
  if (content.size() != bytes) {
    throw DeviceError(Failure::internal, "remote: a download of another size than asked for");
  }
  std::memcpy(to_host, content.data(), bytes);
}

void RemoteDevice::fill(void* to, std::byte value, std::size_t bytes) {
  peer_.tell(Writer(Command::fill).put(address(to)).put(value).put(bytes));
}

std::unique_ptr<Stream> RemoteDevice::create_stream() {
  return std::make_unique<RemoteStream>(peer_);
}

std::unique_ptr<Kernel> RemoteDevice::prepare(const OpInstance& op, const Binding& binding) {
  Writer message(Command::prepare);
  put_op(message, op);
  put_binding(message, binding);
  const auto told = peer_.ask(message);
  Reader reader(told);
  const auto id = reader.get<std::uint64_t>();
  std::string implementation = reader.text();
  const auto mode = reader.get<MathMode>();
  return std::make_unique<RemoteKernel>(std::vector{RemoteKernel::Part{&peer_, id}},
                                        std::move(implementation), mode);
}

RemoteKernel::~RemoteKernel() {
  for (const Part& part : parts_) end(*part.peer, Command::end_kernel, part.id);
}

void RemoteKernel::launch_times(std::int64_t times) {
  for (const Part& part : parts_) {
    part.peer->tell(Writer(Command::launch).put(part.id).put(times));
  }
}

void RemoteKernel::launch_between(std::span<const Interval> intervals, std::int64_t times) {
  std::vector<int> members;
  for (const Interval& each : intervals) members.push_back(stream_of(each).peer().rank());
  for (const Part& part : parts_) {
    const auto own = std::ranges::find(
        intervals, part.peer, [](const Interval& interval) { return &stream_of(interval).peer(); });
    part.peer->tell(Writer(Command::launch_between)
                        .put(members)
                        .put(stream_of(*own).id())
                        .put(id_of(*own->start))
                        .put(id_of(*own->stop))
                        .put(part.id)
                        .put(times));
  }
}

}  // namespace assay::ranks
