#include "emulator/machine/texture_sampling.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

// The programming guide's "Texture Fetching", on texels that a function makes.
namespace emulator {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One float channel: 100 z + 10 y + x.
class Ramp final : public TexelReader {
 public:
  Raw read(const Image& image, std::size_t x, std::size_t y, std::size_t z) override {
    EXPECT_LT(x, image.size[0]);
    EXPECT_LT(y, image.size[1]);
    EXPECT_LT(z, image.size[2]);
    ++reads;
    const auto value = static_cast<float>(100 * z + 10 * y + x + (image.address != 0 ? 1000 : 0));
    Raw raw;
    std::memcpy(raw.bytes.data(), &value, sizeof value);
    return raw;
  }
  int reads = 0;
};

/// Bytes that a test gives.
class Bytes final : public TexelReader {
 public:
  explicit Bytes(std::array<std::uint8_t, 16> texel) : texel_(texel) {}
  Raw read(const Image&, std::size_t, std::size_t, std::size_t) override {
    Raw raw;
    std::memcpy(raw.bytes.data(), texel_.data(), texel_.size());
    return raw;
  }

 private:
  std::array<std::uint8_t, 16> texel_;
};

Texture ramp(ImageShape shape, std::array<std::size_t, 3> size, Addressing addressing) {
  Texture texture{.shape = shape};
  texture.levels.push_back({.size = size});
  texture.addressing.fill(addressing);
  texture.border = {-1, -2, -3, -4};
  return texture;
}

float value_at(const Texture& texture, std::array<double, 3> at, double level = 0,
               std::size_t layer = 0) {
  Ramp reader;
  return std::bit_cast<float>(
      sample(texture, {.at = at, .layer = layer}, level, reader).channels[0]);
}

struct Fetch {
  double x;
  float value;
};

void check(const Texture& texture, const std::vector<Fetch>& fetches) {
  for (const Fetch& fetch : fetches)
    EXPECT_EQ(value_at(texture, {fetch.x, 0, 0}), fetch.value) << "at " << fetch.x;
}

TEST(TextureSampling, PointsAreFloors) {
  const Texture texture = ramp(ImageShape::one, {4, 1, 1}, Addressing::clamp);
  check(texture, {{0, 0},
                  {0.99, 0},
                  {1, 1},
                  {3.5, 3},
                  {4, 3},
                  {-0.5, 0},
                  {1e30, 3},
                  {infinity, 3},
                  {-infinity, 0},
                  {std::nan(""), 0}});
}

TEST(TextureSampling, AddressModes) {
  Texture texture = ramp(ImageShape::one, {4, 1, 1}, Addressing::border);
  check(texture, {{-0.5, -1}, {0, 0}, {3.9, 3}, {4, -1}});
  // Without normalised coordinates these two are clamp.
  texture.addressing.fill(Addressing::wrap);
  check(texture, {{-0.5, 0}, {5, 3}});
  texture.addressing.fill(Addressing::mirror);
  check(texture, {{-0.5, 0}, {5, 3}});
  texture.has_normalized_coordinates = true;
  check(texture, {{0.3, 1}, {1.1, 3}, {1.3, 2}, {2.1, 0}, {-0.1, 0}, {-0.9, 3}, {1, 3}});
  texture.addressing.fill(Addressing::wrap);
  check(texture, {{0.3, 1}, {1.1, 0}, {1.3, 1}, {-0.1, 3}, {1, 0}, {-1e-30, 3}, {infinity, 0}});
  texture.addressing.fill(Addressing::clamp);
  check(texture, {{0.3, 1}, {1, 3}, {7, 3}, {-7, 0}});
}

TEST(TextureSampling, WeightsHaveEightBits) {
  Texture texture = ramp(ImageShape::one, {4, 1, 1}, Addressing::clamp);
  texture.is_filtered = true;
  check(texture, {{0.5, 0}, {1, 0.5}, {1.25, 0.75}, {2.5, 2}, {0.2, 0}, {3.9, 3}});
  // A step of the weight is 1/256; 1 is exact.
  check(texture, {{1 + 1 / 1024.0, 0.5},
                  {1 + 1 / 256.0, 0.5F + 1 / 256.0F},
                  {1 + 3 / 1024.0, 0.5F + 1 / 256.0F},
                  {2.5 - 1 / 4096.0, 2}});
}

TEST(TextureSampling, FiltersReachBeyondTheEdge) {
  Texture texture = ramp(ImageShape::one, {4, 1, 1}, Addressing::border);
  texture.is_filtered = true;
  check(texture, {{0, -0.5}, {4, 1}, {4.5, -1}});
  texture.has_normalized_coordinates = true;
  texture.addressing.fill(Addressing::wrap);
  check(texture, {{0, 1.5}, {1, 1.5}, {0.25, 0.5}});
  texture.addressing.fill(Addressing::mirror);
  check(texture, {{0, 0}, {1, 3}, {1.25, 2.5}});
}

TEST(TextureSampling, TwoAndThreeDimensions) {
  Texture texture = ramp(ImageShape::three, {4, 4, 4}, Addressing::clamp);
  EXPECT_EQ(value_at(texture, {1.5, 2.5, 3.5}), 321);
  texture.is_filtered = true;
  EXPECT_EQ(value_at(texture, {1.5, 2.5, 3.5}), 321);
  EXPECT_EQ(value_at(texture, {2, 2.75, 1.625}), 1.5 + 22.5 + 112.5);
  texture = ramp(ImageShape::two, {4, 4, 1}, Addressing::clamp);
  texture.is_filtered = true;
  EXPECT_EQ(value_at(texture, {2, 1.25, 0}), 1.5 + 7.5);
  // Texels without weight are not read.
  Ramp reader;
  sample(texture, {.at = {1.5, 1.5}}, 0, reader);
  EXPECT_EQ(reader.reads, 1);
}

TEST(TextureSampling, WholeCoordinatesAreNotFiltered) {
  Texture texture = ramp(ImageShape::two, {4, 4, 1}, Addressing::wrap);
  texture.is_filtered = texture.has_normalized_coordinates = true;
  Ramp reader;
  const Texel texel = sample(texture, {.at = {3, 2}, .is_whole = true}, 0, reader);
  EXPECT_EQ(std::bit_cast<float>(texel.channels[0]), 23);
}

TEST(TextureSampling, LayersAndFaces) {
  const Texture layers = ramp(ImageShape::layers_of_two, {4, 4, 3}, Addressing::clamp);
  EXPECT_EQ(value_at(layers, {1, 1, 0}, 0, 2), 211);
  Texture cubes = ramp(ImageShape::cubes, {4, 4, 12}, Addressing::clamp);
  cubes.has_normalized_coordinates = true;
  // Face, s and t of the guide's table: (s / m + 1) / 2 and (t / m + 1) / 2 of four texels.
  EXPECT_EQ(value_at(cubes, {1, -0.2, 0.9}), 20);    // s = -z, t = -y
  EXPECT_EQ(value_at(cubes, {-1, -0.2, 0.9}), 123);  // s = z, t = -y
  EXPECT_EQ(value_at(cubes, {-0.9, 2, 0.6}), 221);   // s = x, t = z
  EXPECT_EQ(value_at(cubes, {-0.9, -1, 0.6}), 300);  // s = x, t = -z
  EXPECT_EQ(value_at(cubes, {0.9, 0.6, 1}), 403);    // s = x, t = -y
  EXPECT_EQ(value_at(cubes, {0.9, 0.6, -1}), 500);   // s = -x, t = -y
  EXPECT_EQ(value_at(cubes, {0.9, 0.6, -1}, 0, 1), 1100);
}

TEST(TextureSampling, Levels) {
  Texture texture = ramp(ImageShape::two, {4, 4, 1}, Addressing::clamp);
  texture.levels.push_back({.address = 1, .size = {2, 2, 1}});
  texture.has_normalized_coordinates = true;
  texture.max_level = 9;
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 0.4), 33);
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 0.6), 1011);
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 7), 1011);
  texture.filters_levels = true;
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 0.25), 33 * 0.75 + 1011 * 0.25);
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 1), 1011);
  texture.level_bias = 0.25;
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 0.25), 33 * 0.5 + 1011 * 0.5);
  texture.max_level = 0.25;
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 1), 33 * 0.75 + 1011 * 0.25);
  texture.min_level = texture.max_level = 1;
  EXPECT_EQ(value_at(texture, {0.9, 0.9, 0}, 0), 1011);
}

