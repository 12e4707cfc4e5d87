#include <fmt/format.h>

#include "emulator/machine/block.h"
#include "emulator/machine/instructions/cluster.h"
#include "emulator/machine/instructions/groups.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/machine/ordering.h"
#include "emulator/machine/undefined.h"

namespace emulator {
namespace {

// --- Barriers of the block. variant: 0 sync, 1 to 3 the reductions popc, and, or; flag2: a count
// of threads follows; flag3: .aligned.

void check_aligned(Warp& warp, const Code& code, Mask lanes, int barrier) {
  for (const Split& split : warp.splits())
    if (split.wait == Wait::block_barrier && split.barrier == barrier && split.waits_at != &code)
      warp.fault(FaultKind::divergent_barrier, std::countr_zero(lanes),
                 fmt::format("lanes {:#010x} of the same warp wait for barrier {} at line {}",
                             split.lanes, barrier, split.waits_at->line));
}

template <class F>
void for_each_barrier(Warp& warp, const Code& code, Mask lanes, F f) {
  const auto* ids = warp.at<std::uint32_t>(code.a);
  const auto* counts = code.flag2 ? warp.at<std::uint32_t>(code.b) : nullptr;
  const int first = std::countr_zero(lanes);
  const std::uint32_t id = ids[first], count = counts != nullptr ? counts[first] : 0;
  for_lanes(lanes, [&](int lane) {
    if (ids[lane] != id || (counts != nullptr && counts[lane] != count))
      warp.fault(FaultKind::divergent_barrier, lane, "lanes of one warp name different barriers");
  });
  if (id >= 16)
    warp.fault(FaultKind::illegal_instruction, first, fmt::format("there is no barrier {}", id));
  if (count % warp_lanes != 0)
    warp.fault(FaultKind::illegal_instruction, first,
               fmt::format("{} threads are no whole warps", count));
  f(static_cast<int>(id), count / warp_lanes);
}

void bar_sync(Warp& warp, const Code& code, Mask lanes) {
  for_each_barrier(warp, code, lanes, [&](int id, std::uint32_t warps) {
    if (code.flag3) check_aligned(warp, code, lanes, id);
    warp.wait_for_block(code, lanes, id, warps);
  });
}

void bar_arrive(Warp& warp, const Code& code, Mask lanes) {
  for_each_barrier(warp, code, lanes, [&](int id, std::uint32_t warps) {
    if (!warp.gather(code, lanes, all_lanes)) return;
    warp.block().barriers.arrive(id, warps, warp.index());
  });
}

void bar_warp_sync(Warp& warp, const Code& code, Mask lanes);

void decode_barriers(Decoder& decoder, bool aligned) {
  if (!aligned && decoder.take("cluster")) return decode_cluster_barrier(decoder);
  decoder.take("cta");
  if (decoder.take("warp")) {
    decoder.expect("sync");
    decoder.expect_operands(1);
    decoder.code.a = decoder.source(0, ptx::Type::b32);
    return decoder.emit(bar_warp_sync);
  }
  const bool arrives = decoder.take("arrive"), reduces = decoder.take("red");
  if (!arrives && !reduces) decoder.expect("sync");
  decoder.code.flag3 = decoder.take("aligned") || aligned;
  std::size_t at = 0;
  if (reduces) {
    const bool count = decoder.take("popc"), every = decoder.take("and");
    if (!count && !every) decoder.expect("or");
    decoder.code.variant = count ? 1 : every ? 2 : 3;
    const ptx::Type type = decoder.type();
    if (type != (count ? ptx::Type::u32 : ptx::Type::pred)) decoder.fail_type(type);
    decoder.code.d = decoder.destination(0, type);
    decoder.code.c = decoder.predicate(decoder.operands() - 1, decoder.code.flag);
    at = 1;
  }
  const std::size_t plain = decoder.operands() - (reduces ? 2 : 0);
  if (plain < 1 || plain > 2) decoder.fail("a barrier has one or two operands");
  decoder.code.a = decoder.source(at, ptx::Type::u32);
  decoder.code.flag2 = plain == 2;
  if (decoder.code.flag2) decoder.code.b = decoder.source(at + 1, ptx::Type::u32);
  if (arrives && !decoder.code.flag2) decoder.fail("a number of threads is missing");
  decoder.emit(arrives ? bar_arrive : bar_sync);
}

// --- Operations of a warp, each for the lanes of a mask that an operand names.

void bar_warp_sync(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.a, true, [](Mask) {});
}

enum Shuffle : unsigned char { up, down, butterfly, index };

/// PTX ISA, shfl.sync: c holds the segment mask (bits 8 to 12) and the clamp (bits 0 to 4).
void shuffle(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.f, false, [&](Mask group) {
    auto* d = warp.at<std::uint32_t>(code.d);
    const auto *a = warp.at<std::uint32_t>(code.a), *b = warp.at<std::uint32_t>(code.b),
               *c = warp.at<std::uint32_t>(code.c);
    std::uint32_t results[warp_lanes];
    int sources[warp_lanes];
    Mask in_range = 0, absent = 0;
    for_lanes(group, [&](int lane) {
      const int by = static_cast<int>(b[lane] & 31), clamp = static_cast<int>(c[lane] & 31),
                segment = static_cast<int>(c[lane] >> 8 & 31);
      const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
      int from = lane;
      bool valid = false;
      switch (code.variant) {
        case up:
          from = lane - by;
          valid = from >= most;
          break;
        case down:
          from = lane + by;
          valid = from <= most;
          break;
        case butterfly:
          from = lane ^ by;
          valid = from <= most;
          break;
        default:
          from = least | (by & ~segment);
          valid = from <= most;
      }
      if (!valid) from = lane;
      in_range |= valid ? Mask{1} << lane : 0;
      // A lane that does not take part has no value to give: "undefined". One that looks like it is
      // none.
      results[lane] =
          has_lane(group, from) ? a[from] : 0xdeadbeefu ^ static_cast<std::uint32_t>(lane);
      sources[lane] = from;
      absent |= has_lane(group, from) ? 0 : Mask{1} << lane;
    });
    for_lanes(group, [&](int lane) { d[lane] = results[lane]; });
    Mask& e = warp.predicate(code.e);
    e = (e & ~group) | (in_range & group);
    if (absent != 0) note_absent(warp, code, {code.d.offset, 4}, absent, sources);
  });
}

