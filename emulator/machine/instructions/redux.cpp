#include <algorithm>
#include <array>

#include "emulator/machine/instructions/groups.h"
#include "emulator/machine/instructions/lanes.h"

// redux.sync: one value of all lanes that a mask names.
namespace emulator {
namespace {

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
struct And {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};

template <class T, class Op>
void reduce(Warp& warp, const Code& code, Mask lanes) {
  for_each_group(warp, code, lanes, code.f, false, [&](Mask group) {
    T* d = warp.at<T>(code.d);
    const T* a = warp.at<T>(code.a);
    const int first = std::countr_zero(group);
    T result = a[first];
    for_lanes(group & ~(Mask{1} << first), [&](int lane) { result = Op::apply(result, a[lane]); });
    for_lanes(group, [=](int lane) { d[lane] = result; });
  });
}

template <class Op>
Code::Run of_integers(const Decoder& decoder, ptx::Type type) {
  if (type == ptx::Type::u32) return reduce<std::uint32_t, Op>;
  if (type == ptx::Type::s32) return reduce<std::int32_t, Op>;
  decoder.fail_type(type);
}

template <class Op>
Code::Run of_bits(const Decoder& decoder, ptx::Type type) {
  if (type == ptx::Type::b32) return reduce<std::uint32_t, Op>;
  decoder.fail_type(type);
}

void decode_redux(Decoder& decoder) {
  decoder.needs(80);
  decoder.expect("sync");
  struct Row {
    std::string_view name;
    Code::Run (*run)(const Decoder&, ptx::Type);
  };
  static constexpr std::array<Row, 6> rows{{{"add", of_integers<Add>},
                                            {"min", of_integers<Min>},
                                            {"max", of_integers<Max>},
                                            {"and", of_bits<And>},
                                            {"or", of_bits<Or>},
                                            {"xor", of_bits<Xor>}}};
  const Row* row = decoder.take_row(rows);
  if (row == nullptr) decoder.fail("an operation is missing");
  const ptx::Type type = decoder.type();
  decoder.expect_operands(3);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.f = decoder.source(2, ptx::Type::b32);
  decoder.emit(row->run(decoder, type));
}

const Opcodes opcodes{{"redux", decode_redux}};

}  // namespace
}  // namespace emulator
