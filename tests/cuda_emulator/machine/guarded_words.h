#pragma once

#include <cstdint>
#include <vector>

namespace emulator {

class Warp;

/// Words of a block's shared memory that threads must leave alone: the destination of a copy that
/// nobody has waited for, its source, which may still be read, and mbarrier objects.
class GuardedWords {
 public:
  explicit GuardedWords(std::size_t bytes) : words_((bytes + 3) / 4) {}

  /// `thread` started the copy.
  void add_write(std::uint64_t offset, std::uint64_t bytes, int thread);
  void remove_write(std::uint64_t offset, std::uint64_t bytes);
  void add_read(std::uint64_t offset, std::uint64_t bytes, int thread);
  void remove_read(std::uint64_t offset, std::uint64_t bytes);
  void set_mbarrier(std::uint64_t offset, bool live);

  /// Throws LaneFault for an access that must not be.
  void check(Warp& warp, int lane, std::uint64_t offset, std::uint64_t bytes, bool writes) const;

 private:
  struct Word {
    std::uint16_t writer = 0;  // thread + 1
    std::uint16_t reader = 0;  // the last one's thread + 1
    std::uint16_t reads = 0;
    bool mbarrier = false;
  };
  template <class F>
  void for_each(std::uint64_t offset, std::uint64_t bytes, F f);

  std::vector<Word> words_;
};

}  // namespace emulator
