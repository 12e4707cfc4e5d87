#include "emulator/libraries/nccl/board.h"

#include <cstring>
#include <set>

namespace emulator::nccl {
namespace {

class LocalBoard final : public Board {
 public:
  explicit LocalBoard(std::size_t ranks) : slots_(ranks), parts_(ranks) {}
  std::size_t ranks() const override { return slots_.size(); }
  const std::byte* part(std::size_t rank) override { return parts_[rank].data(); }

 protected:
  std::unique_ptr<Board> new_messages(std::size_t /*from*/, std::size_t /*to*/) override {
    return std::make_unique<LocalBoard>(2);
  }
  Slot& slot(std::size_t rank) override { return slots_[rank]; }
  std::byte* room(std::size_t rank, std::size_t bytes) override {
    parts_[rank].resize(bytes);
    return parts_[rank].data();
  }

 private:
  std::vector<Slot> slots_;
  std::vector<std::vector<std::byte>> parts_;
};

}  // namespace

bool Board::join(std::size_t rank, int gpu) {
  slot(rank).gpu = gpu;
  return slot(rank).has_joined.exchange(1) == 0;
}

bool Board::have_all_joined() const {
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (slot(rank).has_joined == 0) return false;
  }
  return true;
}

bool Board::has_duplicate_gpu() const {
  std::set<std::int32_t> gpus;
  for (std::size_t rank = 0; rank < ranks(); ++rank) gpus.insert(slot(rank).gpu);
  return gpus.size() < ranks();
}

bool Board::may_post(std::uint64_t number) const {
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (slot(rank).taken + 1 < number) return false;
  }
  return true;
}

void Board::post(std::size_t rank, std::uint64_t number, const Announcement& announcement,
                 std::span<const std::byte> part) {
  Slot& own = slot(rank);
  std::byte* const to = room(rank, part.size());
  if (!part.empty()) std::memcpy(to, part.data(), part.size());
  own.announcement = announcement;
  own.bytes = part.size();
  own.posted = number;
}

bool Board::have_all_posted(std::uint64_t number) const {
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (slot(rank).posted < number) return false;
  }
  return true;
}

void Board::take(std::size_t rank, std::uint64_t number) { slot(rank).taken = number; }

Board& Board::messages(std::size_t from, std::size_t to) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Board>& board = messages_[{from, to}];
  if (board == nullptr) board = new_messages(from, to);
  return *board;
}

std::shared_ptr<Board> new_local_board(std::size_t ranks) {
  return std::make_shared<LocalBoard>(ranks);
}

}  // namespace emulator::nccl
