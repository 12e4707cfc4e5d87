#include "emulator/machine/tensor_box.h"

#include <fmt/format.h>

namespace emulator {

std::string text_of(const TensorMap& map, const Coordinates& coordinates) {
  std::string text;
  for (std::size_t i = 0; i < map.rank; ++i)
    text += fmt::format("{}{}", i == 0 ? "(" : ",", coordinates[i]);
  return text + ")";
}

}  // namespace emulator
