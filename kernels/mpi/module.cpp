#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/core/version.h"
#include "kernels/device/launcher.h"

// The only file that uses MPI: a module, so that the program does not depend on MPI.
namespace assay {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw DeviceError(Failure::internal, std::string(call) + ": " + text);
}

/// Size of the parts of a message: MPI counts bytes in an int.
constexpr std::size_t part_bytes = std::size_t{1} << 30;
constexpr int message_tag = 1;
constexpr int group_tag = 2;

MPI_Datatype datatype(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return MPI_FLOAT;
    case DType::f64:
      return MPI_DOUBLE;
    case DType::i32:
      return MPI_INT32_T;
    case DType::i64:
      return MPI_INT64_T;
    default:
      return size_bytes(dtype) == 2 ? MPI_UINT16_T : MPI_UINT8_T;
  }
}

/// Operation that our reduction runs now: MPI passes no context to it.
void (*combine_now)(void*, const void*, const void*, std::size_t) = nullptr;

void combine(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  combine_now(inout, in, inout, static_cast<std::size_t>(*count));
}

/// Waits for `arrived` to be true. First spins, as MPI itself does, then yields, then sleeps.
/// Yielding at once would hurt on a busy machine: in each sample other processes would have filled
/// the caches.
template <class Arrived>
void wait_until(const Arrived& arrived) {
  using namespace std::chrono;
  constexpr auto alone = microseconds(50);
  constexpr auto awake = milliseconds(2);
  constexpr auto longest = microseconds(500);
  const auto begin = steady_clock::now();
  auto nap = microseconds(0);
  while (!arrived()) {
    const auto waited = steady_clock::now() - begin;
    if (waited < alone) continue;
    if (waited < awake) {
      std::this_thread::yield();
      continue;
    }
    nap = std::min(nap + microseconds(20), longest);
    std::this_thread::sleep_for(nap);
  }
}

/// Finds a group without copying its members: reductions of few bytes take less than a microsecond.
struct ByMembers {
  using is_transparent = void;
  bool operator()(std::span<const int> a, std::span<const int> b) const {
    return std::ranges::lexicographical_compare(a, b);
  }
};

class MpiProcessGroup final : public ProcessGroup {
 public:
  MpiProcessGroup() {
    int provided = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_SERIALIZED) {
      throw DeviceError(Failure::unsupported, library() + " serves one thread alone");
    }
    // Separates our messages from reductions. Errors are returned instead of ending all processes.
    check(MPI_Comm_dup(MPI_COMM_WORLD, &messages_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(messages_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(messages_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(messages_, &size_), "MPI_Comm_size");
    check(MPI_Op_create(combine, 1, &combine_), "MPI_Op_create");
  }
  ~MpiProcessGroup() override {
    MPI_Op_free(&combine_);
    for (auto& [members, communicator] : groups_) MPI_Comm_free(&communicator);
    MPI_Comm_free(&messages_);
    MPI_Finalize();
  }
  MpiProcessGroup(const MpiProcessGroup&) = delete;
  MpiProcessGroup& operator=(const MpiProcessGroup&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    // "Open MPI v4.1.4, package: ...", "MPICH Version: 4.0.2\n..."
    const std::string version(text);
    return version.substr(0, version.find_first_of(",\n"));
  }

  std::string transport() const override { return "mpi"; }

  void send(int to, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    const auto size = static_cast<unsigned long long>(bytes.size());
    check(MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, to, message_tag, messages_), "MPI_Send");
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
      const auto part = static_cast<int>(std::min(part_bytes, bytes.size() - at));
      check(MPI_Send(bytes.data() + at, part, MPI_BYTE, to, message_tag, messages_), "MPI_Send");
    }
  }

