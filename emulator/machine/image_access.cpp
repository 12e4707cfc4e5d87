#include "emulator/machine/image_access.h"

#include <fmt/format.h>

#include <cstring>

#include "emulator/machine/block.h"
#include "emulator/machine/undefined.h"

namespace emulator {
namespace {

const char* name_of(ImageShape shape) {
  constexpr const char* names[] = {"linear memory", "1D",         "2D",   "3D",
                                   "layered 1D",    "layered 2D", "cube", "layered cube"};
  return names[static_cast<std::size_t>(shape)];
}

}  // namespace

template <class Object, class Find>
const Object& LaneImages::find(int lane, std::shared_ptr<const Object>& last, const char* name,
                               Find find) {
  const std::uint64_t handle = handles_[lane];
  if (last != nullptr && handle == last_handle_) return *last;
  const Launch& launch = warp_.block().context().launch;
  last = launch.images == nullptr ? nullptr : find(*launch.images, handle);
  if (last == nullptr)
    warp_.fault(FaultKind::illegal_address, lane,
                fmt::format("{:#x} is no {} object, or no longer one", handle, name));
  if (last->gpu != launch.gpu)
    warp_.fault(FaultKind::illegal_address, lane,
                fmt::format("the {} object {:#x} belongs to GPU {}", name, handle, last->gpu));
  last_handle_ = handle;
  return *last;
}

const Texture& LaneImages::texture(int lane) {
  return find(lane, texture_, "texture",
              [](const ImageObjects& all, std::uint64_t handle) { return all.texture(handle); });
}

const Surface& LaneImages::surface(int lane) {
  return find(lane, surface_, "surface",
              [](const ImageObjects& all, std::uint64_t handle) { return all.surface(handle); });
}

void check_shape(Warp& warp, int lane, ImageShape wanted, ImageShape is) {
  if (wanted == is) return;
  warp.fault(FaultKind::undefined, lane,
             fmt::format("a {} access to an object of shape {}", name_of(wanted), name_of(is)));
}

TexelReader::Raw LaneReader::read(const Image& image, std::size_t x, std::size_t y, std::size_t z) {
  return read_bytes(image.at(x, y, z), image.format.bytes());
}

TexelReader::Raw LaneReader::read_bytes(std::uintptr_t address, unsigned bytes) {
  Raw raw;
  const Target target = locate(warp_, ptx::Space::global, lane_, address, bytes, Access::load);
  note_read(warp_, code_, lane_, target, bytes);
  if (target.written != nullptr && !all_written(target.written, bytes)) {
    UndefinedBytes undefined;
    undefined.look(warp_, code_, lane_, target, bytes);
    raw.undefined = undefined.of(lane_);
    raw.is_result = has_lane(undefined.results, lane_);
  }
  std::memcpy(raw.bytes.data(), target.data, bytes);
  return raw;
}

void LoadedBits::add(std::size_t value, int lane, std::uint64_t bits, bool is_result) {
  any_ = true;
  bits_[value][static_cast<std::size_t>(lane)] = bits;
  if (is_result) results_ |= Mask{1} << lane;
}

void LoadedBits::note(Warp& warp, const ImageSite& site, Mask lanes) {
  if (!any_) return;
  for (std::size_t k = 0; k < site.values.size(); ++k)
    if (site.value_bytes[k] != 0)
      note_loaded(warp, {site.values[k].offset, static_cast<std::uint8_t>(site.value_bytes[k])},
                  lanes, results_ & lanes, bits_[k].data());
}

void take_image(Decoder& decoder, std::size_t index, ImageSite& site, ptx::Type coordinate) {
  const ptx::Operand& operand = decoder.operand(index);
  if (operand.kind != ptx::OperandKind::address || operand.elements.size() != 2 ||
      operand.offset != 0 || !decoder.is_register(operand.elements[0]))
    decoder.fail("a texture or surface is a handle in a register, with coordinates");
  site.handle = decoder.source(operand.elements[0], ptx::Type::u64);
  const ptx::Operand& all = operand.elements[1];
  const std::vector<ptx::Operand> one{all};
  const auto& elements = all.kind == ptx::OperandKind::vector ? all.elements : one;
  std::size_t count = 2, padded = 2, at = 0;
  switch (site.shape) {
    case ImageShape::linear:
    case ImageShape::one:
      count = padded = 1;
      break;
    case ImageShape::two:
      break;
    case ImageShape::layers_of_one:
      count = 1;
      padded = 2;
      break;
    case ImageShape::three:
    case ImageShape::cube:
      count = 3;
      padded = 4;
      break;
    case ImageShape::layers_of_two:
      padded = 4;
      break;
    case ImageShape::cubes:
      count = 3;
      padded = 4;
      break;
  }
  if (elements.size() != padded) decoder.fail("another number of coordinates is needed");
  site.has_layer = site.shape == ImageShape::layers_of_one ||
                   site.shape == ImageShape::layers_of_two || site.shape == ImageShape::cubes;
  if (site.has_layer) site.layer = decoder.source(elements[at++], ptx::Type::u32);
  for (std::size_t k = 0; k < count; ++k)
    site.coordinates.push_back(decoder.source(elements[at++], coordinate));
}

ImageShape take_geometry(Decoder& decoder) {
  struct Row {
    std::string_view name;
    ImageShape shape;
  };
  static constexpr std::array<Row, 7> rows{{{"1d", ImageShape::one},
                                            {"2d", ImageShape::two},
                                            {"3d", ImageShape::three},
                                            {"a1d", ImageShape::layers_of_one},
                                            {"a2d", ImageShape::layers_of_two},
                                            {"cube", ImageShape::cube},
                                            {"acube", ImageShape::cubes}}};
  const Row* row = decoder.take_row(rows);
  if (row == nullptr) decoder.fail("a geometry is missing that is known here");
  return row->shape;
}

}  // namespace emulator
