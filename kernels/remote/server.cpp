#include "kernels/remote/server.h"

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
  writer.put(std::string(op.op->name)).put(op.format).put(op.params.text());
}

OpInstance get_op(Reader& reader) {
  const std::string name = reader.text();
  const Op* op = find_op(name);
  if (op == nullptr) throw DeviceError(Failure::internal, "remote: there is no op '" + name + "'");
  const auto format = reader.get<Format>();
  Params params;
  for (const std::string& assignment : split(reader.text(), ',')) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) continue;
    const std::string parameter = assignment.substr(0, equals);
    params.set(parameter, parse_parameter(*op, parameter, assignment.substr(equals + 1)));
  }
  return instantiate(*op, format, params);
}

Device& Server::device() {
  if (!device_) device_ = served_.backend.open(served_.index);
  return *device_;
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
    answer(command, reader, results);
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

template <class T>
T& Server::at(std::map<std::uint64_t, std::unique_ptr<T>>& objects, std::uint64_t id) const {
  const auto found = objects.find(id);
  if (found == objects.end()) {
    throw DeviceError(Failure::internal, "remote: there is no object " + std::to_string(id));
  }
  return *found->second;
}

Binding Server::read_binding(Reader& reader) {
  Binding binding;
  binding.stream = &at(streams_, reader.get<std::uint64_t>());
  for (const auto input : reader.list<std::uint64_t>()) binding.inputs.push_back(pointer(input));
  for (const auto output : reader.list<std::uint64_t>()) {
    binding.outputs.push_back(pointer(output));
  }
  return binding;
}

/// Translates the own device's UUID to the one by which the driving process knows it.
std::string Server::own_uuid(const std::string& uuid) {
  const bool is_own = !uuid.empty() && uuid == device().info().uuid;
  return is_own && !served_.uuid.empty() ? served_.uuid : uuid;
}

std::uint64_t Server::create_stream() {
  if (idle_streams_.empty()) idle_streams_.push_back(device().create_stream());
  streams_.emplace(++last_id_, std::move(idle_streams_.back()));
  idle_streams_.pop_back();
  return last_id_;
}

/// Keeps a stream that kernels of others were given for the next one who asks: a framework may
/// still have it as its current stream, and work on a stream that is gone is an error, or a crash.
void Server::end_stream(std::uint64_t id) {
  auto ended = streams_.extract(id);
  if (ended && served_.prepare) idle_streams_.push_back(std::move(ended.mapped()));
}

void Server::prepare(Reader& reader, Writer& writer) {
  const OpInstance op = get_op(reader);
  const Binding binding = read_binding(reader);
  auto kernel =
      served_.prepare ? served_.prepare(device(), op, binding) : device().prepare(op, binding);
  writer.put(++last_id_).put(kernel->implementation()).put(kernel->math_mode());
  writer.put(kernel->wrong_algorithms());
  kernels_.emplace(last_id_, std::move(kernel));
  if (!served_.prepare) return;
  state_.emplace(device().is_host() ? ProcessState::Process::of_others
                                    : ProcessState::Process::of_others_on_gpu);
}

void Server::prepare_collective(Reader& reader, Writer& writer) {
  Communicator& communicator = at(communicators_, reader.get<std::uint64_t>());
  const OpInstance op = get_op(reader);
  const Binding binding = read_binding(reader);
  auto kernel = communicator.prepare(op, std::span(&binding, 1));
  writer.put(++last_id_).put(kernel->implementation()).put(kernel->math_mode());
  writer.put(kernel->wrong_algorithms());
  kernels_.emplace(last_id_, std::move(kernel));
}

void Server::launch_and_fill(Reader& reader) {
  Kernel& kernel = at(kernels_, reader.get<std::uint64_t>());
  Stream& stream = at(streams_, reader.get<std::uint64_t>());
  void* const memory = pointer(reader.get<std::uint64_t>());
  const auto value = reader.get<std::byte>();
  device().launch_and_fill(kernel, stream, memory, value, reader.get<std::size_t>());
}

void Server::time_together(Reader& reader, Writer& writer) {
  auto members = reader.list<int>();
  std::vector<Stream*> streams;
  for (const auto id : reader.list<std::uint64_t>()) streams.push_back(&at(streams_, id));
  LaunchSets sets(reader.get<std::size_t>());
  for (auto& kernels : sets) {
    for (const auto id : reader.list<std::uint64_t>()) kernels.push_back(&at(kernels_, id));
  }
  std::unique_ptr<Meeting> meeting = std::make_unique<Meeting>();
  if (members.size() > 1) meeting = std::make_unique<RankMeeting>(job_, std::move(members));
  timed_.emplace(++last_id_, std::make_unique<HeldWork>(streams, sets, std::move(meeting)));
  writer.put(last_id_);
}

/// An error of earlier work is this rank's answer, but the others wait for it to meet them.
void Server::time(Reader& reader, Writer& writer) {
  HeldWork& work = at(timed_, reader.get<std::uint64_t>());
  if (error_) {
    work.decline();
    throw *std::exchange(error_, std::nullopt);
  }
  const auto launches = reader.get<std::int64_t>();
  const bool cold = reader.get<bool>();
  const auto seconds = work.time_s(launches, cold, reader.get<std::size_t>());
  writer.put(work.was_graph()).put(seconds);
}

void Server::answer(Command command, Reader& reader, Writer& writer) {
  const auto id = [&] { return reader.get<std::uint64_t>(); };
  switch (command) {
    case Command::describe:
      writer.put(device().info().name).put(device().info().stand_in).put(device().is_host());
      writer.put(device().has_fences());
      writer.put(device().tries_odd_addresses());
      break;
    case Command::allocate: {
      const auto bytes = reader.get<std::size_t>();
      void* memory = device().allocate(bytes, reader.get<Memory>());
      device().touch(memory, bytes);
      writer.put(address(memory));
      break;
    }
    case Command::release:
      device().release(pointer(id()));
      break;
    case Command::upload: {
      void* to = pointer(id());
      device().upload(to, reader.rest().data(), reader.rest().size());
      break;
    }
    case Command::download: {
      const void* from = pointer(id());
      std::vector<std::byte> content(reader.get<std::size_t>());
      device().download(content.data(), from, content.size());
      writer.put(std::span<const std::byte>(content));
      break;
    }
    case Command::fill: {
      void* to = pointer(id());
      const auto value = reader.get<std::byte>();
      device().fill(to, value, reader.get<std::size_t>());
      break;
    }
    case Command::free_memory:
      writer.put(device().free_memory_bytes());
      break;
    case Command::create_stream:
      writer.put(create_stream());
      break;
    case Command::end_stream:
      end_stream(id());
      break;
    case Command::condition: {
      const DeviceCondition now = device().condition();
      writer.put(now.clock_hz).put(now.temperature_c).put(now.power_w).put(now.throttled);
      writer.put(now.energy_j);
      break;
    }
    case Command::synchronize:
      at(streams_, id()).synchronize();
      break;
    case Command::flush_caches:
      at(streams_, id()).flush_caches();
      break;
    case Command::prepare:
      prepare(reader, writer);
      break;
    case Command::connect:
      communicators_.emplace(++last_id_,
                             connect(job_, served_.backend, device(), reader.list<int>()));
      writer.put(last_id_).put(communicators_.at(last_id_)->transport());
      break;
    case Command::end_communicator:
      communicators_.erase(id());
      break;
    case Command::prepare_collective:
      prepare_collective(reader, writer);
      break;
    case Command::launch:
      at(kernels_, id()).launch();
      break;
    case Command::launch_and_fill:
      launch_and_fill(reader);
      break;
    case Command::time_together:
      time_together(reader, writer);
      break;
    case Command::time:
      time(reader, writer);
      break;
    case Command::end_timed_work:
      timed_.erase(id());
      break;
    case Command::end_kernel:
      kernels_.erase(id());
      error_.reset();  // error of its launches: belongs to no other trial
      break;
    case Command::holder: {
      const void* memory = pointer(id());
      writer.put(own_uuid(device().owner_uuid(memory)));
      break;
    }
    case Command::stream_uuid:
      writer.put(own_uuid(at(streams_, id()).device_uuid()));
      break;
    case Command::settle:
      break;
    case Command::process_state:
      writer.put(state_ ? state_->changed().value_or("") : "");
      break;
    case Command::leave:
      done_ = true;
      break;
  }
}

void serve(ProcessGroup& job, Served served) {
  Server server(job, std::move(served));
  while (!server.is_done()) {
    if (const auto answer = server.handle(job.receive(0))) job.send(0, *answer);
  }
}

}  // namespace assay::remote
