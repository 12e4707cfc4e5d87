#include "kernels/ranks/server.h"

#include <new>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/ops/op.h"
#include "kernels/ranks/collective.h"

namespace assay::ranks {
namespace {

/// Returns true for commands with an answer. Errors of others come with the next answer.
bool wants_answer(Command command) {
  switch (command) {
    case Command::release:
    case Command::upload:
    case Command::fill:
    case Command::end_stream:
    case Command::end_event:
    case Command::flush_caches:
    case Command::launch:
    case Command::launch_between:
    case Command::end_kernel:
    case Command::end_communicator:
    case Command::leave:
      return false;
    default:
      return true;
  }
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): of this process
}

}  // namespace

std::uint64_t address(const void* memory) { return reinterpret_cast<std::uint64_t>(memory); }

void put_op(Writer& writer, const OpInstance& op) {
  writer.put(std::string(op.op->name)).put(op.dtype).put(op.params.text());
}

OpInstance get_op(Reader& reader) {
  const std::string name = reader.text();
  const Op* op = find_op(name);
  if (op == nullptr) throw DeviceError(Failure::internal, "remote: there is no op '" + name + "'");
  const auto dtype = reader.get<DType>();
  Params params;
  for (const std::string& assignment : split(reader.text(), ',')) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) continue;
    const std::string parameter = assignment.substr(0, equals);
    params.set(parameter, parse_parameter(*op, parameter, assignment.substr(equals + 1)));
  }
  return instantiate(*op, dtype, params);
}

Device& Server::device() {
  if (!device_) device_ = backend_.open(device_index_);
  return *device_;
}

std::optional<std::vector<std::byte>> Server::handle(std::span<const std::byte> message) {
  Reader reader(message);
  const auto command = reader.get<Command>();
  Writer results;
  try {
    if (error_ && wants_answer(command)) throw *std::exchange(error_, std::nullopt);
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
    answer.put(error_->failure())
        .put("rank " + std::to_string(job_.rank()) + ": " + error_->what());
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

/// Translates the own device's UUID: rank 0 knows the device by its rank.
std::string Server::own_uuid(const std::string& uuid) {
  const bool is_own = !uuid.empty() && uuid == device().info().uuid;
  return is_own ? "RANK-" + std::to_string(job_.rank()) : uuid;
}

void Server::prepare(Reader& reader, Writer& writer) {
  const OpInstance op = get_op(reader);
  auto kernel = device().prepare(op, read_binding(reader));
  writer.put(++last_id_).put(kernel->implementation()).put(kernel->math_mode());
  kernels_.emplace(last_id_, std::move(kernel));
}

void Server::prepare_collective(Reader& reader, Writer& writer) {
  Communicator& communicator = at(communicators_, reader.get<std::uint64_t>());
  const OpInstance op = get_op(reader);
  const Binding binding = read_binding(reader);
  auto kernel = communicator.prepare(op, std::span(&binding, 1));
  writer.put(++last_id_).put(kernel->implementation()).put(kernel->math_mode());
  kernels_.emplace(last_id_, std::move(kernel));
}

void Server::launch_between(Reader& reader) {
  const auto members = reader.list<int>();
  // Barrier: message order and longer sleep must not count in anybody's time.
  if (members.size() > 1) job_.barrier(members);
  Stream& stream = at(streams_, reader.get<std::uint64_t>());
  Event& start = at(events_, reader.get<std::uint64_t>());
  const Interval interval{&stream, &start, &at(events_, reader.get<std::uint64_t>())};
  Kernel& kernel = at(kernels_, reader.get<std::uint64_t>());
  kernel.launch_between(std::span(&interval, 1), reader.get<std::int64_t>());
}

void Server::answer(Command command, Reader& reader, Writer& writer) {
  const auto id = [&] { return reader.get<std::uint64_t>(); };
  switch (command) {
    case Command::describe:
      writer.put(device().info().name).put(device().info().stand_in).put(device().is_host());
      break;
    case Command::allocate: {
      const auto bytes = reader.get<std::size_t>();
      writer.put(address(device().allocate(bytes, reader.get<Memory>())));
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
      streams_.emplace(++last_id_, device().create_stream());
      writer.put(last_id_);
      break;
    case Command::end_stream:
      streams_.erase(id());
      break;
    case Command::create_event: {
      auto event = at(streams_, id()).create_event();
      events_.emplace(++last_id_, std::move(event));
      writer.put(last_id_);
      break;
    }
    case Command::end_event:
      events_.erase(id());
      break;
    case Command::record: {
      Stream& stream = at(streams_, id());
      stream.record(at(events_, id()));
      break;
    }
    case Command::elapsed: {
      Stream& stream = at(streams_, id());
      const Event& start = at(events_, id());
      writer.put(stream.elapsed_s(start, at(events_, id())));
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
      communicators_.emplace(++last_id_, connect(job_, backend_, device(), reader.list<int>()));
      writer.put(last_id_).put(communicators_.at(last_id_)->transport());
      break;
    case Command::end_communicator:
      communicators_.erase(id());
      break;
    case Command::prepare_collective:
      prepare_collective(reader, writer);
      break;
    case Command::launch: {
      Kernel& kernel = at(kernels_, id());
      kernel.launch_times(reader.get<std::int64_t>());
      break;
    }
    case Command::launch_between:
      launch_between(reader);
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
    case Command::leave:
      done_ = true;
      break;
  }
}

void serve(ProcessGroup& job, Backend& backend, int device_index) {
  Server server(job, backend, device_index);
  while (!server.is_done()) {
    if (const auto answer = server.handle(job.receive(0))) job.send(0, *answer);
  }
}

}  // namespace assay::ranks
