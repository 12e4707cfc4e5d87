// The functions of libnccl that the backend opens. NCCL_DEBUG, a variable of the real library,
// prints why a call was refused.

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "tests/cuda_emulator/libraries/live_objects.h"
#include "tests/cuda_emulator/libraries/nccl/communicator.h"
#include "tests/cuda_emulator/libraries/nccl/group.h"
#include "tests/cuda_emulator/runtime/work.h"

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

Result enqueued(cudaError_t error) {
  return error == cudaSuccess ? success
                              : refused(unhandled_cuda_error, "ncclAllReduce", "the launch failed");
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
  if (error == nullptr || communicators().find(handle) == nullptr) {
    return refused(invalid_argument, "ncclCommGetAsyncError", "null, or not a communicator");
  }
  *error = success;  // a hanging collective is no error, on one host
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
  constexpr const char* call = "ncclAllReduce";
  const auto c = communicators().find(handle);
  if (c == nullptr) return refused(invalid_argument, call, "not a communicator");
  if (type < 0 || type >= type_count) return refused(invalid_argument, call, "no such type");
  const auto reduction = reduction_of(*c, operation);
  if (!reduction) return refused(invalid_argument, call, "no such reduction");
  if (reduction->created && reduction->created->type != type) {
    return refused(invalid_argument, call, "the reduction was created for another type");
  }
  if (count == 0) return success;
  if (input == nullptr || output == nullptr) return refused(invalid_argument, call, "null");
  const auto address = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
  const std::size_t bytes = count * size_bytes(static_cast<Type>(type));
  const std::uintptr_t apart = address(input) > address(output) ? address(input) - address(output)
                                                                : address(output) - address(input);
  // In place means the same buffer (NCCL's user guide, "In-place operations").
  if (apart != 0 && apart < bytes) return refused(invalid_argument, call, "the buffers overlap");
  int of_stream = 0;
  if (emulator::device_of(stream, &of_stream) != cudaSuccess || of_stream != c->device) {
    return refused(unhandled_cuda_error, call, "the stream is another device's");
  }
  const AllReduce collective{.communicator = c,
                             .input = address(input),
                             .output = address(output),
                             .count = count,
                             .type = static_cast<Type>(type),
                             .reduction = *reduction,
                             .thread = this_thread(),
                             .group = this_group()};
  const auto launch = [collective, stream] { return enqueued(enqueue(collective, stream)); };
  return defer({.begin = launch, .finish = nullptr});
}

}  // extern "C"
