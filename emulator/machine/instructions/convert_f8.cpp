#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/numbers/number.h"

namespace emulator {
namespace {

/// flag: .relu, which makes negative numbers 0 and keeps NaN.
template <const FloatFormat& format>
std::uint32_t rounded(float value, const Code& code) {
  return encode(code.flag && value <= 0 ? 0 : value, format);
}

/// The first operand becomes the upper byte.
template <const FloatFormat& format>
void from_two_floats(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint16_t>(code.d);
  const auto *a = warp.at<float>(code.a), *b = warp.at<float>(code.b);
  for_lanes(lanes, [&](int i) {
    d[i] =
        static_cast<std::uint16_t>(rounded<format>(a[i], code) << 8 | rounded<format>(b[i], code));
  });
}

template <const FloatFormat& format>
void from_halves(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint16_t>(code.d);
  const auto* a = warp.at<std::uint32_t>(code.a);
  for_lanes(lanes, [&](int i) {
    d[i] = static_cast<std::uint16_t>(rounded<format>(decode(a[i] >> 16, binary16), code) << 8 |
                                      rounded<format>(decode(a[i] & 0xffff, binary16), code));
  });
}

template <const FloatFormat& format>
void to_halves(Warp& warp, const Code& code, Mask lanes) {
  auto* d = warp.at<std::uint32_t>(code.d);
  const auto* a = warp.at<std::uint16_t>(code.a);
  for_lanes(lanes, [&](int i) {
    const auto half = [&](std::uint32_t bits) {
      const float value = decode(bits, format);
      return encode(code.flag && value <= 0 ? 0 : value, binary16);
    };
    d[i] = half(a[i] >> 8) << 16 | half(a[i] & 0xffU);
  });
}

template <const FloatFormat& format>
void decode_pair(Decoder& decoder, bool is_source) {
  decoder.needs(89);
  decoder.expect("rn");
  if (!is_source) decoder.expect("satfinite");
  decoder.code.flag = decoder.take("relu");
  const ptx::Type other = decoder.type();
  if (other != ptx::Type::f16x2 && (is_source || other != ptx::Type::f32)) decoder.fail_type(other);
  const bool is_two = other == ptx::Type::f32;
  decoder.expect_operands(is_two ? 3 : 2);
  decoder.code.d = decoder.destination(0, is_source ? ptx::Type::b32 : ptx::Type::b16);
  decoder.code.a = decoder.source(1, is_source ? ptx::Type::b16 : is_two ? other : ptx::Type::b32);
  if (is_two) decoder.code.b = decoder.source(2, other);
  decoder.emit(is_source ? to_halves<format>
               : is_two  ? from_two_floats<format>
                         : from_halves<format>);
}

}  // namespace

bool decode_cvt_f8(Decoder& decoder) {
  const std::string_view last = decoder.instruction().modifiers.back();
  if (decoder.take("e4m3x2")) return decode_pair<e4m3>(decoder, last == "e4m3x2"), true;
  if (decoder.take("e5m2x2")) return decode_pair<e5m2>(decoder, last == "e5m2x2"), true;
  return false;
}

}  // namespace emulator
