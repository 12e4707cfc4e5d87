#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/bulk_box.h"
#include "emulator/machine/instructions/destinations.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/mbarrier_object.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/instructions/tensor_map_access.h"
#include "emulator/machine/tensor_box.h"

// Copies of a box of a tensor that a tensor map describes.
namespace emulator {
namespace {

constexpr std::uint64_t shared_alignment = 128;  // of a box in shared memory

Coordinates coordinates_of(Warp& warp, const CopySite& site, int lane) {
  Coordinates at{};
  for (std::size_t i = 0; i < site.coordinates.size(); ++i)
    at[i] = warp.at<std::int32_t>(site.coordinates[i])[lane];
  return at;
}

/// Finds the box's place in shared memory. Throws LaneFault where it does not fit.
Target locate_box(Warp& warp, ptx::Space space, int lane, std::uint64_t address, std::size_t bytes,
                  Access access) {
  const Target first = locate(warp, space, lane, address, 16, access);
  if (first.offset % shared_alignment != 0)
    warp.fault(FaultKind::misaligned_address, lane,
               fmt::format("a box of a tensor at {:#x} of shared memory: it is no multiple of {}",
                           first.offset, shared_alignment));
  locate(warp, space, lane, address + bytes - 16, 16, access);
  return first;
}

/// Global memory behind a map. Elements that lie elsewhere show a wrong address or stride.
class Tensor {
 public:
  Tensor(Warp& warp, int lane, const TensorMap& map)
      : warp_(warp), lane_(lane), map_(map), memory_(warp.block().context().memory) {}

  /// Throws LaneFault unless the row lies in the allocation at the map's address.
  void check(const BoxRow& row) {
    if (!is_found_) allocation_ = memory_.find(map_.address);
    is_found_ = true;
    if (!allocation_) fail(row, 0);
    const std::uint64_t offset = row.address - allocation_->begin;
    if (offset >= allocation_->bytes) fail(row, 0);
    if (row.bytes > allocation_->bytes - offset)
      fail(row, (allocation_->bytes - offset) / bytes_of(map_.type));
  }

 private:
  [[noreturn]] void fail(const BoxRow& row, std::size_t element) const {
    Coordinates at = row.first;
    at[0] += static_cast<std::int64_t>(element);
    const std::uint64_t address = row.address + element * bytes_of(map_.type);
    warp_.fault(FaultKind::illegal_address, lane_,
                fmt::format("element {} of the tensor at {:#x} lies at {:#x}: it is {}",
                            text_of(map_, at), map_.address, address, memory_.describe(address)));
  }

