#include "emulator/machine/undefined.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/random.h"
#include "emulator/machine/warp.h"

namespace emulator {
namespace {

std::size_t slot_bytes(Slot slot) {
  return slot.bytes == 0 ? sizeof(Mask) : std::size_t{slot.bytes} * warp_lanes;
}

/// Says where the value comes from, as after "uses".
std::string text_of(Warp& warp, const UndefinedSource& source) {
  const LaunchContext& context = warp.block().context();
  const std::string line = context.kernel.module->place(source.line);
  if (source.space == ptx::Space::reg)
    return fmt::format("what the shuffle at {} gave: lane {} does not take part in it", line,
                       source.place);
  std::string where = ": it is " + context.memory.describe(source.place);
  if (source.space == ptx::Space::shared) where = ", in shared memory";
  if (source.space == ptx::Space::local) where = ", in local memory";
  return fmt::format("{} bytes at {:#x}, read at {}: nothing has written all of them{}",
                     source.bytes, source.place, line, where);
}

UndefinedSource& source_of(Warp& warp, int lane) {
  if (warp.undefined_sources.empty()) warp.undefined_sources.resize(warp_lanes);
  return warp.undefined_sources[static_cast<std::size_t>(lane)];
}

void report(Warp& warp, Mask lanes, const std::string& what) {
  // A value may come from another lane: name the first one that has read such bytes.
  const auto has_source = [&](int lane) { return source_of(warp, lane).line != 0; };
  Mask with_source = 0;
  for_lanes(lanes, [&](int each) { with_source |= has_source(each) ? Mask{1} << each : 0; });
  const int lane = std::countr_zero(with_source != 0 ? with_source : lanes);
  const std::string source = has_source(lane) ? text_of(warp, source_of(warp, lane))
                                              : "an undefined value of another lane";
  warp.find(FaultKind::uninitialised_read, lane, fmt::format("{} {}", what, source));
}

/// Values that take the place of undefined ones, to see what depends on them: the least and the
/// largest numbers of most formats, all ones (NaN), and some at random.
constexpr int trials = 5;
std::uint64_t trial_value(int trial, std::size_t bytes, std::uint64_t seed) {
  constexpr std::uint64_t largest[] = {0x7f, 0x7bff, 0x7f7fffff, 0x7fefffffffffffff};
  const std::uint64_t large = largest[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
  switch (trial) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return large;
    case 3:
      return large | std::uint64_t{1} << (8 * std::max<std::size_t>(bytes, 1) - 1);
    default:
      return mix(seed);
  }
}

/// Registers as they were.
class Saved {
 public:
  Saved(std::byte* registers, const std::vector<Slot>& slots) : registers_(registers) {
    for (const Slot slot : slots) {
      const std::byte* from = registers + slot.offset;
      parts_.push_back({slot, {from, from + slot_bytes(slot)}});
    }
  }
  void restore() const {
    for (const auto& [slot, bytes] : parts_)
      std::memcpy(registers_ + slot.offset, bytes.data(), bytes.size());
  }
  const std::vector<std::byte>& bytes(std::size_t index) const { return parts_[index].second; }

