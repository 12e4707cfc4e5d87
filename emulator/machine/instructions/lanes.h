#pragma once

#include <cstdint>
#include <type_traits>

#include "emulator/machine/decoder.h"
#include "emulator/machine/warp.h"

// The loops over lanes that most instructions are, and the choice of their type.
namespace emulator {

template <class To, class From, class Op>
void unary(Warp& warp, const Code& code, Mask lanes) {
  To* d = warp.at<To>(code.d);
  const From* a = warp.at<From>(code.a);
  for_lanes(lanes, [=](int i) { d[i] = Op::apply(a[i]); });
}

template <class T, class Op>
void binary(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b);
  for_lanes(lanes, [=](int i) { d[i] = Op::apply(a[i], b[i]); });
}

template <class T, class Op>
void ternary(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T *a = warp.at<T>(code.a), *b = warp.at<T>(code.b), *c = warp.at<T>(code.c);
  for_lanes(lanes, [=](int i) { d[i] = Op::apply(a[i], b[i], c[i]); });
}

/// Calls `f.operator()<T>()` for the integer type; it returns what runs it.
template <class F>
Code::Run pick_integer(const Decoder& decoder, ptx::Type type, F f) {
  switch (type) {
    case ptx::Type::u16:
      return f.template operator()<std::uint16_t>();
    case ptx::Type::u32:
      return f.template operator()<std::uint32_t>();
    case ptx::Type::u64:
      return f.template operator()<std::uint64_t>();
    case ptx::Type::s16:
      return f.template operator()<std::int16_t>();
    case ptx::Type::s32:
      return f.template operator()<std::int32_t>();
    case ptx::Type::s64:
      return f.template operator()<std::int64_t>();
    default:
      decoder.fail_type(type);
  }
}

template <class F>
Code::Run pick_bits(const Decoder& decoder, ptx::Type type, F f) {
  switch (ptx::bytes_of(type)) {
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    default:
      decoder.fail_type(type);
  }
}

/// d, a, b (, c) all of one type.
inline void take_operands(Decoder& decoder, ptx::Type type, std::size_t sources) {
  decoder.expect_operands(sources + 1);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  if (sources > 1) decoder.code.b = decoder.source(2, type);
  if (sources > 2) decoder.code.c = decoder.source(3, type);
}

}  // namespace emulator
