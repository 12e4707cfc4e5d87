#include "kernels/remote/server.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/ops/op.h"
#include "kernels/remote/collective.h"

namespace assay::remote {
namespace {

/// Ranks that agree by a reduction, of which no rank leaves before all have come.
class RankMeeting final : public Meeting {
 public:
  RankMeeting(ProcessGroup& job, std::vector<int> members)
      : job_(job), members_(std::move(members)) {}
  unsigned agree(unsigned own) override {
    const auto common = [](void* y, const void* a, const void* b, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        static_cast<std::int64_t*>(y)[i] =
            static_cast<const std::int64_t*>(a)[i] & static_cast<const std::int64_t*>(b)[i];
      }
    };
    std::int64_t bits = own;
    job_.run(members_, {.dtype = DType::i64,
                        .count = 1,
                        .input = &bits,
                        .output = &bits,
                        .reduction = {"", common}});
    return static_cast<unsigned>(bits);
  }

 private:
  ProcessGroup& job_;
  std::vector<int> members_;
};

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): of this process
}

}  // namespace

std::uint64_t address(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

void put_op(Writer& writer, const OpInstance& op) {
  writer.put(std::string(op.op->name))
      .put(std::string(assay::name(op.format)))
      .put(op.params.text());
}

OpInstance get_op(Reader& reader) {
  const std::string name = reader.text();
  const Op* op = find_op(name);
  if (op == nullptr) throw DeviceError(Failure::internal, "remote: there is no op '" + name + "'");
  const std::string dtype = reader.text();
  const auto format = parse_format(dtype);
  if (!format) throw DeviceError(Failure::internal, "remote: no dtype is called '" + dtype + "'");
  Params params;
  for (const std::string& assignment : split(reader.text(), ',')) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) continue;
    const std::string parameter = assignment.substr(0, equals);
    params.set(parameter, parse_parameter(*op, parameter, assignment.substr(equals + 1)));
  }
  return instantiate(*op, *format, params);
}

Device& Server::device() {
  if (!device_) device_ = served_.backend.open(served_.index);
  return *device_;
}

/// Executes one request: reads its arguments, writes its results.
struct Server::Request {
  Server& server;
  Reader& reader;
  Writer& writer;

  void execute(Command command);

 private:
  template <class T>
  using Objects = std::map<std::uint64_t, std::unique_ptr<T>>;

  template <class T>
  T& at(Objects<T>& objects, std::uint64_t id) const {
    const auto found = objects.find(id);
    if (found == objects.end()) {
      throw DeviceError(Failure::internal, "remote: there is no object " + std::to_string(id));
    }
    return *found->second;
  }
  template <class T>
  std::uint64_t keep(Objects<T>& objects, std::unique_ptr<T> object) {
    objects.emplace(++server.last_id_, std::move(object));
    return server.last_id_;
  }
  Device& device() { return server.device(); }
  std::uint64_t id() { return reader.get<std::uint64_t>(); }
  Binding binding();
  std::string own_uuid(const std::string& uuid);
  void answer_with(std::unique_ptr<Kernel> kernel);

  void describe();
  void condition();
  void process_state();
  void allocate();
  void release() { device().release(pointer(id())); }
  void upload();
  void download();
  void upload_pieces();
  void download_pieces();
  void fill();
  void free_memory() { writer.put(device().free_memory_bytes()); }
  void holder() { writer.put(own_uuid(device().owner_uuid(pointer(id())))); }
  void create_stream();
  void end_stream();
  void synchronize() { at(server.streams_, id()).synchronize(); }
  void flush_caches() { at(server.streams_, id()).flush_caches(); }
  void stream_uuid() { writer.put(own_uuid(at(server.streams_, id()).device_uuid())); }
  void connect();
  void end_communicator() { server.communicators_.erase(id()); }
  void prepare();
  void prepare_collective();
  void launch() { at(server.kernels_, id()).launch(); }
  void launch_and_fill();
  void end_kernel();
  void time_together();
  void time();
  void end_timed_work() { server.timed_.erase(id()); }
  void settle() {}  // the answer brings the error of earlier requests
  void leave() { server.done_ = true; }
};

