#include "emulator/libraries/nccl/communicator.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "emulator/libraries/faults.h"
#include "emulator/runtime/work.h"

namespace emulator::nccl {
namespace {

bool is_hanging(const Communicator& c) {
  return has_fault(LibraryFault::hanging_rank) && c.rank + 1 == c.board->ranks();
}

/// Where a call is on its way. A captured one begins again with each launch of its graph.
class Way {
 public:
  explicit Way(const Call& call)
      : call_(call),
        is_message_(call.kind == Kind::message),
        sends_(is_message_ && call.input != 0),
        place_(is_message_ ? (sends_ ? 0 : 1) : call.communicator->rank) {}

  Step step() {
    try {
      return next();
    } catch (const Fault&) {
      throw;
    } catch (const std::runtime_error& error) {  // no room for the message in shared memory
      throw Fault(FaultKind::trap, std::string(call_.name) + ": " + error.what());
    }
  }

 private:
  enum class Stage { begins, posts, takes, never_ends };

  Step next() {
    Communicator& c = *call_.communicator;
    if (c.is_aborted) return end();
    if (stage_ == Stage::begins) {
      board_ = &board();
      const std::lock_guard lock(c.mutex);
      number_ = ++c.begun[{board_, place_}];
      stage_ = Stage::posts;
    }
    if (stage_ == Stage::posts) {
      if (is_hanging(c) || !board_->may_post(number_)) return Step::waits;
      post();
      stage_ = Stage::takes;
    }
    if (sends_) {
      board_->take(place_, number_);
      return end();
    }
    if (stage_ == Stage::never_ends || !board_->have_all_posted(number_)) return Step::waits;
    if (const std::string problem = disagreement(); !problem.empty()) {
      std::fprintf(stderr, "emulated NCCL, rank %zu: %s: a real call hangs or corrupts data\n",
                   c.rank, problem.c_str());
      stage_ = Stage::never_ends;
      return Step::waits;
    }
    take();
    board_->take(place_, number_);
    if (is_message_) board_->forget_names();  // both ends have it open
    return end();
  }

  Board& board() const {
    Communicator& c = *call_.communicator;
    if (!is_message_) return *c.board;
    return sends_ ? c.board->messages(c.rank, call_.peer) : c.board->messages(call_.peer, c.rank);
  }
  Step end() {
    stage_ = Stage::begins;
    if (has_fault(LibraryFault::async_error)) call_.communicator->async_error = remote_error;
    return Step::done;
  }
  std::byte* view(std::uintptr_t address, std::size_t size, Access access, const char* what) const {
    return memory().view(address, size, access, call_.communicator->gpu,
                         std::string(call_.name) + ", " + what);
  }

  void post() {
    Announcement own{.kind = call_.kind,
                     .count = call_.count,
                     .type = call_.type,
                     .root = static_cast<std::int32_t>(call_.root),
                     .reduction = call_.reduction.reduction,
                     .process = static_cast<std::uint64_t>(getpid()),
                     .thread = call_.thread,
                     .group = call_.group};
    if (const auto& created = call_.reduction.created) {
      own.scalar = created->scalar;
      if (created->address != 0) {
        const std::size_t size = size_bytes(call_.type);
        std::memcpy(own.scalar.data(), view(created->address, size, Access::read, "scalar"), size);
      }
    }
    const std::size_t bytes = call_.input_bytes();
    std::span<const std::byte> part;
    if (bytes > 0) part = {view(call_.input, bytes, Access::read, "input"), bytes};
    board_->post(place_, number_, own, part);
  }

