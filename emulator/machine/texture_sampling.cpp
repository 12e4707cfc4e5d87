#include "emulator/machine/texture_sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "emulator/numbers/number.h"

namespace emulator {
namespace {

constexpr int weight_one = 256;  // 8 bits of fraction

int dimensions(ImageShape shape) {
  switch (shape) {
    case ImageShape::linear:
    case ImageShape::one:
    case ImageShape::layers_of_one:
      return 1;
    case ImageShape::three:
      return 3;
    default:
      return 2;
  }
}

/// Two neighbouring indices of one dimension; none: the border.
struct Axis {
  std::optional<std::size_t> first = 0, second = 0;
  int weight = 0;  // of the second
};

std::optional<std::size_t> index_within(std::int64_t index, std::size_t size, Addressing mode) {
  const auto count = static_cast<std::int64_t>(size);
  if (index >= 0 && index < count) return static_cast<std::size_t>(index);
  if (mode == Addressing::border) return std::nullopt;
  if (mode == Addressing::wrap) return static_cast<std::size_t>(((index % count) + count) % count);
  // Beyond a mirror lies the outermost texel again: coordinates are already within one period.
  return index < 0 ? 0 : size - 1;
}

/// The coordinate in texels, within one period where the mode repeats.
double texel_coordinate(double x, std::size_t size, Addressing mode, bool is_normalized) {
  constexpr double far = 0x1p40;  // beyond all textures; infinities go there
  const auto n = static_cast<double>(size);
  if (std::isnan(x)) return 0;
  if (!is_normalized) return std::clamp(x, -far, far);
  if (mode == Addressing::wrap || mode == Addressing::mirror) {
    if (std::isinf(x)) return 0;
    const double whole = std::floor(x), fraction = x - whole;
    const bool is_mirrored = mode == Addressing::mirror && std::fmod(whole, 2) != 0;
    return (is_mirrored ? 1 - fraction : fraction) * n;
  }
  return std::clamp(x * n, -far, far);
}

Axis axis_at(double x, std::size_t size, Addressing mode, bool is_filtered) {
  if (!is_filtered) {
    const auto index = static_cast<std::int64_t>(std::floor(x));
    // Exactly 1 - 0 of a mirrored coordinate is the last texel, as is 1 of one that wraps.
    return {index_within(index, size, mode == Addressing::wrap ? Addressing::clamp : mode)};
  }
  const double shifted = x - 0.5, low = std::floor(shifted);
  const auto index = static_cast<std::int64_t>(low);
  return {index_within(index, size, mode), index_within(index + 1, size, mode),
          static_cast<int>(std::floor((shifted - low) * weight_one + 0.5))};
}

Addressing mode_of(const Texture& texture, int axis, bool is_normalized) {
  const Addressing mode = texture.addressing[static_cast<std::size_t>(axis)];
  const bool repeats = mode == Addressing::wrap || mode == Addressing::mirror;
  return repeats && !is_normalized ? Addressing::clamp : mode;
}

/// The face of a cube that a direction hits, and where (programming guide, "Cubemap Textures").
Position on_face(const Position& position) {
  const auto [x, y, z] = position.at;
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  std::size_t face = 0;
  double m = 0, s = 0, t = 0;
  if (az >= ax && az >= ay) {
    face = z < 0 ? 5 : 4;
    m = az, s = z < 0 ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2;
    m = ay, s = x, t = y < 0 ? -z : z;
  } else {
    face = x < 0 ? 1 : 0;
    m = ax, s = x < 0 ? z : -z, t = -y;
  }
  if (m == 0) m = 1;
  return {{(s / m + 1) / 2, (t / m + 1) / 2, 0}, position.layer * 6 + face, false};
}

double linear_of_srgb(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

/// An integer channel as its 32 bits.
std::uint32_t integer_channel(const std::byte* at, const TexelFormat& format) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, format.channel_bytes);
  const unsigned unused = 32 - 8 * format.channel_bytes;
  if (format.kind != ChannelKind::signed_integer) return bits;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(bits << unused) >> unused);
}

bool gives_floats(const Texture& texture, const TexelFormat& format) {
  return format.kind == ChannelKind::floating ||
         (texture.reads_normalized && format.channel_bytes < 4);
}

std::uint32_t converted(const Texture& texture, const TexelFormat& format, std::uint32_t bits,
                        unsigned channel) {
  if (format.kind == ChannelKind::floating)
    return format.channel_bytes == 4 ? bits : std::bit_cast<std::uint32_t>(decode(bits, binary16));
  if (!gives_floats(texture, format)) return bits;
  const unsigned width = 8 * format.channel_bytes;
  if (format.kind == ChannelKind::signed_integer) {
    const double largest = std::ldexp(1, static_cast<int>(width) - 1) - 1;
    return bits_of(std::max(-1.0, static_cast<std::int32_t>(bits) / largest));
  }
  const double value = bits / (std::ldexp(1, static_cast<int>(width)) - 1);
  const bool is_color = texture.is_srgb && width == 8 && channel < 3;
  return bits_of(is_color ? linear_of_srgb(value) : value);
}

