#include "tests/cuda_emulator/libraries/nccl/communicator.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/cuda_emulator/libraries/faults.h"
#include "tests/cuda_emulator/runtime/work.h"

namespace emulator::nccl {
namespace {

constexpr const char* kernel = "ncclAllReduce";

bool is_hanging(const Communicator& c) {
  return has_fault(LibraryFault::hanging_rank) && c.rank + 1 == c.board->ranks();
}

/// Where a collective is on its way. A captured one begins again with each launch of its graph.
class Way {
 public:
  explicit Way(const AllReduce& collective) : call_(collective) {}

  Step step() {
    try {
      return next();
    } catch (const Fault&) {
      throw;
    } catch (const std::runtime_error& error) {  // no room for the message in shared memory
      throw Fault(FaultKind::trap, std::string(kernel) + ": " + error.what());
    }
  }

 private:
  enum class Stage { begins, posts, takes, never_ends };

  Step next() {
    Communicator& c = *call_.communicator;
    if (c.is_aborted) return end();
    if (stage_ == Stage::begins) {
      number_ = ++c.collectives;
      stage_ = Stage::posts;
    }
    if (stage_ == Stage::posts) {
      if (is_hanging(c) || !c.board->may_post(number_)) return Step::waits;
      post();
      stage_ = Stage::takes;
    }
    if (stage_ == Stage::never_ends || !c.board->have_all_posted(number_)) return Step::waits;
    if (const std::string problem = disagreement(); !problem.empty()) {
      std::fprintf(stderr,
                   "emulated NCCL, rank %zu: %s: a real collective hangs or corrupts data\n",
                   c.rank, problem.c_str());
      stage_ = Stage::never_ends;
      return Step::waits;
    }
    take();
    return end();
  }

  Step end() {
    stage_ = Stage::begins;
    return Step::done;
  }
  std::size_t bytes() const { return call_.count * size_bytes(call_.type); }
  std::byte* view(std::uintptr_t address, std::size_t size, Access access, const char* what) const {
    return memory().view(address, size, access, call_.communicator->gpu,
                         std::string(kernel) + ", " + what);
  }

  void post() {
    Announcement own{.count = call_.count,
                     .type = call_.type,
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
    Communicator& c = *call_.communicator;
    c.board->post(c.rank, number_, own,
                  {view(call_.input, bytes(), Access::read, "input"), bytes()});
  }

  /// Says what the ranks do not agree about.
  std::string disagreement() const {
    Board& board = *call_.communicator->board;
    for (std::size_t rank = 0; rank < board.ranks(); ++rank) {
      const Announcement& a = board.announcement(rank);
      const std::string who = "rank " + std::to_string(rank) + " has another ";
      if (a.count != call_.count) return who + "count";
      if (a.type != call_.type) return who + "type";
      if (a.reduction.operation != call_.reduction.reduction.operation ||
          a.reduction.has_scalar != call_.reduction.reduction.has_scalar) {
        return who + "reduction";
      }
      for (std::size_t other = 0; other < rank; ++other) {
        const Announcement& b = board.announcement(other);
        if (a.process == b.process && a.thread == b.thread && a.group != b.group) {
          return "one thread called ranks " + std::to_string(other) + " and " +
                 std::to_string(rank) + " without a group around both";
        }
      }
    }
    return "";
  }

  void take() {
    Communicator& c = *call_.communicator;
    std::vector<Contribution> parts;
    for (std::size_t rank = 0; rank < c.board->ranks(); ++rank) {
      parts.push_back({c.board->part(rank), c.board->announcement(rank).scalar});
    }
    const std::size_t rotation = has_fault(LibraryFault::reordered_sums) ? number_ : 0;
    reduce(call_.reduction.reduction, call_.type, parts, call_.count, rotation,
           view(call_.output, bytes(), Access::write, "output"));
    c.board->take(c.rank, number_);
  }

  AllReduce call_;
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

cudaError_t enqueue(const AllReduce& collective, cudaStream_t stream) {
  const auto way = std::make_shared<Way>(collective);
  return emulator::enqueue(stream, kernel, [way] { return way->step(); });
}

}  // namespace emulator::nccl
