#include <array>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/block.h"
#include "emulator/machine/instructions/lanes.h"

// Hints for caches, which change nothing here, and discard, which forgets what memory holds.
namespace emulator {
namespace {

constexpr unsigned line_bytes = 128;

void nothing(Warp&, const Code&, Mask) {}

/// "Reading from it returns indeterminate values": as if nothing had written it.
void discard(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    if (address % line_bytes != 0)
      warp.fault(FaultKind::misaligned_address, lane,
                 "a discarded line begins at a multiple of 128");
    constexpr unsigned part = 16;
    for (unsigned at = 0; at < line_bytes; at += part) {
      const Target target = locate(warp, code, lane, address + at, part, Access::write);
      note_write(warp, code, lane, target, part, nullptr);
      if (target.space != ptx::Space::global)
        warp.fault(FaultKind::illegal_address, lane, "only global memory is discarded");
      if (target.written != nullptr) std::memset(target.written, 0, part);
    }
  });
}

/// [address], 128 in global memory.
void take_line(Decoder& decoder) {
  if (decoder.take("global")) decoder.code.space = ptx::Space::global;
  decoder.expect_operands(2);
  decoder.address(0);
  const ptx::Operand& size = decoder.operand(1);
  if (size.kind != ptx::OperandKind::integer || size.bits != line_bytes)
    decoder.fail("the size is 128");
}

void decode_discard(Decoder& decoder) {
  decoder.needs(80);
  decoder.expect("L2");
  take_line(decoder);
  decoder.emit(discard);
}

void decode_applypriority(Decoder& decoder) {
  decoder.needs(80);
  decoder.expect("L2::evict_normal");
  take_line(decoder);
  decoder.emit(nothing);
}

/// What a policy holds is nobody's business.
void make_policy(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint64_t>(code.d);
  for_lanes(lanes, [=](int lane) { d[lane] = 0; });
}

void decode_createpolicy(Decoder& decoder) {
  decoder.needs(80);
  const bool is_range = decoder.take("range"), is_fractional = decoder.take("fractional");
  if (!is_range && !is_fractional) {
    decoder.expect("cvt");
    decoder.expect("L2");
  } else {
    if (is_range) decoder.take("global");
    for (int priority = 0; priority < 2; ++priority)
      for (const std::string_view name :
           {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"})
        if (decoder.take(name)) break;
  }
  if (decoder.type() != ptx::Type::b64) decoder.fail("a policy has .b64");
  decoder.expect_operands(is_fractional ? 1 : 2, is_range ? 4 : 2);
  decoder.code.d = decoder.destination(0, ptx::Type::b64);
  decoder.emit(make_policy);
}

const Opcodes opcodes{{"discard", decode_discard},
                      {"applypriority", decode_applypriority},
                      {"createpolicy", decode_createpolicy}};

}  // namespace
}  // namespace emulator