 private:
  std::byte* registers_;
  std::vector<std::pair<Slot, std::vector<std::byte>>> parts_;
};

/// Puts values of a trial into the undefined bits.
void fill(std::byte* registers, UndefinedRegisters& undefined, Slot slot, int trial, int line) {
  const std::size_t bytes = slot.bytes == 0 ? sizeof(Mask) : slot.bytes;
  const std::size_t values = slot.bytes == 0 ? 1 : warp_lanes;
  for (std::size_t i = 0; i < values; ++i) {
    std::byte* at = registers + slot.offset + i * bytes;
    const std::byte* holes = undefined.at(slot.offset) + i * bytes;
    std::uint64_t value = 0, bits = 0;
    std::memcpy(&value, at, bytes);
    std::memcpy(&bits, holes, bytes);
    const std::uint64_t drawn =
        trial_value(trial, slot.bytes == 0 ? 8 : bytes,
                    (std::uint64_t{slot.offset} << 32 | i) * 64 + static_cast<unsigned>(line));
    value = (value & ~bits) | (drawn & bits);
    std::memcpy(at, &value, bytes);
  }
}

/// Which bits of the results differ between trials.
std::vector<std::vector<std::byte>> differing_bits(Warp& warp, const Flow& flow, const Code& code,
                                                   Mask lanes, const Saved& sources,
                                                   const Saved& results) {
  std::byte* registers = warp.frame()->registers;
  UndefinedRegisters& undefined = *warp.frame()->undefined;
  std::vector<std::vector<std::byte>> differing;
  for (const Slot slot : flow.destinations) differing.emplace_back(slot_bytes(slot));
  for (int trial = 0; trial < trials; ++trial) {
    results.restore();
    sources.restore();
    for (const Slot slot : flow.sources) fill(registers, undefined, slot, trial, code.line);
    code.run(warp, code, lanes);
    for (std::size_t i = 0; i < differing.size(); ++i) {
      const std::byte* now = registers + flow.destinations[i].offset;
      for (std::size_t k = 0; k < differing[i].size(); ++k)
        differing[i][k] |= now[k] ^ results.bytes(i)[k];
    }
  }
  sources.restore();
  results.restore();
  return differing;
}

void set_bits(UndefinedRegisters& undefined, Slot slot, Mask lanes,
              const std::vector<std::byte>& bits, bool are_moved, bool are_results) {
  undefined.define(slot, lanes);
  if (slot.bytes == 0) {
    Mask differing = 0;
    std::memcpy(&differing, bits.data(), sizeof differing);
    return undefined.undefine(slot, differing & lanes);
  }
  for_lanes(lanes, [&](int lane) {
    const std::span<const std::byte> of_lane =
        std::span(bits).subspan(static_cast<std::size_t>(lane) * slot.bytes, slot.bytes);
    const auto count = [&](std::byte byte) { return std::ranges::count(of_lane, byte); };
    const auto defined = count(std::byte{0}), undefined_bytes = count(std::byte{0xff});
    if (defined == slot.bytes) return;
    if (!are_moved) return undefined.undefine(slot, Mask{1} << lane);
    std::ranges::copy(of_lane,
                      undefined.at(slot.offset) + of_lane.size() * static_cast<unsigned>(lane));
    // A part of a byte is no copy of one.
    if (are_results || defined + undefined_bytes != slot.bytes)
      undefined.set_results(slot, Mask{1} << lane);
  });
}

/// Executes the instruction, and again with other values in place of the undefined ones.
void compute(Warp& warp, const Flow& flow, const Code& code, Mask lanes, Mask tainted) {
  std::byte* registers = warp.frame()->registers;
  UndefinedRegisters& undefined = *warp.frame()->undefined;
  const Saved sources(registers, flow.sources);
  warp.without_result = 0;
  code.run(warp, code, lanes);
  if ((warp.active() & lanes) != lanes) return;  // it waits for other lanes first
  if (flow.kind == FlowKind::compare || tainted == 0) {
    for (const Slot slot : flow.destinations) {
      undefined.define(slot, lanes);
      undefined.undefine(slot, tainted);
    }
    if (warp.without_result != 0)
      undefined.undefine(flow.destinations.front(), warp.without_result);
    return;
  }
  bool are_results = false;
  for (const Slot slot : flow.sources)
    are_results |= (undefined.results(slot) & undefined.lanes(slot)) != 0;
  const Saved results(registers, flow.destinations);
  const auto differing = differing_bits(warp, flow, code, lanes, sources, results);
  for (std::size_t i = 0; i < differing.size(); ++i)
    set_bits(undefined, flow.destinations[i], lanes, differing[i], flow.kind == FlowKind::move,
             are_results);
  if (warp.without_result != 0) undefined.undefine(flow.destinations.front(), warp.without_result);
}

}  // namespace

void follow(Warp& warp, const Flow& flow, const Code& code, Mask lanes, Mask doubtful) {
  UndefinedRegisters& undefined = *warp.frame()->undefined;
  const bool is_pure = flow.kind != FlowKind::use && flow.kind != FlowKind::memory;
  if (doubtful != 0 && !is_pure) report(warp, doubtful, "what it does depends on");
  Mask tainted = 0;
  for (const Slot slot : flow.sources) tainted |= undefined.lanes(slot);
  tainted &= lanes;
  if (is_pure) {
    if (lanes != 0) compute(warp, flow, code, lanes, tainted);
    for (const Slot slot : flow.destinations) undefined.undefine(slot, doubtful);
    return;
  }
  if (lanes == 0) return;
  if (tainted != 0)
    report(warp, tainted, flow.kind == FlowKind::memory ? "uses as an address" : "uses");
  // Told once: what depends on it is not told again.
  for (const Slot slot : flow.sources) undefined.define(slot, tainted);
  if (flow.kind == FlowKind::use)
    for (const Slot slot : flow.destinations) undefined.define(slot, lanes);
  code.run(warp, code, lanes);
}

std::uint64_t bits_of_bytes(unsigned bytes) {
  std::uint64_t bits = 0;
  for (unsigned k = 0; k < 8; ++k)
    if ((bytes >> k & 1) != 0) bits |= std::uint64_t{0xff} << (8 * k);
  return bits;
}

void UndefinedBytes::look(Warp& warp, const Code& code, int lane, const Target& target,
                          unsigned access_bytes) {
  Block& block = owner_of(warp, target);
  const bool is_shared = target.space == ptx::Space::shared;
  std::uint16_t found = 0;
  bool is_result = false;
  for (unsigned k = 0; k < access_bytes; ++k) {
    const std::uint8_t mark = is_shared && block.has_async()
                                  ? block.async().guards.mark(target.offset + k)
                                  : target.written[k];
    if (mark == mark_written) continue;
    found = static_cast<std::uint16_t>(found | 1u << k);
    is_result |= mark == mark_result;
  }
  if (found == 0) return;
  const bool is_own = is_shared || target.space == ptx::Space::local;
  const bool is_hole = is_own && std::all_of(target.written, target.written + access_bytes,
                                             [](std::uint8_t mark) { return mark == 0; });
  if (is_result || is_hole) results |= Mask{1} << lane;
  set(lane, found);
  source_of(warp, lane) = {code.line, target.space, access_bytes,
                           target.offset + (is_own ? 0 : target.window->begin)};
}

void note_absent(Warp& warp, const Code& code, Slot slot, Mask lanes, const int* from) {
  if (slot.offset == 0) return;  // FunctionLayout::scratch
  warp.undefined().undefine(slot, lanes);
  warp.without_result = lanes;
  for_lanes(lanes, [&](int lane) {
    source_of(warp, lane) = {code.line, ptx::Space::reg, 0, static_cast<std::uint64_t>(from[lane])};
  });
}

void note_loaded(Warp& warp, Slot slot, Mask lanes, Mask results, const std::uint64_t* bits) {
  if (slot.offset == 0) return;  // what nobody reads: FunctionLayout::scratch
  UndefinedRegisters& undefined = warp.undefined();
  undefined.define(slot, lanes);
  undefined.set_results(slot, results);
  for_lanes(lanes, [&](int lane) {
    std::memcpy(undefined.at(slot.offset) + static_cast<std::size_t>(lane) * slot.bytes,
                &bits[lane], slot.bytes);
  });
}

void StoredBytes::add(const UndefinedRegisters& registers, Slot slot, int lane, unsigned first,
                      unsigned bytes, std::size_t from) {
  const std::uint64_t bits = registers.bits(slot, lane) >> (8 * from);
  for (unsigned k = 0; k < bytes; ++k)
    if ((bits >> (8 * k) & 0xff) != 0) {
      undefined |= 1u << (first + k);
      is_result |= has_lane(registers.results(slot), lane);
    }
}

void StoredBytes::check(Warp& warp, int lane, const Target& target, unsigned access_bytes) {
  if (!is_result || target.space == ptx::Space::shared || target.space == ptx::Space::local) return;
  report(warp, Mask{1} << lane,
         fmt::format("stores {} bytes at {:#x} that come from", access_bytes,
                     target.offset + (target.window != nullptr ? target.window->begin : 0)));
  undefined = 0;
}

void StoredBytes::mark(const Target& target) const {
  if (undefined == 0 || target.written == nullptr) return;
  if (target.window != nullptr && target.window->is_managed) return;  // it counts as written
  const bool is_own = target.space == ptx::Space::shared || target.space == ptx::Space::local;
  const std::uint8_t mark = !is_own ? 0 : is_result ? mark_result : mark_copy;
  for (unsigned k = 0; undefined >> k != 0; ++k)
    if ((undefined >> k & 1) != 0) target.written[k] = mark;
}

}  // namespace emulator
