#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/sim/data_faults.h"

// Right elements written to wrong places, or not at all, or too many.
namespace assay::sim {
namespace {

constexpr std::size_t tile = 16;  // side of a tile
constexpr std::size_t tile_elements = tile * tile;

std::size_t element_bytes(const Launch& launch) { return size_bytes(output_dtype(launch.op())); }

std::size_t output_size(const Launch& launch) {
  return static_cast<std::size_t>(launch.op().signature.outputs[0].elements());
}

/// Leaves the last `elements` of the output unchanged.
void keep_last(Launch& launch, std::size_t elements) {
  const std::vector<std::byte> before = launch.copy_of_output();
  launch.right();
  const std::size_t kept = std::min(before.size(), elements * element_bytes(launch));
  std::memcpy(launch.output_bytes() + before.size() - kept, before.data() + before.size() - kept,
              kept);
}

void tile_not_written(Launch& launch) { keep_last(launch, tile_elements); }

/// Leaves one element unwritten, with a plausible old value: the result of the previous launch, or
/// else its neighbour's.
void stale_element(Launch& launch) {
  launch.right();
  const std::size_t bytes = element_bytes(launch);
  const std::size_t at = output_size(launch) / 2 * bytes;
  std::byte* y = launch.output_bytes();
  const std::vector<std::byte>& before = launch.history().output;
  const std::vector<std::byte> right = launch.copy_of_output();
  if (right.size() < 2 * bytes) return;
  const std::byte* old = before.size() == right.size() ? &before[at] : y + at - bytes;
  std::memmove(y + at, old, bytes);
}

void nothing_written(Launch& /*launch*/) {}

void past_end(Launch& launch) {
  launch.right();
  std::memset(launch.output_bytes() + output_size(launch) * element_bytes(launch), 0x11,
              element_bytes(launch));
}

void before_start(Launch& launch) {
  launch.right();
  std::memset(launch.output_bytes() - element_bytes(launch), 0x11, element_bytes(launch));
}

void tile_past_end(Launch& launch) {
  launch.right();
  std::memset(launch.output_bytes() + output_size(launch) * element_bytes(launch), 0x11,
              tile_elements * element_bytes(launch));
}

/// Mixes data behind the first input into the last element.
void read_past_end(Launch& launch) {
  launch.right();
  const std::size_t bytes = element_bytes(launch);
  const TensorSpec& input = launch.op().signature.inputs.at(0);
  const auto* behind =
      reinterpret_cast<const std::byte*>(launch.input<std::byte>(0).data()) + input.span_bytes();
  std::byte* last = launch.output_bytes() + (output_size(launch) - 1) * bytes;
  for (std::size_t i = 0; i < bytes; ++i) last[i] ^= behind[i % size_bytes(input.dtype)];
}

void input_overwritten(Launch& launch) {
  launch.right();
  const auto x = launch.input<std::byte>(0);
  const_cast<std::byte*>(x.data())[0] ^= std::byte{1};
}

/// Extents of an output seen as a matrix.
struct Matrix {
  std::size_t rows;
  std::size_t cols;
};

Matrix matrix_of(const Launch& launch) {
  const Shape& shape = launch.op().signature.outputs[0].shape;
  const auto cols = static_cast<std::size_t>(shape.empty() ? 1 : shape.back());
  return {cols == 0 ? 0 : output_size(launch) / cols, cols};
}

void rows_swapped(Launch& launch) {
  launch.right();
  const auto [rows, cols] = matrix_of(launch);
  if (rows < 2) return;
  std::byte* y = launch.output_bytes();
  std::swap_ranges(y, y + cols * element_bytes(launch), y + cols * element_bytes(launch));
}

/// Takes a tile from 127 rows further on: one period of the first pass's data.
void tile_moved(Launch& launch) {
  launch.right();
  constexpr std::size_t period = 127;
  const auto [rows, cols] = matrix_of(launch);
  if (rows < period + tile || cols < tile) return;
  const std::size_t bytes = element_bytes(launch);
  std::byte* y = launch.output_bytes();
  for (std::size_t r = 0; r < tile; ++r) {
    std::memcpy(y + r * cols * bytes, y + (r + period) * cols * bytes, tile * bytes);
  }
}

void transposed(Launch& launch) {
  launch.right();
  const auto [rows, cols] = matrix_of(launch);
  const std::vector<std::byte> right = launch.copy_of_output();
  const std::size_t bytes = element_bytes(launch);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      std::memcpy(launch.output_bytes() + (c * rows + r) * bytes, &right[(r * cols + c) * bytes],
                  bytes);
    }
  }
}

