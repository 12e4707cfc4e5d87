#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/machine/block.h"
#include "emulator/machine/image_access.h"
#include "emulator/machine/undefined.h"

// suld.b and sust.b of surface objects: x counts bytes, the other coordinates texels.
namespace emulator {
namespace {

enum Boundary : unsigned char { trap, clamp, zero };

/// The address of a lane's access; 0: outside, where loads give zeros and stores do nothing.
std::uintptr_t place_of(Warp& warp, const Code& code, const Surface& surface, int lane,
                        unsigned bytes) {
  const ImageSite& site = *code.image;
  const Image& image = surface.image;
  // The faces of a cube are layers.
  const bool is_face = site.shape == ImageShape::layers_of_two &&
                       (surface.shape == ImageShape::cube || surface.shape == ImageShape::cubes);
  if (!is_face) check_shape(warp, lane, site.shape, surface.shape);
  std::array<std::int64_t, 3> at{};
  for (std::size_t k = 0; k < site.coordinates.size(); ++k)
    at[k] = warp.at<std::int32_t>(site.coordinates[k])[lane];
  if (site.has_layer) at[2] = warp.at<std::uint32_t>(site.layer)[lane];
  const unsigned texel = image.format.bytes();
  if (at[0] % bytes != 0)
    warp.fault(FaultKind::misaligned_address, lane,
               fmt::format("byte {} of a row of a surface is no multiple of {}", at[0], bytes));
  if (bytes > texel)
    warp.fault(
        FaultKind::undefined, lane,
        fmt::format("an access of {} bytes to a surface whose texels have {}", bytes, texel));
  const std::array<std::int64_t, 3> last{static_cast<std::int64_t>(image.size[0] * texel - bytes),
                                         static_cast<std::int64_t>(image.size[1]) - 1,
                                         static_cast<std::int64_t>(image.size[2]) - 1};
  for (std::size_t k = 0; k < 3; ++k) {
    if (at[k] >= 0 && at[k] <= last[k]) continue;
    if (code.variant == zero) return 0;
    if (code.variant == trap)
      warp.fault(FaultKind::illegal_address, lane,
                 fmt::format("({}, {}, {}) is outside of a surface of {} bytes by {} by {}", at[0],
                             at[1], at[2], image.size[0] * texel, image.size[1], image.size[2]));
    at[k] = std::clamp<std::int64_t>(at[k], 0, last[k]);
  }
  return image.at(0, static_cast<std::size_t>(at[1]), static_cast<std::size_t>(at[2])) +
         static_cast<std::uintptr_t>(at[0]);
}

void load(Warp& warp, const Code& code, Mask lanes) {
  const ImageSite& site = *code.image;
  const unsigned each = site.element_bytes,
                 bytes = each * static_cast<unsigned>(site.values.size());
  LaneImages images(warp, site.handle);
  LoadedBits undefined;
  std::array<TexelReader::Raw, warp_lanes> loaded;
  for_lanes(lanes, [&](int lane) {
    TexelReader::Raw& raw = loaded[static_cast<std::size_t>(lane)];
    if (const auto address = place_of(warp, code, images.surface(lane), lane, bytes); address != 0)
      raw = LaneReader(warp, code, lane).read_bytes(address, bytes);
  });
  for_lanes(lanes, [&](int lane) {
    const TexelReader::Raw& raw = loaded[static_cast<std::size_t>(lane)];
    for (std::size_t k = 0; k < site.values.size(); ++k) {
      const std::uint32_t wide = std::max(site.value_bytes[k], 1u);
      std::byte* to =
          warp.at<std::byte>(site.values[k]) + std::size_t{wide} * static_cast<unsigned>(lane);
      std::memset(to, 0, wide);
      std::memcpy(to, raw.bytes.data() + k * each, std::min(each, wide));
      const unsigned holes = raw.undefined >> (k * each) & ((1u << each) - 1);
      if (holes != 0) undefined.add(k, lane, bits_of_bytes(holes), raw.is_result);
    }
  });
  undefined.note(warp, site, lanes);
}

void store(Warp& warp, const Code& code, Mask lanes) {
  const ImageSite& site = *code.image;
  const unsigned each = site.element_bytes,
                 bytes = each * static_cast<unsigned>(site.values.size());
  LaneImages images(warp, site.handle);
  const bool follows = warp.frame()->undefined != nullptr;
  for_lanes(lanes, [&](int lane) {
    const std::uintptr_t address = place_of(warp, code, images.surface(lane), lane, bytes);
    if (address == 0) return;
    const Target target = locate(warp, ptx::Space::global, lane, address, bytes, Access::write);
    alignas(16) std::array<std::byte, 16> values;
    StoredBytes stored;
    for (std::size_t k = 0; k < site.values.size(); ++k) {
      const Place place = site.values[k];
      const std::byte* from = warp.at<std::byte>(place) +
                              std::size_t{site.value_bytes[k]} * static_cast<unsigned>(lane);
      std::memcpy(values.data() + k * each, from, each);
      if (follows && place.bank == 0)
        stored.add(*warp.frame()->undefined,
                   {place.offset, static_cast<std::uint8_t>(site.value_bytes[k])}, lane,
                   static_cast<unsigned>(k) * each, each);
    }
    stored.check(warp, lane, target, bytes);
    note_write(warp, code, lane, target, bytes, values.data());
    std::memcpy(target.data, values.data(), bytes);
    stored.mark(target);
  });
}

std::size_t take_elements(Decoder& decoder) {
  return decoder.take("v2") ? 2 : decoder.take("v4") ? 4 : 1;
}

void take_boundary(Decoder& decoder) {
  decoder.code.variant = decoder.take("clamp") ? clamp : decoder.take("zero") ? zero : trap;
  decoder.take("trap");
}

/// Registers of the value: as wide as their elements, or wider for .b8.
void take_values(Decoder& decoder, ImageSite& site, std::size_t index, std::size_t count,
                 ptx::Type type, bool is_load) {
  const ptx::Operand& value = decoder.operand(index);
  const std::vector<ptx::Operand> one{value};
  const auto& elements = value.kind == ptx::OperandKind::vector ? value.elements : one;
  if (elements.size() != count) decoder.fail("the vector has another number of elements");
  site.element_bytes = static_cast<unsigned>(ptx::bytes_of(type));
  if (site.element_bytes * count > 16) decoder.fail("a vector has at most 16 bytes");
  for (const ptx::Operand& element : elements) {
    const bool is_register = decoder.is_register(element);
    const ptx::Type given = is_register ? decoder.register_type(element) : type;
    const bool is_wider = site.element_bytes == 1 && ptx::bytes_of(given) == 2;
    const ptx::Type width = is_wider ? ptx::Type::b16 : type;
    site.values.push_back(is_load ? decoder.destination(element, width)
                                  : decoder.source(element, width));
    const bool is_read = is_register || !is_load;
    site.value_bytes.push_back(is_read ? static_cast<std::uint32_t>(ptx::bytes_of(width)) : 0);
  }
}

ImageSite& begin(Decoder& decoder) {
  if (decoder.take("p")) decoder.fail("formatted access to surfaces is not implemented");
  decoder.expect("b");
  ImageSite& site = decoder.layout().code().image_sites.emplace_back();
  site.shape = take_geometry(decoder);
  if (site.shape >= ImageShape::cube) decoder.fail("surfaces do not have this geometry");
  decoder.take_cache_hints();
  decoder.expect_operands(2);
  decoder.code.image = &site;
  return site;
}

ptx::Type element_type(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (!ptx::is_bits(type) || type == ptx::Type::b128) decoder.fail_type(type);
  return type;
}

void decode_suld(Decoder& decoder) {
  ImageSite& site = begin(decoder);
  const std::size_t count = take_elements(decoder);
  const ptx::Type type = element_type(decoder);
  take_boundary(decoder);
  take_values(decoder, site, 0, count, type, true);
  take_image(decoder, 1, site, ptx::Type::s32);
  decoder.emit(load);
}

void decode_sust(Decoder& decoder) {
  ImageSite& site = begin(decoder);
  const std::size_t count = take_elements(decoder);
  const ptx::Type type = element_type(decoder);
  take_boundary(decoder);
  take_image(decoder, 0, site, ptx::Type::s32);
  take_values(decoder, site, 1, count, type, false);
  decoder.emit(store);
}

const Opcodes opcodes{{"suld", decode_suld}, {"sust", decode_sust}};

}  // namespace
}  // namespace emulator
