#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/machine/box_copy.h"
#include "emulator/machine/warp_state.h"

namespace emulator {

class AsyncCopies;

/// A copy that runs beside the threads, or an arrival that waits for the copies before it.
struct AsyncCopy {
  const Code* code = nullptr;
  WarpState* warp = nullptr;  // and lane: who started it
  int lane = 0;
  bool is_bulk = false, arrives = false;
  AsyncCopies* starter = nullptr;  // of the block of that thread; null: the destination's
  Reduction update = nullptr;      // changes the destination; null: the bytes are copied

  const std::byte* from = nullptr;
  const std::uint8_t* from_written = nullptr;  // null: all
  std::byte* to = nullptr;
  std::uint8_t* to_written = nullptr;
  std::size_t bytes = 0, zeros = 0;  // zeros follow the bytes
  std::shared_ptr<const Box> box{};  // takes the place of the global side; null: no tensor's
  std::optional<std::uint64_t> shared_from{}, shared_to{};
  std::optional<std::uint64_t> barrier{};  // the offset of its mbarrier object

  std::uint64_t group = 0;  // 0: not committed
  bool is_late = false;     // done at the last moment
  bool has_landed = false, is_retired = false;
  /// Marks of the destination; before the start those of `staged`, if not all of it is defined.
  std::vector<std::uint8_t> marks{};
  std::vector<std::byte> staged{};  // read, but not yet written
};

}  // namespace emulator
