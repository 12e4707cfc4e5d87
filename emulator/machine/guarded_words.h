#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/machine/launch_context.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

/// Bytes of shared or local memory with a mark for each that has been written.
struct MarkedBytes {
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> written;
  explicit MarkedBytes(std::size_t size) : bytes(size), written(size) {}
};

class ProductReads;

/// Words of a block's shared memory that threads must leave alone: the destination of a copy that
/// nobody has waited for, its source, which may still be read, factors of wgmma, and mbarrier
/// objects.
///
/// Their bytes look as if nothing had written them, which leads accesses here without a further
/// question asked of all others; the true marks are kept aside.
class GuardedWords {
 public:
  GuardedWords(const LaunchContext& launch, MarkedBytes& shared);

  /// `thread` started the copy.
  void add_write(std::uint64_t offset, std::uint64_t bytes, int thread);
  void remove_write(std::uint64_t offset, std::uint64_t bytes);
  void add_read(std::uint64_t offset, std::uint64_t bytes, int thread);
  void remove_read(std::uint64_t offset, std::uint64_t bytes);
  void set_mbarrier(std::uint64_t offset, bool live);
  /// `product_reads` knows who may write these bytes.
  void add_product(std::uint64_t offset, std::uint64_t bytes);

  std::uint8_t mark(std::uint64_t offset) const;
  void set_mark(std::uint64_t offset, std::uint8_t mark);

  /// Throws LaneFault for an access that must not be. Returns whether all bytes have been written.
  bool check(const WarpState& warp, int lane, std::uint64_t offset, std::uint64_t bytes,
             bool writes);

  ProductReads* product_reads = nullptr;

 private:
  struct Word {
    std::uint16_t writer = 0;  // thread + 1
    std::uint16_t reader = 0;  // the last one's thread + 1
    std::uint16_t reads = 0;
    bool mbarrier = false;
    bool product = false;
    std::array<std::uint8_t, 4> marks{};  // while it is guarded
    bool is_guarded() const { return writer != 0 || reads != 0 || mbarrier || product; }
  };
  template <class F>
  void change(std::uint64_t offset, std::uint64_t bytes, F f);

  const LaunchContext& launch_;
  std::vector<std::uint8_t>& written_;
  std::vector<Word> words_;
};

}  // namespace emulator