  std::vector<std::byte> receive(int from) override {
    wait_until([&] {
      const std::lock_guard probing(mutex_);
      int arrived = 0;
      check(MPI_Iprobe(from, message_tag, messages_, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
      return arrived != 0;
    });
    const std::lock_guard lock(mutex_);
    unsigned long long size = 0;
    check(
        MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, from, message_tag, messages_, MPI_STATUS_IGNORE),
        "MPI_Recv");
    std::vector<std::byte> bytes(size);
    for (std::size_t at = 0; at < bytes.size(); at += part_bytes) {
      const auto part = static_cast<int>(std::min(part_bytes, bytes.size() - at));
      check(MPI_Recv(bytes.data() + at, part, MPI_BYTE, from, message_tag, messages_,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
    return bytes;
  }

  void broadcast(std::span<const int> members, std::span<std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    if (bytes.size() > INT_MAX) throw DeviceError(Failure::unsupported, "a broadcast too large");
    check(MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, group(members)),
          "MPI_Bcast");
  }

  void run(std::span<const int> members, const CollectiveCall& call) override {
    if (call.count > INT_MAX) {
      throw DeviceError(Failure::unsupported, "MPI counts no more elements than an int can");
    }
    const std::lock_guard lock(mutex_);
    MPI_Op operation = combine_;
    if (call.reduction.native == "sum") operation = MPI_SUM;
    if (call.reduction.native == "prod") operation = MPI_PROD;
    combine_now = call.reduction.combine;
    run(call, operation, group(members));
  }

 private:
  static void run(const CollectiveCall& call, MPI_Op operation, MPI_Comm ranks) {
    const auto count = static_cast<int>(call.count);
    const MPI_Datatype type = datatype(call.dtype);
    const bool is_in_place = call.input == call.output;
    const void* const input = is_in_place ? MPI_IN_PLACE : call.input;
    switch (call.collective) {
      case Collective::allreduce:
        return check(MPI_Allreduce(input, call.output, count, type, operation, ranks),
                     "MPI_Allreduce");
      case Collective::reduce: {
        int rank = 0;
        check(MPI_Comm_rank(ranks, &rank), "MPI_Comm_rank");
        // In place is a matter of the root; the others only send.
        return check(MPI_Reduce(rank == call.root ? input : call.input, call.output, count, type,
                                operation, call.root, ranks),
                     "MPI_Reduce");
      }
      case Collective::reduce_scatter:
        return check(MPI_Reduce_scatter_block(input, call.output, count, type, operation, ranks),
                     "MPI_Reduce_scatter_block");
      case Collective::all_gather:
        return check(MPI_Allgather(input, count, type, call.output, count, type, ranks),
                     "MPI_Allgather");
      case Collective::broadcast:
        return broadcast(call, count, type, ranks);
      case Collective::all_to_all:
        return check(MPI_Alltoall(input, count, type, call.output, count, type, ranks),
                     "MPI_Alltoall");
      case Collective::send_recv: {
        const int to = call.peers.to < 0 ? MPI_PROC_NULL : call.peers.to;
        const int from = call.peers.from < 0 ? MPI_PROC_NULL : call.peers.from;
        return check(MPI_Sendrecv(call.input, count, type, to, message_tag, call.output, count,
                                  type, from, message_tag, ranks, MPI_STATUS_IGNORE),
                     "MPI_Sendrecv");
      }
    }
    __builtin_unreachable();
  }

  /// MPI's broadcast has one buffer: out of place the root's output is a copy of its input.
  static void broadcast(const CollectiveCall& call, int count, MPI_Datatype type, MPI_Comm ranks) {
    int rank = 0;
    check(MPI_Comm_rank(ranks, &rank), "MPI_Comm_rank");
    const bool copies = rank == call.root && call.input != call.output;
    void* const buffer = copies ? const_cast<void*>(call.input) : call.output;
    check(MPI_Bcast(buffer, count, type, call.root, ranks), "MPI_Bcast");
    if (copies) std::memcpy(call.output, call.input, call.count * size_bytes(call.dtype));
  }

  /// Connects the group on the first call, which all members make.
  MPI_Comm group(std::span<const int> members) {
    if (const auto found = groups_.find(members); found != groups_.end()) return found->second;
    const std::vector<int> key(members.begin(), members.end());
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group chosen = MPI_GROUP_NULL;
    check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
    check(MPI_Group_incl(world, static_cast<int>(key.size()), key.data(), &chosen),
          "MPI_Group_incl");
    MPI_Comm communicator = MPI_COMM_NULL;
    const int code = MPI_Comm_create_group(MPI_COMM_WORLD, chosen, group_tag, &communicator);
    MPI_Group_free(&chosen);
    MPI_Group_free(&world);
    check(code, "MPI_Comm_create_group");
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    return groups_.emplace(key, communicator).first->second;
  }

  /// Serialises MPI calls: replicas of a module run concurrently, each with its own rank.
  std::mutex mutex_;
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm messages_ = MPI_COMM_NULL;
  MPI_Op combine_ = MPI_OP_NULL;
  std::map<std::vector<int>, MPI_Comm, ByMembers> groups_;
};

}  // namespace
}  // namespace assay

extern "C" __attribute__((visibility("default"))) const assay::LauncherEntry* assay_launcher() {
  static const assay::LauncherEntry entry{assay::version::build_id, []() -> assay::ProcessGroup* {
                                            return new assay::MpiProcessGroup;
                                          }};
  return &entry;
}