void Server::Request::execute(Command command) {
  struct Row {
    Command command;
    void (Request::*execute)();
  };
  static constexpr Row rows[] = {
      {Command::describe, &Request::describe},
      {Command::allocate, &Request::allocate},
      {Command::release, &Request::release},
      {Command::upload, &Request::upload},
      {Command::download, &Request::download},
      {Command::upload_pieces, &Request::upload_pieces},
      {Command::download_pieces, &Request::download_pieces},
      {Command::fill, &Request::fill},
      {Command::free_memory, &Request::free_memory},
      {Command::condition, &Request::condition},
      {Command::create_stream, &Request::create_stream},
      {Command::end_stream, &Request::end_stream},
      {Command::synchronize, &Request::synchronize},
      {Command::flush_caches, &Request::flush_caches},
      {Command::prepare, &Request::prepare},
      {Command::connect, &Request::connect},
      {Command::end_communicator, &Request::end_communicator},
      {Command::prepare_collective, &Request::prepare_collective},
      {Command::launch, &Request::launch},
      {Command::launch_and_fill, &Request::launch_and_fill},
      {Command::end_kernel, &Request::end_kernel},
      {Command::time_together, &Request::time_together},
      {Command::time, &Request::time},
      {Command::end_timed_work, &Request::end_timed_work},
      {Command::holder, &Request::holder},
      {Command::stream_uuid, &Request::stream_uuid},
      {Command::settle, &Request::settle},
      {Command::process_state, &Request::process_state},
      {Command::leave, &Request::leave},
  };
  static_assert(std::size(rows) == static_cast<std::size_t>(Command::leave) + 1);
  const auto* const row = std::ranges::find(rows, command, &Row::command);
  if (row == std::end(rows)) {
    throw DeviceError(Failure::internal,
                      "remote: there is no command " + std::to_string(static_cast<int>(command)));
  }
  (this->*row->execute)();
}

Binding Server::Request::binding() {
  Binding binding;
  binding.stream = &at(server.streams_, id());
  for (const auto input : reader.list<std::uint64_t>()) binding.inputs.push_back(pointer(input));
  for (const auto output : reader.list<std::uint64_t>()) {
    binding.outputs.push_back(pointer(output));
  }
  return binding;
}

/// Translates the own device's UUID to the one by which the driving process knows it.
std::string Server::Request::own_uuid(const std::string& uuid) {
  const bool is_own = !uuid.empty() && uuid == device().info().uuid;
  return is_own && !server.served_.uuid.empty() ? server.served_.uuid : uuid;
}

void Server::Request::answer_with(std::unique_ptr<Kernel> kernel) {
  const Kernel& kept = *kernel;
  writer.put(keep(server.kernels_, std::move(kernel)));
  writer.put(kept.implementation()).put(kept.math_mode()).put(kept.wrong_algorithms());
}

void Server::Request::describe() {
  writer.put(device().info().name).put(device().info().stand_in).put(device().is_host());
  writer.put(device().has_fences());
  writer.put(device().tries_odd_addresses());
}

void Server::Request::condition() {
  const DeviceCondition now = device().condition();
  writer.put(now.clock_hz).put(now.temperature_c).put(now.power_w).put(now.throttled);
  writer.put(now.energy_j).put(now.power_capped);
}

void Server::Request::process_state() {
  writer.put(server.state_ ? server.state_->changed().value_or("") : "");
}

void Server::Request::allocate() {
  const auto bytes = reader.get<std::size_t>();
  void* memory = device().allocate(bytes, reader.get<Memory>());
  device().touch(memory, bytes);
  writer.put(address(memory));
}

void Server::Request::upload() {
  void* to = pointer(id());
  device().upload(to, reader.rest().data(), reader.rest().size());
}

void Server::Request::download() {
  const void* from = pointer(id());
  std::vector<std::byte> content(reader.get<std::size_t>());
  device().download(content.data(), from, content.size());
  writer.put(std::span<const std::byte>(content));
}

void Server::Request::upload_pieces() {
  void* to = pointer(id());
  const auto places = reader.list<Place>();
  std::vector<SourcePiece> pieces;
  for (const Place& place : places) pieces.push_back({place.offset, reader.raw(place.bytes)});
  device().upload_pieces(to, pieces);
}

void Server::Request::download_pieces() {
  const void* from = pointer(id());
  const auto places = reader.list<Place>();
  std::size_t bytes = 0;
  for (const Place& place : places) bytes += place.bytes;
  std::vector<std::byte> content(bytes);
  std::vector<Piece> pieces;
  std::span<std::byte> rest(content);
  for (const Place& place : places) {
    pieces.push_back({place.offset, rest.first(place.bytes)});
    rest = rest.subspan(place.bytes);
  }
  device().download_pieces(from, pieces);
  writer.put(std::span<const std::byte>(content));
}

void Server::Request::fill() {
  void* to = pointer(id());
  const auto value = reader.get<std::byte>();
  device().fill(to, value, reader.get<std::size_t>());
}