enum Vote : unsigned char { all, any, uniform, ballot };

void vote(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.f, false, [&](Mask group) {
    const Mask truth = (warp.predicate(code.a) ^ (code.flag ? all_lanes : 0)) & group;
    if (code.variant == ballot) {
      auto* d = warp.at<std::uint32_t>(code.d);
      return for_lanes(group, [=](int lane) { d[lane] = truth; });
    }
    const bool result = code.variant == all   ? truth == group
                        : code.variant == any ? truth != 0
                                              : truth == 0 || truth == group;
    Mask& d = warp.predicate(code.d);
    d = result ? d | group : d & ~group;
  });
}

template <class T>
void match_any(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.f, false, [&](Mask group) {
    auto* d = warp.at<std::uint32_t>(code.d);
    const T* a = warp.at<T>(code.a);
    Mask results[warp_lanes];
    for_lanes(group, [&](int lane) {
      Mask same = 0;
      for_lanes(group, [&](int other) { same |= a[other] == a[lane] ? Mask{1} << other : 0; });
      results[lane] = same;
    });
    for_lanes(group, [&](int lane) { d[lane] = results[lane]; });
  });
}

template <class T>
void match_all(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.f, false, [&](Mask group) {
    auto* d = warp.at<std::uint32_t>(code.d);
    const T* a = warp.at<T>(code.a);
    const T first = a[std::countr_zero(group)];
    bool same = true;
    for_lanes(group, [&](int lane) { same = same && a[lane] == first; });
    for_lanes(group, [=](int lane) { d[lane] = same ? group : 0; });
    Mask& e = warp.predicate(code.e);
    e = same ? e | group : e & ~group;
  });
}

