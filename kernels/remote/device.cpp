#include "kernels/remote/device.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "kernels/core/clock.h"

namespace assay::remote {
namespace {

/// Ends an object of the process. Ignores a failed message: the process then has a worse error.
void end(Peer& peer, Command command, std::uint64_t id) noexcept {
  try {
    peer.tell(Writer(command).put(id));
  } catch (const std::exception&) {
    return;
  }
}

/// A reading of this process's clock.
struct RemoteEvent final : Event {
  double at_s = 0;
};

class RemoteStream final : public Stream {
 public:
  explicit RemoteStream(Peer& peer)
      : peer_(peer), id_(Reader(peer.ask(Writer(Command::create_stream))).get<std::uint64_t>()) {}
  ~RemoteStream() override { end(peer_, Command::end_stream, id_); }
  RemoteStream(const RemoteStream&) = delete;
  RemoteStream& operator=(const RemoteStream&) = delete;
  std::uint64_t id() const { return id_; }
  Peer& peer() const { return peer_; }

  // For work of this process on several streams, such as scenarios. Kernels that the other process
  // holds are timed there (RemoteWork).
  std::unique_ptr<Event> create_event() override { return std::make_unique<RemoteEvent>(); }
  void record(Event& event) override {
    synchronize();
    static_cast<RemoteEvent&>(event).at_s = steady_s();
  }
  double elapsed_s(const Event& start, const Event& stop) override {
    return static_cast<const RemoteEvent&>(stop).at_s - static_cast<const RemoteEvent&>(start).at_s;
  }
  void synchronize() override { peer_.ask(Writer(Command::synchronize).put(id_)); }
  std::string device_uuid() const override {
    return Reader(peer_.ask(Writer(Command::stream_uuid).put(id_))).text();
  }
  void flush_caches() override { peer_.tell(Writer(Command::flush_caches).put(id_)); }
  std::unique_ptr<TimedWork> remote_work(std::span<Stream* const> streams,
                                         const LaunchSets& sets) override;

 private:
  Peer& peer_;
  std::uint64_t id_;
};

/// Kernels of one or more processes, each of which times its own part. Each is sent one message and
/// answers with its times: no message falls in between.
class RemoteWork final : public TimedWork {
 public:
  /// All kernels must be RemoteKernels.
  RemoteWork(std::span<Stream* const> streams, const LaunchSets& sets) : streams_(streams.size()) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      const auto& stream = static_cast<const RemoteStream&>(*streams[i]);
      Part& part = part_of(stream.peer());
      part.streams.push_back(stream.id());
      part.positions.push_back(i);
    }
    for (std::size_t set = 0; set < sets.size(); ++set) {
      for (const Kernel* kernel : sets[set]) {
        for (const auto& [peer, id] : static_cast<const RemoteKernel&>(*kernel).parts()) {
          auto& kernels = part_of(*peer).kernels;
          kernels.resize(sets.size());
          kernels[set].push_back(id);
        }
      }
    }
    // The own rank is served by this thread: last.
    std::ranges::stable_partition(parts_, [](const Part& part) { return !part.peer->is_own(); });
    for (const Part& part : parts_) peers_.push_back(part.peer);
    try {
      begin();
    } catch (const std::exception&) {
      end_parts();
      throw;
    }
  }
  ~RemoteWork() override { end_parts(); }
  RemoteWork(const RemoteWork&) = delete;
  RemoteWork& operator=(const RemoteWork&) = delete;

  std::vector<double> time_s(std::int64_t launches, bool cold, std::size_t first_set) override {
    for (const Part& part : parts_) {
      part.peer->tell(Writer(Command::time).put(part.id).put(launches).put(cold).put(first_set));
    }
    std::vector<double> seconds(streams_);
    was_void_ = false;
    const auto error = hear_all(peers_, [&](std::size_t at, Reader reader) {
      was_graph_ = reader.get<bool>();
      was_void_ = reader.get<bool>() || was_void_;
      const auto clock_hz = reader.optional<double>();
      if (parts_[at].positions.front() == 0) clock_hz_ = clock_hz;
      const auto reported = reader.list<double>();
      for (std::size_t i = 0; i < reported.size(); ++i)
        seconds.at(parts_[at].positions.at(i)) = reported[i];
    });
    if (error) std::rethrow_exception(error);
    return seconds;
  }
  bool was_graph() const override { return was_graph_; }
  bool was_void() const override { return was_void_; }
  std::optional<double> clock_hz() const override { return clock_hz_; }