  Warp& warp_;
  int lane_;
  const TensorMap& map_;
  Memory& memory_;
  bool is_found_ = false;
  std::optional<Allocation> allocation_{};
};

/// Finds the parts of global memory within the box, and notes their use.
void add_pieces(Box& box, BulkAccess& access, Warp& warp, int lane, const TensorMap& map,
                const Coordinates& at, std::uint64_t shared_offset) {
  Tensor tensor(warp, lane, map);
  for_each_row(map, at, [&](const BoxRow& row) {
    tensor.check(row);
    for (std::size_t done = 0; done < row.bytes;) {
      const std::uint64_t address = row.address + done,
                          place = swizzled(map.swizzle, shared_offset + row.box_offset + done);
      // Up to the end of a chunk, and as much as an access may have there.
      const std::size_t most = std::min(row.bytes - done, 16 - place % 16);
      const std::size_t bytes =
          std::min(std::bit_floor(most), std::size_t{1} << std::countr_zero(address | 16));
      access.add(box, address, static_cast<std::uint32_t>(place - shared_offset),
                 static_cast<unsigned>(bytes));
      done += bytes;
    }
  });
}

bool flushes(TensorElement type) {
  return type == TensorElement::f32_ftz || type == TensorElement::tf32_ftz;
}
bool is_tf32(TensorElement type) {
  return type == TensorElement::tf32 || type == TensorElement::tf32_ftz;
}
constexpr std::uint32_t exponent_bits = 0x7f800000, below_tf32 = 0x1fff;

bool is_subnormal(std::uint32_t bits) {
  return (bits & exponent_bits) == 0 && (bits & 0x7fffffff) != 0;
}

void flush(std::byte* elements, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 4) {
    std::uint32_t bits;
    std::memcpy(&bits, elements + at, 4);
    if (is_subnormal(bits)) bits &= 0x80000000u;
    std::memcpy(elements + at, &bits, 4);
  }
}

/// Refuses values of which no document says what becomes of them.
void check_values(Warp& warp, int lane, const TensorMap& map, const Box& box,
                  const std::byte* shared) {
  if (!flushes(map.type) && !is_tf32(map.type)) return;
  const bool is_store = shared != nullptr;
  for (const BoxPiece& piece : box.pieces)
    for (std::uint32_t at = 0; at < piece.bytes; at += 4) {
      std::uint32_t bits;
      std::memcpy(&bits, is_store ? shared + piece.at + at : piece.data + at, 4);
      if (is_tf32(map.type) && (bits & exponent_bits) != exponent_bits && (bits & below_tf32) != 0)
        warp.fault(
            FaultKind::undefined, lane,
            fmt::format("a copy of {:#010x} as TFLOAT32: how it is rounded is not documented",
                        bits));
      if (is_store && flushes(map.type) && is_subnormal(bits))
        warp.fault(FaultKind::undefined, lane,
                   fmt::format("a store of the subnormal {:#010x} as {}: whether it is flushed is "
                               "not documented",
                               bits, name_of(map.type)));
    }
}

/// Zeros, or NaNs: which ones is not documented.
std::vector<std::byte> fill_of(const TensorMap& map) {
  std::vector<std::byte> fill(map.box_bytes());
  if (!map.fills_with_nan) return fill;
  const std::size_t bytes = bytes_of(map.type);
  for (std::size_t i = 0; i < fill.size(); ++i)
    fill[i] = i % bytes == bytes - 1 ? std::byte{0x7f} : std::byte{0xff};
  return fill;
}

AsyncCopy new_copy(Warp& warp, const Code& code, int lane, const TensorMap& map) {
  AsyncCopy copy;
  copy.code = &code;
  copy.warp = &warp;
  copy.lane = lane;
  copy.is_bulk = true;
  copy.bytes = map.box_bytes();
  return copy;
}

void load(Warp& warp, const Code& code, Mask lanes) {
  const CopySite& site = *code.copy;
  for_lanes(lanes, [&](int lane) {
    const TensorMap map = read_tensor_map(warp, lane, lane_address(warp, site.from, lane),
                                          static_cast<unsigned>(site.coordinates.size()));
    for (const Destination& each : destinations_of(warp, site, lane)) {
      AsyncCopy copy = new_copy(warp, code, lane, map);
      const Target to = locate_box(warp, site.to.space, lane, each.to, copy.bytes, Access::write);
      const auto box = std::make_shared<Box>();
      box->fill = fill_of(map);
      if (flushes(map.type)) box->convert = flush;
      BulkAccess access(warp, lane, Access::copy);
      add_pieces(*box, access, warp, lane, map, coordinates_of(warp, site, lane), to.offset);
      check_values(warp, lane, map, *box, nullptr);
      copy.box = box;
      start_at(warp, lane, std::move(copy), to, site.barrier.space, each.barrier);
    }
  });
}

/// variant: a ReduceOp.
void store(Warp& warp, const Code& code, Mask lanes) {
  const CopySite& site = *code.copy;
  const auto op = static_cast<ReduceOp>(code.variant);
  for_lanes(lanes, [&](int lane) {
    const TensorMap map = read_tensor_map(warp, lane, lane_address(warp, site.to, lane),
                                          static_cast<unsigned>(site.coordinates.size()));
    Block& block = warp.block();
    AsyncCopy copy = new_copy(warp, code, lane, map);
    const Target from = locate_box(warp, site.from.space, lane, lane_address(warp, site.from, lane),
                                   copy.bytes, Access::copy);
    copy.shared_from = from.offset;
    copy.from = from.data;
    const auto box = std::make_shared<Box>();
    if (op != ReduceOp::none) {
      box->reduce = map.type == TensorElement::f64 ? nullptr : find_reduction(op, map.type);
      if (box->reduce == nullptr)
        warp.fault(FaultKind::undefined, lane,
                   fmt::format("the PTX ISA has no such reduction of {}", name_of(map.type)));
    }
    BulkAccess access(warp, lane, op == ReduceOp::none ? Access::write : Access::atomic);
    add_pieces(*box, access, warp, lane, map, coordinates_of(warp, site, lane), *copy.shared_from);
    check_values(warp, lane, map, *box, copy.from);
    if (op != ReduceOp::none) check_source_written(warp, lane, *box, *copy.shared_from);
    copy.box = box;
    block.async().start(std::move(copy));
  });
}

void prefetch(Warp& warp, const Code& code, Mask lanes) {
  const CopySite& site = *code.copy;
  for_lanes(lanes, [&](int lane) {
    read_tensor_map(warp, lane, lane_address(warp, site.from, lane),
                    static_cast<unsigned>(site.coordinates.size()));
  });
}

std::size_t take_rank(Decoder& decoder) {
  constexpr std::string_view names[] = {"1d", "2d", "3d", "4d", "5d"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (decoder.take(names[i])) return i + 1;
  decoder.fail("a number of dimensions is missing");
}

/// Only tiles: what the other modes need is left over, and named.
void take_mode(Decoder& decoder) {
  if (!decoder.take("tile") && decoder.instruction().has("im2col"))
    decoder.fail("copies of the mode im2col are not implemented");
}

/// [map, {coordinates}]
AddressPlace take_map(Decoder& decoder, std::size_t index, std::size_t rank, CopySite& site) {
  const ptx::Operand& operand = decoder.operand(index);
  if (operand.kind != ptx::OperandKind::address || operand.elements.size() != 2)
    decoder.fail("a tensor map in brackets is needed, with coordinates");
  const ptx::Operand &base = operand.elements[0], &all = operand.elements[1];
  AddressPlace map{.offset = operand.offset};
  if (base.kind == ptx::OperandKind::symbol) {
    const SymbolAddress symbol = decoder.layout().symbol(base.name, decoder.instruction().line);
    if (!symbol.relocated) decoder.fail("the address of a tensor map is generic here");
    map.base = decoder.layout().address_of(symbol, base.name, 0, 8);
  } else {
    map.base = decoder.source(base, ptx::Type::b64);
  }
  if (all.kind != ptx::OperandKind::vector || all.elements.size() != rank)
    decoder.fail("another number of coordinates is needed");
  for (const ptx::Operand& each : all.elements)
    site.coordinates.push_back(decoder.source(each, ptx::Type::s32));
  return map;
}

CopySite& new_site(Decoder& decoder) {
  CopySite& site = decoder.layout().code().copy_sites.emplace_back();
  decoder.code.copy = &site;
  return site;
}

void decode_store(Decoder& decoder, std::size_t rank) {
  decoder.expect("global");
  decoder.expect("shared::cta");
  take_mode(decoder);
  decoder.expect("bulk_group");
  if (decoder.take_cache_policy() != 2) decoder.fail("a store of a tensor has two operands");
  CopySite& site = new_site(decoder);
  site.to = take_map(decoder, 0, rank, site);
  site.from = decoder.address_in(1, ptx::Space::shared);
  decoder.emit(store);
}

void decode_load(Decoder& decoder, std::size_t rank) {
  const bool cluster = decoder.take("shared::cluster");
  if (!cluster) decoder.expect("shared::cta");
  const ptx::Space to = cluster ? ptx::Space::cluster : ptx::Space::shared;
  decoder.expect("global");
  take_mode(decoder);
  decoder.expect("mbarrier::complete_tx::bytes");
  CopySite& site = new_site(decoder);
  site.has_blocks = cluster && decoder.take("multicast::cluster");
  if (decoder.take_cache_policy() != (site.has_blocks ? 4 : 3))
    decoder.fail("a load of a tensor of this form has another number of operands");
  site.to = decoder.address_in(0, to);
  site.from = take_map(decoder, 1, rank, site);
  site.barrier = decoder.address_in(2, to);
  site.has_barrier = true;
  if (site.has_blocks) site.blocks = decoder.source(3, ptx::Type::u16);
  decoder.emit(load);
}

}  // namespace

void decode_tensor_copy(Decoder& decoder) {
  const std::size_t rank = take_rank(decoder);
  // The destination's space comes behind the number of dimensions.
  const auto& modifiers = decoder.instruction().modifiers;
  const bool to_global = modifiers.size() > 4 && modifiers[4] == "global";
  to_global ? decode_store(decoder, rank) : decode_load(decoder, rank);
}

void decode_tensor_prefetch(Decoder& decoder) {
  const std::size_t rank = take_rank(decoder);
  decoder.expect("L2");
  decoder.expect("global");
  take_mode(decoder);
  if (decoder.take_cache_policy() != 1) decoder.fail("a prefetch of a tile has one operand");
  CopySite& site = new_site(decoder);
  site.from = take_map(decoder, 0, rank, site);
  decoder.emit(prefetch);
}

void decode_tensor_reduction(Decoder& decoder) {
  const std::size_t rank = take_rank(decoder);
  decoder.code.variant = static_cast<unsigned char>(take_reduction(decoder));
  decode_store(decoder, rank);
}

}  // namespace emulator