/// Treats rows with gaps as contiguous.
void width_for_stride(Launch& launch) {
  if (launch.op().signature.outputs[0].is_dense()) return launch.right();
  Params dense;
  for (const auto& [name, value] : launch.op().params.entries()) {
    if (name != "cols" && name != "ld" && name != "view") dense.set(name, value);
  }
  launch.other(instantiate(*launch.op().op, launch.op().format, dense));
}

/// Keeps offsets in too few bits: elements of the upper half of the output land in its lower half.
void index_wraps(Launch& launch) {
  const std::vector<std::byte> before = launch.copy_of_output();
  launch.right();
  const std::size_t half = output_size(launch) / 2 * element_bytes(launch);
  const std::vector<std::byte> right = launch.copy_of_output();
  std::memcpy(launch.output_bytes() + half, before.data() + half, before.size() - half);
  std::memcpy(launch.output_bytes(), right.data() + half, std::min(half, right.size() - half));
}

/// Counts bits of offsets in 32 bits: bytes beyond 512 MiB land on the first ones.
void index_wraps_at_2_32(Launch& launch) {
  constexpr std::size_t reach = (std::size_t{1} << 32U) / 8;
  const std::size_t bytes = output_size(launch) * element_bytes(launch);
  if (bytes <= reach) return launch.right();
  const std::vector<std::byte> before(launch.output_bytes() + reach, launch.output_bytes() + bytes);
  launch.right();
  std::memcpy(launch.output_bytes(), launch.output_bytes() + reach, std::min(reach, bytes - reach));
  std::memcpy(launch.output_bytes() + reach, before.data(), before.size());
}

/// Copies the first block of 2 MiB over the second.
void block_misplaced(Launch& launch) {
  constexpr std::size_t block = std::size_t{2} << 20;
  launch.right();
  if (output_size(launch) * element_bytes(launch) < 2 * block) return;
  std::memcpy(launch.output_bytes() + block, launch.output_bytes(), block);
}

void truncated(Launch& launch) { keep_last(launch, 1); }

constexpr DataFault faults[] = {
    {"tile_not_written", "the last tile keeps what it held", tile_not_written},
    {"stale_element", "one element keeps a plausible old value", stale_element},
    {"nothing_written", "the whole output keeps what it held", nothing_written},
    {"past_end", "one element more is written behind the end", past_end},
    {"before_start", "one element more is written before the start", before_start},
    {"tile_past_end", "a whole tile is written behind the end", tile_past_end},
    {"read_past_end", "what lies behind an input is read", read_past_end},
    {"input_overwritten", "an input is written to", input_overwritten},
    {"rows_swapped", "two rows in each other's place", rows_swapped},
    {"tile_moved", "a tile from one period of the data further on", tile_moved},
    {"transposed", "the output transposed", transposed},
    {"width_for_stride", "the width of rows taken for their stride", width_for_stride},
    {"index_wraps", "the upper half written over the lower one", index_wraps},
    {"index_wraps_at_2_32", "bytes beyond 2^32 bits written over the first ones",
     index_wraps_at_2_32},
    {"block_misplaced", "a block of 2 MiB from the place of another", block_misplaced},
    {"truncated", "the last element of a transfer missing", truncated},
};

}  // namespace

std::span<const DataFault> place_faults() { return faults; }

}  // namespace assay::sim