void active_mask(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  for_lanes(lanes, [=](int lane) { d[lane] = lanes; });
}

void elect(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.a, false, [&](Mask group) {
    const int leader = std::countr_zero(group);
    auto* d = warp.at<std::uint32_t>(code.d);
    for_lanes(group, [=](int lane) { d[lane] = static_cast<std::uint32_t>(leader); });
    Mask& e = warp.predicate(code.e);
    e = (e & ~group) | Mask{1} << leader;
  });
}

void decode_shfl(Decoder& decoder) {
  decoder.expect("sync");
  if (decoder.take("up"))
    decoder.code.variant = up;
  else if (decoder.take("down"))
    decoder.code.variant = down;
  else if (decoder.take("bfly"))
    decoder.code.variant = butterfly;
  else {
    decoder.expect("idx");
    decoder.code.variant = index;
  }
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  decoder.expect_operands(5);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.e = decoder.second_destination(0);
  decoder.code.a = decoder.source(1, type);
  decoder.code.b = decoder.source(2, ptx::Type::u32);
  decoder.code.c = decoder.source(3, ptx::Type::u32);
  decoder.code.f = decoder.source(4, ptx::Type::b32);
  decoder.emit(shuffle);
}

void decode_vote(Decoder& decoder) {
  decoder.expect("sync");
  if (decoder.take("all"))
    decoder.code.variant = all;
  else if (decoder.take("any"))
    decoder.code.variant = any;
  else if (decoder.take("uni"))
    decoder.code.variant = uniform;
  else {
    decoder.expect("ballot");
    decoder.code.variant = ballot;
  }
  const ptx::Type type = decoder.type();
  if (type != (decoder.code.variant == ballot ? ptx::Type::b32 : ptx::Type::pred))
    decoder.fail_type(type);
  decoder.expect_operands(3);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.predicate(1, decoder.code.flag);
  decoder.code.f = decoder.source(2, ptx::Type::b32);
  decoder.emit(vote);
}

void decode_match(Decoder& decoder) {
  const bool each = decoder.take("any");
  if (!each) decoder.expect("all");
  decoder.expect("sync");
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32 && type != ptx::Type::b64) decoder.fail_type(type);
  decoder.expect_operands(3);
  decoder.code.d = decoder.destination(0, ptx::Type::b32);
  decoder.code.e = decoder.second_destination(0);
  decoder.code.a = decoder.source(1, type);
  decoder.code.f = decoder.source(2, ptx::Type::b32);
  const bool wide = type == ptx::Type::b64;
  if (each) return decoder.emit(wide ? match_any<std::uint64_t> : match_any<std::uint32_t>);
  decoder.emit(wide ? match_all<std::uint64_t> : match_all<std::uint32_t>);
}

void decode_activemask(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::b32) decoder.fail_type(type);
  decoder.expect_operands(1);
  decoder.code.d = decoder.destination(0, type);
  decoder.emit(active_mask);
}

void decode_elect(Decoder& decoder) {
  decoder.expect("sync");
  decoder.expect_operands(2);
  decoder.code.d = decoder.destination(0, ptx::Type::b32);
  decoder.code.e = decoder.second_destination(0);
  decoder.code.a = decoder.source(1, ptx::Type::b32);
  decoder.emit(elect);
}

const Opcodes opcodes{{"bar", [](Decoder& decoder) { decode_barriers(decoder, true); }},
                      {"barrier", [](Decoder& decoder) { decode_barriers(decoder, false); }},
                      {"shfl", decode_shfl},
                      {"vote", decode_vote},
                      {"match", decode_match},
                      {"activemask", decode_activemask},
                      {"elect", decode_elect}};

}  // namespace
}  // namespace emulator
