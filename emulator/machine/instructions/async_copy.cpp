#include <fmt/format.h>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/destinations.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/mbarrier_object.h"
#include "emulator/machine/instructions/rows.h"

namespace emulator {
namespace {

AsyncCopy new_copy(Warp& warp, const Code& code, int lane) {
  AsyncCopy copy;
  copy.code = &code;
  copy.warp = &warp;
  copy.lane = lane;
  return copy;
}

/// Checks the addresses from this one on, piece by piece, and notes the accesses to global memory
/// for the search for races. The pieces lie in one allocation, as allocations lie apart.
Target locate_all(Warp& warp, ptx::Space space, int lane, std::uint64_t address,
                  std::uint64_t bytes, unsigned piece, Access access) {
  GlobalRaces& races = warp.block().global_races;
  Target first{};
  for (std::uint64_t at = 0; at < bytes; at += piece) {
    const Target target = locate(warp, space, lane, address + at, piece, access);
    if (at == 0) first = target;
    if (target.window == nullptr) continue;
    if (access == Access::copy)
      races.read(warp, lane, target, piece, false);
    else
      races.write(warp, lane, target, piece, false, {target, nullptr, piece});
  }
  return first;
}

Target locate_all(Warp& warp, const AddressPlace& place, int lane, std::uint64_t bytes,
                  unsigned piece, Access access) {
  return locate_all(warp, place.space, lane, lane_address(warp, place, lane), bytes, piece, access);
}

void set_source(AsyncCopy& copy, const Target& from) {
  copy.from = from.data;
  copy.from_written = from.written;
  if (from.space == ptx::Space::shared) copy.shared_from = from.offset;
}

void set_destination(AsyncCopy& copy, const Target& to) {
  copy.to = to.data;
  const bool is_managed = to.window != nullptr && to.window->is_managed;
  copy.to_written = is_managed ? nullptr : to.written;
  if (to.space == ptx::Space::shared) copy.shared_to = to.offset;
}

// --- cp.async. count: bytes of the destination; flag2: b is the number of bytes of the source;
// flag3: the predicate b (negated: flag) says whether to ignore the source.

void copy_element(Warp& warp, const Code& code, Mask lanes) {
  const unsigned size = code.count;
  const Mask ignored = code.flag3 ? warp.predicate(code.b) ^ (code.flag ? all_lanes : 0) : Mask{0};
  for_lanes(lanes, [&](int lane) {
    std::uint32_t bytes = code.flag2 ? warp.at<std::uint32_t>(code.b)[lane] : size;
    if (bytes > size)
      warp.fault(FaultKind::undefined, lane,
                 fmt::format("src-size {} is larger than cp-size {}", bytes, size));
    if (has_lane(ignored, lane)) bytes = 0;
    AsyncCopy copy = new_copy(warp, code, lane);
    set_destination(copy, locate_all(warp, code.copy->to, lane, size, size, Access::write));
    const std::uint64_t from = lane_address(warp, code.copy->from, lane);
    if (from % size != 0)
      warp.fault(
          FaultKind::misaligned_address, lane,
          fmt::format("copies {} bytes at {:#x}: it is no multiple of {}", size, from, size));
    // Bytes that are not copied need not exist.
    const unsigned piece = bytes == size ? size : 1;
    if (bytes != 0)
      set_source(copy, locate_all(warp, code.copy->from, lane, bytes, piece, Access::copy));
    copy.bytes = bytes;
    copy.zeros = size - bytes;
    warp.block().async().start(std::move(copy));
  });
}

/// flag: without .noinc.
void arrive_behind_copies(Warp& warp, const Code& code, Mask lanes) {
  for_lanes(lanes, [&](int lane) {
    AsyncCopy copy = new_copy(warp, code, lane);
    copy.arrives = true;
    Mbarrier& barrier = mbarrier_at(warp, code.copy->barrier.space, lane,
                                    lane_address(warp, code.copy->barrier, lane));
    if (code.flag) check_mbarrier(warp, lane, barrier, barrier.expect_arrival());
    copy.barrier = barrier.offset();
    warp.block().async().start(std::move(copy));
  });
}

// --- cp.async.bulk. b: the number of bytes.

void copy_bulk(Warp& warp, const Code& code, Mask lanes) {
  for_lanes(lanes, [&](int lane) {
    const std::uint32_t bytes = warp.at<std::uint32_t>(code.b)[lane];
    if (bytes % 16 != 0)
      warp.fault(FaultKind::undefined, lane,
                 fmt::format("a bulk copy of {} bytes, which are no multiple of 16", bytes));
    const CopySite& site = *code.copy;
    AsyncCopy copy = new_copy(warp, code, lane);
    copy.is_bulk = true;
    copy.bytes = bytes;
    if (bytes != 0) set_source(copy, locate_all(warp, site.from, lane, bytes, 16, Access::copy));
    if (!site.has_barrier) {
      if (bytes != 0)
        set_destination(copy, locate_all(warp, site.to, lane, bytes, 16, Access::write));
      return warp.block().async().start(std::move(copy));
    }
    for (const Destination& each : destinations_of(warp, site, lane)) {
      if (bytes != 0) {
        start_at(warp, lane, copy,
                 locate_all(warp, site.to.space, lane, each.to, bytes, 16, Access::write),
                 site.barrier.space, each.barrier);
        continue;
      }
      const Target place = mbarrier_place(warp, site.barrier.space, lane, each.barrier);
      copy.barrier = mbarrier_at(warp, site.barrier.space, lane, each.barrier).offset();
      copy.starter = place.owner != nullptr ? &warp.block().async() : nullptr;
      owner_of(warp, place).async().start(copy);
    }
  });
}

void prefetch(Warp&, const Code&, Mask) {}

// --- Groups. flag: bulk; flag2: only the reads; count unused, target: how many may be pending.

void commit(Warp& warp, const Code& code, Mask lanes) {
  for_lanes(lanes, [&](int lane) { warp.block().async().commit(warp, lane, code.flag); });
}

void wait_groups(Warp& warp, const Code& code, Mask lanes) {
  for_lanes(lanes, [&](int lane) {
    warp.block().async().wait_groups(warp, lane, code.flag, code.target, code.flag2);
  });
}

void wait_all(Warp& warp, const Code&, Mask lanes) {
  for_lanes(lanes, [&](int lane) { warp.block().async().wait_all(warp, lane); });
}

CopySite& new_site(Decoder& decoder) {
  CopySite& site = decoder.layout().code().copy_sites.emplace_back();
  decoder.code.copy = &site;
  return site;
}

bool decode_groups(Decoder& decoder) {
  if (decoder.take("commit_group")) {
    decoder.expect_operands(0);
    decoder.emit(commit);
    return true;
  }
  if (!decoder.take("wait_group")) return false;
  decoder.code.flag2 = decoder.code.flag && decoder.take("read");
  decoder.expect_operands(1);
  const ptx::Operand& pending = decoder.operand(0);
  if (pending.kind != ptx::OperandKind::integer || pending.bits > 0xffffffff)
    decoder.fail("the number of groups is a constant");
  decoder.code.target = static_cast<std::uint32_t>(pending.bits);
  decoder.emit(wait_groups);
  return true;
}

void decode_bulk(Decoder& decoder) {
  decoder.needs(90);
  decoder.code.flag = true;
  if (decode_groups(decoder)) return;
  if (decoder.take("prefetch")) {
    if (decoder.take("tensor")) return decode_tensor_prefetch(decoder);
    decoder.expect("L2");
    decoder.expect("global");
    if (decoder.take_cache_policy() != 2) decoder.fail("a prefetch has two operands");
    decoder.address_in(0, ptx::Space::global);
    decoder.source(1, ptx::Type::u32);
    return decoder.emit(prefetch);
  }
  if (decoder.take("tensor")) return decode_tensor_copy(decoder);
  // The destination's space comes first.
  const auto& modifiers = decoder.instruction().modifiers;
  const bool to_global = modifiers.size() > 2 && modifiers[2] == "global";
  CopySite& site = new_site(decoder);
  ptx::Space to = ptx::Space::shared, from = ptx::Space::global;
  if (to_global) {
    decoder.expect("global");
    decoder.expect("shared::cta");
    decoder.expect("bulk_group");
    std::swap(to, from);
  } else {
    const bool cluster = decoder.take("shared::cluster");
    if (!cluster) decoder.expect("shared::cta");
    if (cluster) to = ptx::Space::cluster;
    if (cluster && decoder.take("shared::cta"))
      from = ptx::Space::shared;
    else
      decoder.expect("global");
    decoder.expect("mbarrier::complete_tx::bytes");
    site.has_barrier = true;
    site.has_blocks = from == ptx::Space::global && cluster && decoder.take("multicast::cluster");
  }
  if (decoder.take_cache_policy() != (site.has_blocks ? 5U : site.has_barrier ? 4U : 3U))
    decoder.fail("a bulk copy of this form has another number of operands");
  site.to = decoder.address_in(0, to);
  site.from = decoder.address_in(1, from);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
  if (site.has_barrier) site.barrier = decoder.address_in(3, to);
  if (site.has_blocks) site.blocks = decoder.source(4, ptx::Type::u16);
  decoder.emit(copy_bulk);
}

void decode_element(Decoder& decoder) {
  const bool cg = decoder.take("cg");
  if (!cg) decoder.expect("ca");
  if (!decoder.take("shared")) decoder.expect("shared::cta");
  decoder.expect("global");
  for (const std::string_view hint : {"L2::64B", "L2::128B", "L2::256B"})
    if (decoder.take(hint)) break;
  const std::size_t operands = decoder.take_cache_policy();
  if (operands < 3 || operands > 4) decoder.fail("cp.async has three or four operands");
  const ptx::Operand& size = decoder.operand(2);
  const bool known = size.kind == ptx::OperandKind::integer &&
                     (size.bits == 16 || (!cg && (size.bits == 4 || size.bits == 8)));
  if (!known) decoder.fail(cg ? "cp-size is 16" : "cp-size is 4, 8 or 16");
  CopySite& site = new_site(decoder);
  site.to = decoder.address_in(0, ptx::Space::shared);
  site.from = decoder.address_in(1, ptx::Space::global);
  decoder.code.count = static_cast<unsigned char>(size.bits);
  if (operands == 4) {
    const ptx::Operand& last = decoder.operand(3);
    decoder.code.flag3 =
        decoder.is_register(last) && decoder.register_type(last) == ptx::Type::pred;
    decoder.code.flag2 = !decoder.code.flag3;
    decoder.code.b = decoder.code.flag3 ? decoder.predicate(3, decoder.code.flag)
                                        : decoder.source(3, ptx::Type::u32);
  }
  decoder.emit(copy_element);
}

void decode_cp(Decoder& decoder) {
  decoder.needs(80);
  if (decoder.take("reduce")) return decode_bulk_reduction(decoder);
  decoder.expect("async");
  if (decoder.take("bulk")) return decode_bulk(decoder);
  if (decode_groups(decoder)) return;
  if (decoder.take("wait_all")) {
    decoder.expect_operands(0);
    return decoder.emit(wait_all);
  }
  if (!decoder.take("mbarrier")) return decode_element(decoder);
  decoder.expect("arrive");
  decoder.code.flag = !decoder.take("noinc");
  if (decoder.type() != ptx::Type::b64) decoder.fail("an mbarrier object is a .b64");
  decoder.take_shared();
  decoder.expect_operands(1);
  new_site(decoder).barrier = decoder.address_in(0, decoder.code.space);
  decoder.emit(arrive_behind_copies);
}

const Opcodes opcodes{{"cp", decode_cp}};

}  // namespace
}  // namespace emulator