/// Fetches from one level of a texture.
class Fetch {
 public:
  Fetch(const Texture& texture, const Image& image, const Position& position, bool is_filtered,
        TexelReader& reader)
      : texture_(texture), image_(image), reader_(reader) {
    const bool is_normalized = texture.has_normalized_coordinates && !position.is_whole;
    count_ = dimensions(texture.shape);
    for (int k = 0; k < count_; ++k) {
      const auto axis = static_cast<std::size_t>(k);
      const Addressing mode = mode_of(texture, k, is_normalized);
      const double x = texel_coordinate(position.at[axis], image.size[axis], mode, is_normalized);
      axes_[axis] = axis_at(x, image.size[axis], mode, is_filtered);
    }
    // Layers and faces are the last dimension.
    if (count_ < 3) axes_[2] = {position.layer};
  }

  /// The corner whose bit k chooses the second index of dimension k.
  Texel corner(unsigned which) {
    const auto index = [&](unsigned axis) {
      return (which >> axis & 1) != 0 ? axes_[axis].second : axes_[axis].first;
    };
    const auto x = index(0), y = index(1), z = index(2);
    Texel texel;
    if (!x || !y || !z) {
      std::memcpy(texel.channels.data(), texture_.border.data(), sizeof texture_.border);
      return texel;
    }
    const TexelReader::Raw raw = reader_.read(image_, *x, *y, *z);
    texel.is_result = raw.is_result;
    const TexelFormat& format = image_.format;
    for (unsigned c = 0; c < format.channels; ++c) {
      const std::byte* at = raw.bytes.data() + std::size_t{c} * format.channel_bytes;
      texel.channels[c] = converted(texture_, format, integer_channel(at, format), c);
      const unsigned holes =
          raw.undefined >> (c * format.channel_bytes) & ((1u << format.channel_bytes) - 1);
      if (holes != 0) texel.undefined |= 1u << c;
    }
    return texel;
  }

  /// The weight of a corner: exact, as it has at most 24 bits.
  double weight(unsigned which) const {
    double product = 1;
    for (int k = 0; k < count_; ++k) {
      const int second = axes_[static_cast<std::size_t>(k)].weight;
      product *= ((which >> k & 1) != 0 ? second : weight_one - second) / double{weight_one};
    }
    return product;
  }

  unsigned corners() const { return 1u << count_; }

 private:
  const Texture& texture_;
  const Image& image_;
  TexelReader& reader_;
  int count_ = 0;
  std::array<Axis, 3> axes_{};
};

using Sum = std::array<double, 4>;

void add(Sum& sum, Texel& total, const Texel& texel, double weight) {
  for (std::size_t c = 0; c < 4; ++c)
    sum[c] += weight * static_cast<double>(std::bit_cast<float>(texel.channels[c]));
  total.undefined |= texel.undefined;
  // A sum is no copy of what it adds.
  total.is_result |= texel.is_result || (texel.undefined != 0 && weight != 1);
}

Texel rounded(const Sum& sum, Texel total) {
  for (std::size_t c = 0; c < 4; ++c) total.channels[c] = bits_of(sum[c]);
  return total;
}

Texel sample_level(const Texture& texture, const Image& image, const Position& position,
                   TexelReader& reader) {
  const bool is_filtered = texture.is_filtered && !position.is_whole;
  Fetch fetch(texture, image, position, is_filtered, reader);
  if (!is_filtered) return fetch.corner(0);
  Sum sum{};
  Texel total;
  for (unsigned corner = 0; corner < fetch.corners(); ++corner)
    // Texels without weight are not looked at: they may lie in memory that nothing has written.
    if (const double weight = fetch.weight(corner); weight != 0)
      add(sum, total, fetch.corner(corner), weight);
  return rounded(sum, total);
}

}  // namespace

Texel sample(const Texture& texture, const Position& position, double level, TexelReader& reader) {
  const bool is_cube = texture.shape == ImageShape::cube || texture.shape == ImageShape::cubes;
  const Position place = is_cube ? on_face(position) : position;
  const auto last = static_cast<double>(texture.levels.size() - 1);
  if (last == 0) return sample_level(texture, texture.levels.front(), place, reader);
  const double wanted =
      std::clamp(level + static_cast<double>(texture.level_bias),
                 static_cast<double>(texture.min_level), static_cast<double>(texture.max_level));
  const double clamped = std::isnan(wanted) ? 0 : std::clamp(wanted, 0.0, last);
  if (!texture.filters_levels || !gives_floats(texture, texture.levels.front().format)) {
    const auto nearest = static_cast<std::size_t>(std::floor(clamped + 0.5));
    return sample_level(texture, texture.levels[nearest], place, reader);
  }
  const auto below = static_cast<std::size_t>(clamped);
  const double weight = std::floor((clamped - std::floor(clamped)) * weight_one + 0.5) / weight_one;
  Sum sum{};
  Texel total;
  if (weight != 1)
    add(sum, total, sample_level(texture, texture.levels[below], place, reader), 1 - weight);
  if (weight != 0)
    add(sum, total, sample_level(texture, texture.levels[below + 1], place, reader), weight);
  return rounded(sum, total);
}

Texel gather(const Texture& texture, const Position& position, unsigned channel,
             TexelReader& reader) {
  constexpr unsigned corners[] = {0b10, 0b11, 0b01, 0b00};  // bit 0: x, bit 1: y
  Fetch fetch(texture, texture.levels.front(), position, true, reader);
  Texel all;
  for (std::size_t k = 0; k < 4; ++k) {
    const Texel texel = fetch.corner(corners[k]);
    all.channels[k] = texel.channels[channel];
    if ((texel.undefined >> channel & 1) != 0) {
      all.undefined |= 1u << k;
      all.is_result |= texel.is_result;
    }
  }
  return all;
}

}  // namespace emulator
