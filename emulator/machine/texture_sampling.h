#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/machine/image.h"

namespace emulator {

/// What a fetch gives: four values of 32 bits, integers or floats.
struct Texel {
  std::array<std::uint32_t, 4> channels{};
  unsigned undefined = 0;  // a bit for each channel that has its value by chance
  bool is_result = false;  // undefined channels were computed, or nothing was ever stored there
};

/// Reads the raw bytes of one texel.
class TexelReader {
 public:
  struct Raw {
    alignas(16) std::array<std::byte, 16> bytes{};
    unsigned undefined = 0;  // a bit for each byte
    bool is_result = false;
  };
  virtual Raw read(const Image& image, std::size_t x, std::size_t y, std::size_t z) = 0;

 protected:
  ~TexelReader() = default;
};

/// Where a fetch looks. For cubes `at` is the direction.
struct Position {
  std::array<double, 3> at{};
  std::size_t layer = 0;
  bool is_whole = false;  // integer coordinates: no filter, and not normalised
};

/// CUDA C++ Programming Guide, "Texture Fetching": the weights of a linear filter have 8 bits of
/// fraction. Sums of weighted texels are rounded once.
Texel sample(const Texture& texture, const Position& position, double level, TexelReader& reader);

/// One channel of the four texels that a linear filter would combine: (0, 1), (1, 1), (1, 0),
/// (0, 0) of their corners.
Texel gather(const Texture& texture, const Position& position, unsigned channel,
             TexelReader& reader);

}  // namespace emulator