  /// Says what the ranks do not agree about.
  std::string disagreement() const {
    for (std::size_t rank = 0; rank < board_->ranks(); ++rank) {
      const Announcement& a = board_->announcement(rank);
      const std::string who = "rank " + std::to_string(rank) + " has another ";
      if (a.kind != call_.kind) return who + "collective";
      if (a.count != call_.count) return who + "count";
      if (a.type != call_.type) return who + "type";
      if (a.root != static_cast<std::int32_t>(call_.root)) return who + "root";
      if (a.reduction.operation != call_.reduction.reduction.operation ||
          a.reduction.has_scalar != call_.reduction.reduction.has_scalar) {
        return who + "reduction";
      }
      for (std::size_t other = 0; other < rank; ++other) {
        const Announcement& b = board_->announcement(other);
        if (a.process == b.process && a.thread == b.thread && a.group != b.group) {
          return "one thread called ranks " + std::to_string(other) + " and " +
                 std::to_string(rank) + " without a group around both";
        }
      }
    }
    return "";
  }

  void take() {
    const std::size_t bytes = call_.output_bytes();
    if (bytes == 0) return;
    std::byte* const output = view(call_.output, bytes, Access::write, "output");
    switch (call_.kind) {
      case Kind::all_reduce:
      case Kind::reduce:
        return reduced(0, output);
      case Kind::reduce_scatter:
        return reduced(place_ * call_.chunk_bytes(), output);
      case Kind::all_gather:
        for (std::size_t rank = 0; rank < board_->ranks(); ++rank) {
          copy(rank, output + rank * call_.chunk_bytes());
        }
        return;
      case Kind::broadcast:
        return copy(call_.root, output);
      case Kind::message:
        return copy(0, output);
    }
  }

  void copy(std::size_t rank, std::byte* to) {
    std::memmove(to, board_->part(rank), call_.chunk_bytes());
  }

  /// Reduces the parts from byte `begin` on.
  void reduced(std::size_t begin, std::byte* to) {
    std::vector<Contribution> parts;
    for (std::size_t rank = 0; rank < board_->ranks(); ++rank) {
      parts.push_back({board_->part(rank) + begin, board_->announcement(rank).scalar});
    }
    const bool differs = has_fault(LibraryFault::reordered_sums) || is_unordered();
    const std::size_t rotation = differs ? number_ : 0;
    reduce(call_.reduction.reduction, call_.type, parts, call_.count, rotation, to);
  }

  /// Whether NVSwitches add, which drivers before CUDA 12.8 do in another order each time
  /// (NVIDIA/nccl, issue 1497). They add for these calls (ncclNvlsSupported, src/include/device.h),
  /// here whatever the size of the message.
  bool is_unordered() const {
    const char* enabled = std::getenv("NCCL_NVLS_ENABLE");
    const Reduction& reduction = call_.reduction.reduction;
    return (call_.kind == Kind::all_reduce || call_.kind == Kind::reduce_scatter) &&
           reduction.operation == sum && !reduction.has_scalar && version_of_driver() < 12080 &&
           has_multicast(call_.communicator->gpu) &&
           (enabled == nullptr || std::string_view(enabled) != "0");
  }

  Call call_;
  bool is_message_;
  bool sends_;
  std::size_t place_;  // of this rank on the board
  Board* board_ = nullptr;
  Stage stage_ = Stage::begins;
  std::uint64_t number_ = 0;
};

}  // namespace

std::optional<NamedReduction> reduction_of(Communicator& c, int operation) {
  if (operation >= 0 && operation < operation_count) {
    return NamedReduction{{static_cast<Operation>(operation), false}, std::nullopt};
  }
  const std::lock_guard lock(c.mutex);
  const int index = operation - c.first_reduction;
  if (index < 0 || static_cast<std::size_t>(index) >= c.reductions.size()) return std::nullopt;
  const auto& created = c.reductions[static_cast<std::size_t>(index)];
  if (!created) return std::nullopt;
  return NamedReduction{{sum, true}, created};
}

cudaError_t enqueue(const Call& call, cudaStream_t stream) {
  const auto way = std::make_shared<Way>(call);
  return emulator::enqueue(stream, call.name, [way] { return way->step(); });
}

}  // namespace emulator::nccl