void Server::Request::create_stream() {
  auto& idle = server.idle_streams_;
  if (idle.empty()) idle.push_back(device().create_stream());
  writer.put(keep(server.streams_, std::move(idle.back())));
  idle.pop_back();
}

/// Keeps a stream that kernels of others were given for the next one who asks: a framework may
/// still have it as its current stream, and work on a stream that is gone is an error, or a crash.
void Server::Request::end_stream() {
  auto ended = server.streams_.extract(id());
  if (ended && server.served_.prepare) server.idle_streams_.push_back(std::move(ended.mapped()));
}

void Server::Request::connect() {
  auto communicator =
      remote::connect(server.job_, server.served_.backend, device(), reader.list<int>());
  const std::string transport = communicator->transport();
  writer.put(keep(server.communicators_, std::move(communicator))).put(transport);
}

void Server::Request::prepare() {
  const OpInstance op = get_op(reader);
  const Binding bound = binding();
  const auto& of_others = server.served_.prepare;
  answer_with(of_others ? of_others(device(), op, bound) : device().prepare(op, bound));
  if (!of_others) return;
  server.state_.emplace(device().is_host() ? ProcessState::Process::of_others
                                           : ProcessState::Process::of_others_on_gpu);
}

void Server::Request::prepare_collective() {
  Communicator& communicator = at(server.communicators_, id());
  const OpInstance op = get_op(reader);
  const Binding bound = binding();
  answer_with(communicator.prepare(op, std::span(&bound, 1)));
}

void Server::Request::launch_and_fill() {
  Kernel& kernel = at(server.kernels_, id());
  Stream& stream = at(server.streams_, id());
  void* const memory = pointer(id());
  const auto value = reader.get<std::byte>();
  device().launch_and_fill(kernel, stream, memory, value, reader.get<std::size_t>());
}

void Server::Request::end_kernel() {
  server.kernels_.erase(id());
  server.error_.reset();  // error of its launches: belongs to no other trial
}

void Server::Request::time_together() {
  auto members = reader.list<int>();
  std::vector<Stream*> streams;
  for (const auto id : reader.list<std::uint64_t>()) streams.push_back(&at(server.streams_, id));
  LaunchSets sets(reader.get<std::size_t>());
  for (auto& kernels : sets) {
    for (const auto id : reader.list<std::uint64_t>()) kernels.push_back(&at(server.kernels_, id));
  }
  std::unique_ptr<Meeting> meeting = std::make_unique<Meeting>();
  if (members.size() > 1) {
    meeting = std::make_unique<RankMeeting>(server.job_, std::move(members));
  }
  writer.put(keep(server.timed_, std::make_unique<HeldWork>(streams, sets, std::move(meeting))));
}

/// An error of earlier work is this rank's answer, but the others wait for it to meet them.
void Server::Request::time() {
  HeldWork& work = at(server.timed_, id());
  if (server.error_) {
    work.decline();
    throw *std::exchange(server.error_, std::nullopt);
  }
  const auto launches = reader.get<std::int64_t>();
  const bool cold = reader.get<bool>();
  const auto seconds = work.time_s(launches, cold, reader.get<std::size_t>());
  writer.put(work.was_graph()).put(work.was_void()).put(work.clock_hz()).put(seconds);
}

std::optional<std::vector<std::byte>> Server::handle(std::span<const std::byte> message) {
  Reader reader(message);
  const auto command = reader.get<Command>();
  Writer results;
  try {
    // Others wait for this rank when they time work together.
    const bool is_awaited = command == Command::time;
    if (error_ && wants_answer(command) && !is_awaited) {
      throw *std::exchange(error_, std::nullopt);
    }
    Request{*this, reader, results}.execute(command);
  } catch (const DeviceError& error) {
    if (!error_) error_ = error;
  } catch (const std::bad_alloc&) {
    if (!error_) error_.emplace(Failure::out_of_memory, "no host memory");
  } catch (const std::exception& error) {
    if (!error_) error_.emplace(Failure::internal, error.what());
  }
  if (!wants_answer(command)) return std::nullopt;
  Writer answer;
  answer.put(error_.has_value());
  if (error_) {
    const std::string begin = served_.name.empty() ? "" : served_.name + ": ";
    answer.put(error_->failure()).put(begin + error_->what());
    error_.reset();
  } else {
    answer.put(results.bytes());
  }
  return std::vector<std::byte>(answer.bytes().begin(), answer.bytes().end());
}

void serve(ProcessGroup& job, Served served) {
  Server server(job, std::move(served));
  while (!server.is_done()) {
    if (const auto answer = server.handle(job.receive(0))) job.send(0, *answer);
  }
}

}  // namespace assay::remote