 private:
  void begin() {
    std::vector<int> members;
    for (const Part& part : parts_) members.push_back(part.peer->rank());
    std::ranges::sort(members);
    for (Part& part : parts_) {
      Writer message(Command::time_together);
      message.put(members).put(part.streams).put(part.kernels.size());
      for (const auto& kernels : part.kernels) message.put(kernels);
      const auto id = part.peer->ask(message);
      part.id = Reader(id).get<std::uint64_t>();
    }
  }
  void end_parts() noexcept {
    for (const Part& part : parts_) {
      if (part.id != 0) end(*part.peer, Command::end_timed_work, part.id);
    }
  }

  struct Part {
    Peer* peer;
    std::uint64_t id = 0;
    std::vector<std::uint64_t> streams;
    std::vector<std::vector<std::uint64_t>> kernels;  // of each set
    std::vector<std::size_t> positions;               // of its streams in the order of the caller
  };
  Part& part_of(Peer& peer) {
    const auto found = std::ranges::find(parts_, &peer, &Part::peer);
    return found != parts_.end() ? *found : parts_.emplace_back(Part{.peer = &peer});
  }

  std::size_t streams_;
  std::vector<Part> parts_;
  std::vector<Peer*> peers_;  // of the parts
  // Results of the last time_s.
  bool was_graph_ = false;
  bool was_void_ = false;
  std::optional<double> clock_hz_;
};

std::unique_ptr<TimedWork> RemoteStream::remote_work(std::span<Stream* const> streams,
                                                     const LaunchSets& sets) {
  const auto is_remote = [](const Kernel* kernel) {
    return dynamic_cast<const RemoteKernel*>(kernel) != nullptr;
  };
  // A scenario's steps are this process's.
  if (!std::ranges::all_of(sets.front(), is_remote)) return nullptr;
  return std::make_unique<RemoteWork>(streams, sets);
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

RemoteDevice::RemoteDevice(DeviceInfo info, Peer& peer, std::optional<ProcessMemory> memory)
    : info_(std::move(info)), peer_(peer), memory_(memory) {
  const auto answer = peer_.ask(Writer(Command::describe));
  Reader reader(answer);
  served_ = reader.text();
  info_.stand_in = reader.text();
  is_host_ = reader.get<bool>();
  has_fences_ = reader.get<bool>();
  tries_odd_addresses_ = reader.get<bool>();
}

void* RemoteDevice::allocate(std::size_t bytes, Memory kind) {
  const auto memory = peer_.ask(Writer(Command::allocate).put(bytes).put(kind));
  // An address of that process. This one knows only its number.
  return reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr)
      Reader(memory).get<std::uint64_t>());
}

DeviceCondition RemoteDevice::condition() const {
  const auto answer = peer_.ask(Writer(Command::condition));
  Reader reader(answer);
  DeviceCondition condition;
  condition.clock_hz = reader.optional<double>();
  condition.temperature_c = reader.optional<double>();
  condition.power_w = reader.optional<double>();
  condition.throttled = reader.optional<bool>();
  condition.energy_j = reader.optional<double>();
  condition.power_capped = reader.optional<bool>();
  return condition;
}

void RemoteDevice::release(void* memory) noexcept { end(peer_, Command::release, address(memory)); }

std::string RemoteDevice::owner_uuid(const void* memory) const {
  return Reader(peer_.ask(Writer(Command::holder).put(address(memory)))).text();
}

std::int64_t RemoteDevice::free_memory_bytes() const {
  return Reader(peer_.ask(Writer(Command::free_memory))).get<std::int64_t>();
}

bool RemoteDevice::directly(const std::function<void(const ProcessMemory&)>& call) {
  if (!memory_) return false;
  peer_.settle();
  try {
    call(*memory_);
  } catch (const MemoryWithheld&) {
    peer_.ask(Writer(Command::settle));  // if it has ended, that is the news
    throw;
  }
  return true;
}

void RemoteDevice::upload(void* to, const void* from_host, std::size_t bytes) {
  const std::span content(static_cast<const std::byte*>(from_host), bytes);
  const SourcePiece piece{.offset = 0, .bytes = content};
  if (directly([&](const auto& memory) { memory.write(to, {&piece, 1}); })) return;
  peer_.tell(Writer(Command::upload).put(address(to)).put(content));
}

