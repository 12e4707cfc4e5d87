#include "emulator/machine/box_copy.h"

#include <algorithm>
#include <cstring>

#include "emulator/machine/target.h"

namespace emulator {

std::vector<std::uint8_t> marks_of_load(const Box& box) {
  std::vector<std::uint8_t> marks(box.fill.size(), mark_written);
  for (const BoxPiece& piece : box.pieces) {
    if (piece.written == nullptr) continue;
    for (std::uint32_t i = 0; i < piece.bytes; ++i)
      if (piece.written[i] != mark_written) marks[piece.at + i] = mark_copy;
  }
  return marks;
}

void load_box(const Box& box, std::byte* to) {
  std::ranges::copy(box.fill, to);
  for (const BoxPiece& piece : box.pieces) {
    std::memcpy(to + piece.at, piece.data, piece.bytes);
    if (box.convert != nullptr) box.convert(to + piece.at, piece.bytes);
  }
}

void store_box(const Box& box, const std::byte* from, const std::vector<std::uint8_t>& marks) {
  for (const BoxPiece& piece : box.pieces) {
    if (box.reduce != nullptr) {
      box.reduce(piece.data, from + piece.at, piece.bytes);
      continue;
    }
    std::memcpy(piece.data, from + piece.at, piece.bytes);
    for (std::uint32_t i = 0; piece.written != nullptr && i < piece.bytes; ++i)
      piece.written[i] = marks[piece.at + i] == mark_written ? mark_written : std::uint8_t{0};
  }
}

}  // namespace emulator
