// The functions of libnccl that the backend opens. NCCL_DEBUG, a variable of the real library,
// prints why a call was refused.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "emulator/libraries/live_objects.h"
#include "emulator/libraries/nccl/communicator.h"
#include "emulator/libraries/nccl/group.h"
#include "emulator/runtime/work.h"

namespace emulator::nccl {
namespace {

Result refused(Result result, const char* call, const std::string& reason) {
  const char* debug = std::getenv("NCCL_DEBUG");
  if (debug != nullptr && *debug != '\0') {
    std::fprintf(stderr, "NCCL WARN %s: %s\n", call, reason.c_str());
  }
  return failed(result);
}

/// Traces as the real library does with NCCL_DEBUG=INFO.
void trace(const std::string& what) {
  const char* debug = std::getenv("NCCL_DEBUG");
  if (debug != nullptr && std::string_view(debug) == "INFO") say("NCCL INFO " + what);
}

LiveObjects<Communicator>& communicators() { return LiveObjects<Communicator>::all(); }

/// A communicator that joins its board when the group ends; `handle` is set then.
Result join(std::shared_ptr<Board> board, std::size_t rank, int device, void** handle,
            const char* call) {
  auto c = std::make_shared<Communicator>();
  static std::atomic<int> made{0};
  c->board = std::move(board);
  c->rank = rank;
  c->device = device;
  c->gpu = gpu_of(device);
  c->first_reduction = operation_count + 4096 * (made++ % 1024);
  *handle = nullptr;
  const auto begin = [c, call] {
    return c->board->join(c->rank, c->gpu)
               ? success
               : refused(invalid_usage, call, "two callers have the same rank");
  };
  const auto finish = [c, handle, call] {
    // As the real library: without a time limit.
    while (!c->board->have_all_joined()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    c->board->forget_names();
    if (c->board->has_duplicate_gpu()) {
      return refused(invalid_usage, call, "two ranks have the same GPU");
    }
    *handle = communicators().add(c);
    trace(std::string(call) + " rank " + std::to_string(c->rank) + " nranks " +
          std::to_string(c->board->ranks()) + " - Init COMPLETE");
    return success;
  };
  return defer({begin, finish});
}

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

/// Distance of the output from the input in place (NCCL's user guide, "In-place operations").
std::intptr_t distance_in_place(const Call& call) {
  const auto own = static_cast<std::intptr_t>(call.communicator->rank * call.chunk_bytes());
  if (call.kind == Kind::reduce_scatter) return own;
  return call.kind == Kind::all_gather ? -own : 0;
}

bool overlap_wrongly(const Call& call) {
  if (call.input == 0 || call.output == 0) return false;
  const bool are_apart = call.input + call.input_bytes() <= call.output ||
                         call.output + call.output_bytes() <= call.input;
  return !are_apart &&
         static_cast<std::intptr_t>(call.output - call.input) != distance_in_place(call);
}

/// Arguments of a call as the program gives them.
struct Arguments {
  const char* name;
  Kind kind;
  const void* input;
  void* output;
  std::size_t count;
  int type;
  void* handle;
  cudaStream_t stream;
  std::optional<int> operation = std::nullopt;
  std::optional<int> root = std::nullopt;
  std::optional<int> peer = std::nullopt;
};

Result submit(const Arguments& a) {
  const auto refuse = [&](Result result, const char* why) { return refused(result, a.name, why); };
  const auto c = communicators().find(a.handle);
  if (c == nullptr) return refuse(invalid_argument, "not a communicator");
  if (a.type < 0 || a.type >= type_count) return refuse(invalid_argument, "no such type");
  Call call{.name = a.name,
            .communicator = c,
            .kind = a.kind,
            .input = address(a.input),
            .output = address(a.output),
            .count = a.count,
            .type = static_cast<Type>(a.type),
            .thread = this_thread(),
            .group = this_group()};
  if (a.operation) {
    const auto reduction = reduction_of(*c, *a.operation);
    if (!reduction) return refuse(invalid_argument, "no such reduction");
    if (reduction->created && reduction->created->type != a.type) {
      return refuse(invalid_argument, "the reduction was created for another type");
    }
    call.reduction = *reduction;
  }
  const auto ranks = static_cast<int>(call.ranks());
  if (a.root && (*a.root < 0 || *a.root >= ranks)) return refuse(invalid_argument, "no such root");
  if (a.peer && (*a.peer < 0 || *a.peer >= ranks)) return refuse(invalid_argument, "no such peer");
  call.root = static_cast<std::size_t>(a.root.value_or(0));
  call.peer = static_cast<std::size_t>(a.peer.value_or(0));
  if (a.count == 0) return success;
  const bool is_root = c->rank == call.root;
  if (a.kind == Kind::broadcast && !is_root) call.input = 0;
  if (a.kind == Kind::reduce && !is_root) call.output = 0;
  const bool needs_input = a.kind == Kind::broadcast ? is_root : a.kind != Kind::message;
  const bool needs_output = a.kind == Kind::reduce ? is_root : a.kind != Kind::message;
  if ((needs_input && call.input == 0) || (needs_output && call.output == 0) ||
      (call.input == 0 && call.output == 0)) {
    return refuse(invalid_argument, "null");
  }
  if (overlap_wrongly(call)) return refuse(invalid_argument, "the buffers overlap");
  int of_stream = 0;
  if (emulator::device_of(a.stream, &of_stream) != cudaSuccess || of_stream != c->device) {
    return refuse(unhandled_cuda_error, "the stream is another device's");
  }
  const auto launch = [call, stream = a.stream] {
    return enqueue(call, stream) == cudaSuccess
               ? success
               : refused(unhandled_cuda_error, call.name, "the launch failed");
  };
  // All sends of a group leave before one of its receptions waits: they go on at the same time.
  const bool receives = a.kind == Kind::message && call.input == 0;
  if (receives) return defer({.begin = nullptr, .finish = launch});
  return defer({.begin = launch, .finish = nullptr});
}

}  // namespace
}  // namespace emulator::nccl

using namespace emulator::nccl;
using emulator::nccl::failed;

extern "C" {

Result ncclGetVersion(int* to) {
  if (to == nullptr) return invalid_argument;
  *to = version;
  return success;
}

const char* ncclGetErrorString(Result result) {
  switch (result) {
    case success:
      return "no error";
    case unhandled_cuda_error:
      return "unhandled cuda error";
    case system_error:
      return "unhandled system error";
    case internal_error:
      return "internal error";
    case invalid_argument:
      return "invalid argument";
    case invalid_usage:
      return "invalid usage";
    case remote_error:
      return "remote process exited or there was a network error";
    case in_progress:
      return "NCCL operation in progress";
  }
  return "unknown result code";
}

Result ncclGroupStart() {
  start_group();
  return success;
}

Result ncclGroupEnd() { return end_group(); }

Result ncclGetUniqueId(UniqueId* id) {
  if (id == nullptr) return refused(invalid_argument, "ncclGetUniqueId", "null");
  *id = new_unique_id();
  return success;
}

Result ncclCommInitAll(void** to, int count, const int* devices) {
  constexpr const char* call = "ncclCommInitAll";
  if (to == nullptr || count < 1) return refused(invalid_argument, call, "null, or no ranks");
  int existing = 0;
  if (cudaGetDeviceCount(&existing) != cudaSuccess) {
    return refused(unhandled_cuda_error, call, "there are no devices");
  }
  std::set<int> seen;
  for (int rank = 0; rank < count; ++rank) {
    const int device = devices == nullptr ? rank : devices[rank];
    if (device < 0 || device >= existing) {
      return refused(unhandled_cuda_error, call, "no such device");
    }
    if (!seen.insert(device).second) return refused(invalid_usage, call, "a device twice");
  }
  const auto board = new_local_board(static_cast<std::size_t>(count));
  start_group();
  for (int rank = 0; rank < count; ++rank) {
    join(board, static_cast<std::size_t>(rank), devices == nullptr ? rank : devices[rank],
         to + rank, call);
  }
  return end_group();
}

Result ncclCommInitRank(void** to, int ranks, UniqueId id, int rank) {
  constexpr const char* call = "ncclCommInitRank";
  if (to == nullptr || ranks < 1 || rank < 0 || rank >= ranks) {
    return refused(invalid_argument, call, "null, or no such rank");
  }
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    return refused(unhandled_cuda_error, call, "there is no device");
  }
  try {
    const auto board = shared_board(id, static_cast<std::size_t>(ranks));
    if (board == nullptr) {
      return refused(invalid_argument, call, "no such id, or not with so many ranks");
    }
    return join(board, static_cast<std::size_t>(rank), device, to, call);
  } catch (const std::runtime_error& error) {
    return refused(system_error, call, error.what());
  }
}

Result ncclCommAbort(void* handle) {
  if (handle == nullptr) return success;
  const auto c = communicators().find(handle);
  if (c == nullptr) return refused(invalid_argument, "ncclCommAbort", "not a communicator");
  c->is_aborted = true;
  communicators().remove(handle);
  trace("ncclCommAbort rank " + std::to_string(c->rank) + " nranks " +
        std::to_string(c->board->ranks()) + " - Abort COMPLETE");
  return success;
}

Result ncclCommGetAsyncError(void* handle, Result* error) {
  const auto c = communicators().find(handle);
  if (error == nullptr || c == nullptr) {
    return refused(invalid_argument, "ncclCommGetAsyncError", "null, or not a communicator");
  }
  *error = c->async_error;  // a hanging collective is no error, on one host
  return success;
}

Result ncclRedOpCreatePreMulSum(int* operation, void* scalar, int type, int residence,
                                void* handle) {
  constexpr const char* call = "ncclRedOpCreatePreMulSum";
  const auto c = communicators().find(handle);
  if (operation == nullptr || scalar == nullptr || c == nullptr || type < 0 || type >= type_count) {
    return refused(invalid_argument, call, "null, no such type, or not a communicator");
  }
  CreatedReduction created{.type = static_cast<Type>(type), .scalar = {}, .address = 0};
  if (residence == host_immediate) {
    std::memcpy(created.scalar.data(), scalar, size_bytes(created.type));
  } else if (residence == device) {
    created.address = reinterpret_cast<std::uintptr_t>(scalar);
  } else {
    return refused(invalid_argument, call, "no such residence");
  }
  const std::lock_guard lock(c->mutex);
  *operation = c->first_reduction + static_cast<int>(c->reductions.size());
  c->reductions.emplace_back(created);
  return success;
}

Result ncclRedOpDestroy(int operation, void* handle) {
  constexpr const char* call = "ncclRedOpDestroy";
  const auto c = communicators().find(handle);
  if (c == nullptr) return refused(invalid_argument, call, "not a communicator");
  if (operation >= 0 && operation < operation_count) {
    return refused(invalid_argument, call, "a reduction that nobody created");
  }
  if (!reduction_of(*c, operation)) {
    return refused(invalid_argument, call, "not a reduction of this communicator");
  }
  const std::lock_guard lock(c->mutex);
  c->reductions[static_cast<std::size_t>(operation - c->first_reduction)].reset();
  return success;
}

Result ncclAllReduce(const void* input, void* output, size_t count, int type, int operation,
                     void* handle, cudaStream_t stream) {
  return submit({.name = "ncclAllReduce",
                 .kind = Kind::all_reduce,
                 .input = input,
                 .output = output,
                 .count = count,
                 .type = type,
                 .handle = handle,
                 .stream = stream,
                 .operation = operation});
}

Result ncclReduce(const void* input, void* output, size_t count, int type, int operation, int root,
                  void* handle, cudaStream_t stream) {
  return submit({.name = "ncclReduce",
                 .kind = Kind::reduce,
                 .input = input,
                 .output = output,
                 .count = count,
                 .type = type,
                 .handle = handle,
                 .stream = stream,
                 .operation = operation,
                 .root = root});
}

Result ncclReduceScatter(const void* input, void* output, size_t chunk, int type, int operation,
                         void* handle, cudaStream_t stream) {
  return submit({.name = "ncclReduceScatter",
                 .kind = Kind::reduce_scatter,
                 .input = input,
                 .output = output,
                 .count = chunk,
                 .type = type,
                 .handle = handle,
                 .stream = stream,
                 .operation = operation});
}

Result ncclAllGather(const void* input, void* output, size_t chunk, int type, void* handle,
                     cudaStream_t stream) {
  return submit({.name = "ncclAllGather",
                 .kind = Kind::all_gather,
                 .input = input,
                 .output = output,
                 .count = chunk,
                 .type = type,
                 .handle = handle,
                 .stream = stream});
}

Result ncclBroadcast(const void* input, void* output, size_t count, int type, int root,
                     void* handle, cudaStream_t stream) {
  return submit({.name = "ncclBroadcast",
                 .kind = Kind::broadcast,
                 .input = input,
                 .output = output,
                 .count = count,
                 .type = type,
                 .handle = handle,
                 .stream = stream,
                 .root = root});
}

Result ncclSend(const void* input, size_t count, int type, int to, void* handle,
                cudaStream_t stream) {
  return submit({.name = "ncclSend",
                 .kind = Kind::message,
                 .input = input,
                 .output = nullptr,
                 .count = count,
                 .type = type,
                 .handle = handle,
                 .stream = stream,
                 .peer = to});
}

Result ncclRecv(void* output, size_t count, int type, int from, void* handle, cudaStream_t stream) {
  return submit({.name = "ncclRecv",
                 .kind = Kind::message,
                 .input = nullptr,
                 .output = output,
                 .count = count,
                 .type = type,
                 .handle = handle,
                 .stream = stream,
                 .peer = from});
}

}  // extern "C"