void RemoteDevice::download(void* to_host, const void* from, std::size_t bytes) {
  const Piece piece{.offset = 0, .bytes = {static_cast<std::byte*>(to_host), bytes}};
  if (directly([&](const auto& memory) { memory.read(from, {&piece, 1}); })) return;
  const auto content = peer_.ask(Writer(Command::download).put(address(from)).put(bytes));
  if (content.size() != bytes) {
    throw DeviceError(Failure::internal, "remote: a download of another size than asked for");
  }
  std::ranges::copy(content, static_cast<std::byte*>(to_host));  // perhaps of nothing, to nowhere
}

void RemoteDevice::fill(void* to, std::byte value, std::size_t bytes) {
  if (directly([&](const auto& memory) { memory.fill(to, value, bytes); })) return;
  peer_.tell(Writer(Command::fill).put(address(to)).put(value).put(bytes));
}

void RemoteDevice::upload_pieces(void* to, std::span<const SourcePiece> pieces) {
  if (directly([&](const auto& memory) { memory.write(to, pieces); })) return;
  std::vector<Place> places;
  for (const auto& [offset, bytes] : pieces) places.push_back({offset, bytes.size()});
  Writer message(Command::upload_pieces);
  message.put(address(to)).put(places);
  for (const SourcePiece& piece : pieces) message.put(piece.bytes);
  peer_.tell(message);
}

void RemoteDevice::download_pieces(const void* from, std::span<const Piece> pieces) {
  if (directly([&](const auto& memory) { memory.read(from, pieces); })) return;
  std::vector<Place> places;
  for (const auto& [offset, bytes] : pieces) places.push_back({offset, bytes.size()});
  const auto content = peer_.ask(Writer(Command::download_pieces).put(address(from)).put(places));
  if (content.size() != total_bytes(pieces)) {
    throw DeviceError(Failure::internal, "remote: a download of another size than asked for");
  }
  Reader reader(content);
  for (const Piece& piece : pieces) {
    std::ranges::copy(reader.raw(piece.bytes.size()), piece.bytes.begin());
  }
}

void RemoteDevice::pause() {
  if (peer_.stands_still()) return;
  directly([&](const ProcessMemory& memory) {
    if (standstill_.begin(memory.process())) peer_.before_next([this] { standstill_.end(); });
  });
}

std::unique_ptr<Stream> RemoteDevice::create_stream() {
  return std::make_unique<RemoteStream>(peer_);
}

std::unique_ptr<Kernel> RemoteDevice::prepare(const OpInstance& op, const Binding& binding) {
  Writer message(Command::prepare);
  put_op(message, op);
  put_binding(message, binding);
  const auto answer = peer_.ask(message);
  Reader reader(answer);
  const auto id = reader.get<std::uint64_t>();
  std::string implementation = reader.text();
  const auto reported_mode = reader.get<MathMode>();
  std::string wrong_algorithms = reader.text();
  // A processor rounds each addition to nearest: its process has no say in how it is judged.
  const MathMode mode = memory_ ? MathMode{} : reported_mode;
  return std::make_unique<RemoteKernel>(std::vector{RemoteKernel::Part{&peer_, id}},
                                        std::move(implementation), mode,
                                        std::move(wrong_algorithms));
}

void RemoteDevice::launch_and_fill(Kernel& kernel, Stream& stream, void* memory, std::byte value,
                                   std::size_t bytes) {
  peer_.ask(Writer(Command::launch_and_fill)
                .put(static_cast<const RemoteKernel&>(kernel).parts().front().id)
                .put(static_cast<const RemoteStream&>(stream).id())
                .put(address(memory))
                .put(value)
                .put(bytes));
}

std::optional<std::string> DeviceOfOthers::changed_process() {
  std::string change = Reader(peer().ask(Writer(Command::process_state))).text();
  return change.empty() ? std::nullopt : std::optional(std::move(change));
}

RemoteKernel::~RemoteKernel() {
  for (const Part& part : parts_) end(*part.peer, Command::end_kernel, part.id);
}

void RemoteKernel::launch() {
  for (const Part& part : parts_) part.peer->tell(Writer(Command::launch).put(part.id));
}

}  // namespace assay::remote
