#include <fmt/format.h>

#include <array>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/bulk_box.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"

// cp.reduce.async.bulk, which updates global memory.
namespace emulator {

void BulkAccess::add(Box& box, std::uint64_t address, std::uint32_t at, unsigned bytes) {
  Block& block = warp_.block();
  const Target target = locate(warp_, ptx::Space::generic, lane_, address, bytes, access_);
  if (target.space != ptx::Space::global)
    warp_.fault(FaultKind::illegal_address, lane_,
                fmt::format("{:#x} is not in global memory", address));
  if (target.window != nullptr) {
    if (access_ == Access::copy) {
      block.global_races.read(warp_, lane_, target, bytes, false);
    } else if (access_ == Access::write) {
      block.global_races.write(warp_, lane_, target, bytes, false, {target, nullptr, bytes});
    } else {
      block.context().late_stores.end(address);
      note_atomic(warp_, *warp_.current(), lane_, target, bytes, true);
    }
  }
  const bool is_managed = target.window != nullptr && target.window->is_managed;
  std::uint8_t* const written = is_managed ? nullptr : target.written;
  if (!box.pieces.empty()) {
    BoxPiece& last = box.pieces.back();
    const bool goes_on = last.at + last.bytes == at && last.data + last.bytes == target.data &&
                         (last.written == nullptr) == (written == nullptr);
    if (goes_on) {
      last.bytes += bytes;
      return;
    }
  }
  box.pieces.push_back({target.data, written, at, bytes});
}

void check_source_written(Warp& warp, int lane, const Box& box, std::uint64_t shared_offset) {
  const GuardedWords& guards = warp.block().async().guards;
  for (const BoxPiece& piece : box.pieces)
    for (std::uint32_t i = 0; i < piece.bytes; ++i) {
      const std::uint64_t offset = shared_offset + piece.at + i;
      if (guards.mark(offset) == mark_written) continue;
      warp.find(
          FaultKind::uninitialised_read, lane,
          fmt::format("reduces with the byte at {:#x} of shared memory: nothing has written it",
                      offset));
      return;
    }
}

ReduceOp take_reduction(Decoder& decoder) {
  struct Row {
    std::string_view name;
    ReduceOp op;
  };
  static constexpr std::array<Row, 8> rows{{{"add", ReduceOp::add},
                                            {"min", ReduceOp::min},
                                            {"max", ReduceOp::max},
                                            {"inc", ReduceOp::inc},
                                            {"dec", ReduceOp::dec},
                                            {"and", ReduceOp::bit_and},
                                            {"or", ReduceOp::bit_or},
                                            {"xor", ReduceOp::bit_xor}}};
  const Row* row = decoder.take_row(rows);
  if (row == nullptr) decoder.fail("an operation is missing");
  return row->op;
}

namespace {

TensorElement element_of(const Decoder& decoder, ptx::Type type) {
  switch (type) {
    case ptx::Type::u32:
    case ptx::Type::b32:
      return TensorElement::u32;
    case ptx::Type::s32:
      return TensorElement::s32;
    case ptx::Type::u64:
    case ptx::Type::b64:
      return TensorElement::u64;
    case ptx::Type::s64:
      return TensorElement::s64;
    case ptx::Type::f16:
      return TensorElement::f16;
    case ptx::Type::bf16:
      return TensorElement::bf16;
    case ptx::Type::f32:
      return TensorElement::f32;
    case ptx::Type::f64:
      return TensorElement::f64;
    default:
      decoder.fail_type(type);
  }
}

/// b: the number of bytes; variant: a ReduceOp, count: a TensorElement.
void reduce(Warp& warp, const Code& code, Mask lanes) {
  const CopySite& site = *code.copy;
  for_lanes(lanes, [&](int lane) {
    const std::uint32_t bytes = warp.at<std::uint32_t>(code.b)[lane];
    if (bytes % 16 != 0)
      warp.fault(FaultKind::undefined, lane,
                 fmt::format("a bulk copy of {} bytes, which are no multiple of 16", bytes));
    AsyncCopy copy;
    copy.code = &code;
    copy.warp = &warp;
    copy.lane = lane;
    copy.is_bulk = true;
    copy.bytes = bytes;
    if (bytes != 0) {
      const std::uint64_t from = lane_address(warp, site.from, lane),
                          to = lane_address(warp, site.to, lane);
      const Target source = locate(warp, site.from.space, lane, from, 16, Access::copy);
      locate(warp, site.from.space, lane, from + bytes - 16, 16, Access::copy);
      copy.from = source.data;
      copy.shared_from = source.offset;
      const auto box = std::make_shared<Box>();
      box->reduce = find_reduction(static_cast<ReduceOp>(code.variant),
                                   static_cast<TensorElement>(code.count));
      BulkAccess access(warp, lane, Access::atomic);
      for (std::uint32_t at = 0; at < bytes; at += 16) access.add(*box, to + at, at, 16);
      check_source_written(warp, lane, *box, *copy.shared_from);
      copy.box = box;
    }
    warp.block().async().start(std::move(copy));
  });
}

bool is_logical(ReduceOp op) { return op >= ReduceOp::bit_and; }

}  // namespace

void decode_bulk_reduction(Decoder& decoder) {
  decoder.needs(90);
  decoder.expect("async");
  decoder.expect("bulk");
  if (decoder.take("tensor")) return decode_tensor_reduction(decoder);
  if (decoder.instruction().has("shared::cluster"))
    decoder.fail("reductions into shared memory are not implemented");
  decoder.expect("global");
  decoder.expect("shared::cta");
  decoder.expect("bulk_group");
  const ReduceOp op = take_reduction(decoder);
  const bool noftz = decoder.take("noftz");
  const ptx::Type type = decoder.type();
  const TensorElement element = element_of(decoder, type);
  const bool is_half = type == ptx::Type::f16 || type == ptx::Type::bf16;
  if (noftz != (is_half && op == ReduceOp::add))
    decoder.fail(".noftz belongs to additions of halves");
  if (is_logical(op) != is_bits(type) || find_reduction(op, element) == nullptr)
    decoder.fail_type(type);
  if (decoder.take_cache_policy() != 3) decoder.fail("a reduction has three operands");
  CopySite& site = decoder.layout().code().copy_sites.emplace_back();
  site.to = decoder.address_in(0, ptx::Space::global);
  site.from = decoder.address_in(1, ptx::Space::shared);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
  decoder.code.copy = &site;
  decoder.code.variant = static_cast<unsigned char>(op);
  decoder.code.count = static_cast<unsigned char>(element);
  decoder.emit(reduce);
}

}  // namespace emulator