std::array<std::uint32_t, 4> converted(TexelFormat format, bool reads_normalized,
                                       std::array<std::uint8_t, 16> bytes, bool is_srgb = false) {
  Texture texture = ramp(ImageShape::one, {1, 1, 1}, Addressing::clamp);
  texture.levels[0].format = format;
  texture.reads_normalized = reads_normalized;
  texture.is_srgb = is_srgb;
  Bytes reader(bytes);
  return sample(texture, {}, 0, reader).channels;
}

std::array<std::uint32_t, 4> bits(float a, float b, float c, float d) {
  return {std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b),
          std::bit_cast<std::uint32_t>(c), std::bit_cast<std::uint32_t>(d)};
}

TEST(TextureSampling, Formats) {
  using Channels = std::array<std::uint32_t, 4>;
  constexpr auto s = ChannelKind::signed_integer, u = ChannelKind::unsigned_integer,
                 f = ChannelKind::floating;
  EXPECT_EQ(converted({4, 1, u}, false, {1, 128, 255, 7}), (Channels{1, 128, 255, 7}));
  EXPECT_EQ(converted({4, 1, s}, false, {1, 128, 255, 7}), (Channels{1, ~127U, ~0U, 7}));
  EXPECT_EQ(converted({2, 2, s}, false, {1, 128, 255, 7}), (Channels{0xffff8001, 0x7ff, 0, 0}));
  EXPECT_EQ(converted({1, 4, u}, true, {1, 2, 3, 4}), (Channels{0x04030201, 0, 0, 0}));
  EXPECT_EQ(converted({4, 1, u}, true, {0, 51, 255, 1}), bits(0, 0.2F, 1, 1 / 255.0F));
  EXPECT_EQ(converted({4, 1, s}, true, {0, 128, 129, 127}), bits(0, -1, -1, 1));
  EXPECT_EQ(converted({2, 2, u}, true, {255, 255, 1, 0}), bits(1, 1 / 65535.0F, 0, 0));
  EXPECT_EQ(converted({2, 2, s}, true, {0, 128, 255, 127}), bits(-1, 1, 0, 0));
  EXPECT_EQ(converted({2, 2, f}, false, {0, 0x3c, 0, 0xc5}), bits(1, -5, 0, 0));
  // IEC 61966-2-1; alpha is linear.
  const auto colors = converted({4, 1, u}, true, {10, 255, 128, 128}, true);
  EXPECT_EQ(colors[0], std::bit_cast<std::uint32_t>(static_cast<float>(10 / 255.0 / 12.92)));
  EXPECT_EQ(std::bit_cast<float>(colors[1]), 1);
  EXPECT_NEAR(std::bit_cast<float>(colors[2]), 0.2158605, 1e-6);
  EXPECT_EQ(std::bit_cast<float>(colors[3]), 128 / 255.0F);
}

TEST(TextureSampling, GathersCornersFromTheLowerLeft) {
  const Texture texture = ramp(ImageShape::two, {4, 4, 1}, Addressing::clamp);
  Ramp reader;
  const Texel texel = gather(texture, {.at = {2, 3}}, 0, reader);
  EXPECT_EQ(texel.channels, bits(31, 32, 22, 21));
}

}  // namespace
}  // namespace emulator
