#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emulator/machine/block.h"
#include "emulator/machine/image_access.h"

// tex, tld4 and txq of texture objects (.texmode_unified).
namespace emulator {
namespace {

double coordinate(Warp& warp, const ImageSite& site, std::size_t which, int lane) {
  const Place place = site.coordinates[which];
  return site.is_whole ? static_cast<double>(warp.at<std::int32_t>(place)[lane])
                       : static_cast<double>(warp.at<float>(place)[lane]);
}

std::size_t layers(const Texture& texture) {
  const std::size_t all = texture.levels.front().size[2];
  return texture.shape == ImageShape::cubes ? all / 6 : all;
}

Position position_of(Warp& warp, const ImageSite& site, const Texture& texture, int lane) {
  Position position{.is_whole = site.is_whole};
  for (std::size_t k = 0; k < site.coordinates.size(); ++k)
    position.at[k] = coordinate(warp, site, k, lane);
  if (!site.has_layer) return position;
  position.layer = warp.at<std::uint32_t>(site.layer)[lane];
  if (position.layer >= layers(texture))
    warp.fault(FaultKind::illegal_address, lane,
               fmt::format("layer {} of a texture that has {}", position.layer, layers(texture)));
  return position;
}

void set_values(Warp& warp, const ImageSite& site, int lane, const Texel& texel,
                LoadedBits& undefined) {
  for (std::size_t k = 0; k < site.values.size(); ++k) {
    warp.at<std::uint32_t>(site.values[k])[lane] = texel.channels[k];
    if ((texel.undefined >> k & 1) != 0) undefined.add(k, lane, 0xffffffffu, texel.is_result);
  }
}

/// Memory without rows: out of it lie zeros (programming guide, tex1Dfetch).
Texel fetch_linear(Warp& warp, const ImageSite& site, const Texture& texture, int lane,
                   TexelReader& reader) {
  if (!site.is_whole)
    warp.fault(FaultKind::undefined, lane,
               "a texture of linear memory is fetched by whole numbers only (tex1Dfetch)");
  const auto index = warp.at<std::int32_t>(site.coordinates[0])[lane];
  if (index < 0 || static_cast<std::size_t>(index) >= texture.levels.front().size[0]) return {};
  return sample(texture, {.at = {static_cast<double>(index)}, .is_whole = true}, 0, reader);
}

double level_of(Warp& warp, const ImageSite& site, const Texture& texture, int lane) {
  if (site.has_gradients && texture.levels.size() > 1)
    warp.fault(FaultKind::undefined, lane,
               "how gradients choose a level of a mipmap is not documented, nor emulated");
  if (!site.has_level) return 0;
  return site.is_whole ? static_cast<double>(warp.at<std::int32_t>(site.level)[lane])
                       : static_cast<double>(warp.at<float>(site.level)[lane]);
}

void fetch(Warp& warp, const Code& code, Mask lanes) {
  const ImageSite& site = *code.image;
  LaneImages images(warp, site.handle);
  LoadedBits undefined;
  std::array<Texel, warp_lanes> texels;  // a coordinate may be one of the destinations
  for_lanes(lanes, [&](int lane) {
    const Texture& texture = images.texture(lane);
    LaneReader reader(warp, code, lane);
    Texel& texel = texels[static_cast<std::size_t>(lane)];
    if (site.shape == ImageShape::one && texture.shape == ImageShape::linear) {
      texel = fetch_linear(warp, site, texture, lane, reader);
      return;
    }
    check_shape(warp, lane, site.shape, texture.shape);
    texel = sample(texture, position_of(warp, site, texture, lane),
                   level_of(warp, site, texture, lane), reader);
  });
  for_lanes(lanes, [&](int lane) {
    set_values(warp, site, lane, texels[static_cast<std::size_t>(lane)], undefined);
  });
  warp.predicate(site.predicate) |= lanes;  // all texels are resident
  undefined.note(warp, site, lanes);
}

void gather_texels(Warp& warp, const Code& code, Mask lanes) {
  const ImageSite& site = *code.image;
  LaneImages images(warp, site.handle);
  LoadedBits undefined;
  std::array<Texel, warp_lanes> texels;
  for_lanes(lanes, [&](int lane) {
    const Texture& texture = images.texture(lane);
    check_shape(warp, lane, site.shape, texture.shape);
    if (!texture.can_gather)
      warp.fault(FaultKind::undefined, lane,
                 "a gather from an array that was made without cudaArrayTextureGather");
    LaneReader reader(warp, code, lane);
    texels[static_cast<std::size_t>(lane)] =
        gather(texture, position_of(warp, site, texture, lane), site.channel, reader);
  });
  for_lanes(lanes, [&](int lane) {
    set_values(warp, site, lane, texels[static_cast<std::size_t>(lane)], undefined);
  });
  warp.predicate(site.predicate) |= lanes;
  undefined.note(warp, site, lanes);
}

void take_values(Decoder& decoder, ImageSite& site, ptx::Type type) {
  const ptx::Operand& vector = decoder.operand(0);
  if (vector.kind != ptx::OperandKind::vector || vector.elements.size() != 4)
    decoder.fail("a fetch gives a vector of four");
  for (const ptx::Operand& element : vector.elements) {
    site.values.push_back(decoder.destination(element, type));
    site.value_bytes.push_back(decoder.is_register(element) ? 4 : 0);
  }
  site.predicate = decoder.second_destination(0);
}

/// .v4, the type of the values and the one of the coordinates.
ptx::Type take_types(Decoder& decoder, ImageSite& site) {
  decoder.expect("v4");
  const ptx::Type value = decoder.type(), position = decoder.type();
  if (ptx::bytes_of(value) != 4 || value == ptx::Type::b32 || value == ptx::Type::f16x2)
    decoder.fail_type(value);
  if (position != ptx::Type::s32 && position != ptx::Type::f32) decoder.fail_type(position);
  site.is_whole = position == ptx::Type::s32;
  take_values(decoder, site, value);
  return position;
}

void decode_tex(Decoder& decoder) {
  ImageSite& site = decoder.layout().code().image_sites.emplace_back();
  site.has_level = decoder.take("level");
  site.has_gradients = !site.has_level && decoder.take("grad");
  decoder.take("base");
  site.shape = take_geometry(decoder);
  const ptx::Type position = take_types(decoder, site);
  const bool is_cube = site.shape == ImageShape::cube || site.shape == ImageShape::cubes;
  if (is_cube && site.is_whole) decoder.fail_type(position);
  take_image(decoder, 1, site, position);
  decoder.expect_operands(site.has_gradients ? 4 : site.has_level ? 3 : 2);
  if (site.has_level) site.level = decoder.source(2, position);
  decoder.code.image = &site;
  decoder.emit(fetch);
}

void decode_tld4(Decoder& decoder) {
  ImageSite& site = decoder.layout().code().image_sites.emplace_back();
  constexpr std::string_view channels[] = {"r", "g", "b", "a"};
  const auto channel =
      std::ranges::find_if(channels, [&](auto name) { return decoder.take(name); });
  if (channel == std::end(channels)) decoder.fail("a channel is missing");
  site.channel = static_cast<unsigned>(channel - std::begin(channels));
  site.shape = take_geometry(decoder);
  if (site.shape != ImageShape::two) decoder.fail("a gather of this geometry is not implemented");
  const ptx::Type position = take_types(decoder, site);
  if (site.is_whole) decoder.fail_type(position);
  take_image(decoder, 1, site, position);
  decoder.expect_operands(2);
  decoder.code.image = &site;
  decoder.emit(gather_texels);
}

enum Query : unsigned char { width, height, depth, array_size, mipmap_levels, normalized };

std::uint32_t answer(const Texture& texture, unsigned char query) {
  const auto& size = texture.levels.front().size;
  const bool has_layers = texture.shape != ImageShape::three;
  switch (query) {
    case width:
      return static_cast<std::uint32_t>(size[0]);
    case height:
      return static_cast<std::uint32_t>(size[1]);
    case depth:
      return static_cast<std::uint32_t>(has_layers ? 1 : size[2]);
    case array_size:
      return static_cast<std::uint32_t>(has_layers ? size[2] : 1);
    case mipmap_levels:
      return static_cast<std::uint32_t>(texture.levels.size());
    default:
      return texture.has_normalized_coordinates ? 1 : 0;
  }
}

template <bool is_surface>
void query(Warp& warp, const Code& code, Mask lanes) {
  LaneImages images(warp, code.a);
  auto* d = warp.at<std::uint32_t>(code.d);
  for_lanes(lanes, [&](int lane) {
    if constexpr (is_surface) {
      const Surface& surface = images.surface(lane);
      d[lane] = answer({.shape = surface.shape, .levels = {surface.image}}, code.variant);
    } else {
      d[lane] = answer(images.texture(lane), code.variant);
    }
  });
}

template <bool is_surface>
void decode_query(Decoder& decoder) {
  struct Row {
    std::string_view name;
    Query query;
  };
  static constexpr std::array<Row, 6> rows{{{"width", width},
                                            {"height", height},
                                            {"depth", depth},
                                            {"array_size", array_size},
                                            {"num_mipmap_levels", mipmap_levels},
                                            {"normalized_coords", normalized}}};
  const Row* row = decoder.take_row(rows);
  if (row == nullptr || (is_surface && row->query >= mipmap_levels))
    decoder.fail("a query of this property is not implemented");
  decoder.code.variant = row->query;
  if (decoder.type() != ptx::Type::b32) decoder.fail("a query gives .b32");
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::b32);
  const ptx::Operand& object = decoder.operand(1);
  if (object.kind != ptx::OperandKind::address || object.elements.size() != 1 ||
      object.offset != 0 || !decoder.is_register(object.elements[0]))
    decoder.fail("a texture or surface is a handle in a register");
  decoder.code.a = decoder.source(object.elements[0], ptx::Type::u64);
  decoder.emit(query<is_surface>);
}

const Opcodes opcodes{{"tex", decode_tex},
                      {"tld4", decode_tld4},
                      {"txq", decode_query<false>},
                      {"suq", decode_query<true>}};

}  // namespace
}  // namespace emulator
