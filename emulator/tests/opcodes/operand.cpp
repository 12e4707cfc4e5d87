#include "emulator/tests/opcodes/operand.h"

#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace emulator::test {
namespace {

int bits_in(const std::string& name) {
  if (name == "pred") return 1;
  const int bits = std::atoi(name.c_str() + 1);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) throw std::logic_error("type " + name);
  return bits;
}

void append(std::vector<std::uint64_t>& to, std::initializer_list<std::uint64_t> values) {
  to.insert(to.end(), values);
}

std::vector<std::uint64_t> integer_corners(int bits) {
  const std::uint64_t top = std::uint64_t{1} << (bits - 1), mask = top | (top - 1);
  std::vector<std::uint64_t> values{0,  1,  2,  3,  5,   7,   10,  31, 32,
                                    33, 63, 64, 65, 100, 127, 128, 255};
  append(values, {top, top - 1, top + 1, top - 2, mask, mask - 1, mask - 2, mask - 6, mask - 127});
  for (const int power : {15, 16, 31, 32, 52, 53, 62}) {
    if (power >= bits - 1) continue;
    const std::uint64_t x = std::uint64_t{1} << power;
    append(values, {x - 1, x, x + 1, ~x & mask, -x & mask});
  }
  append(values, {0x5555555555555555 & mask, 0xAAAAAAAAAAAAAAAA & mask, 0x123456789ABCDEF0 & mask});
  return values;
}

std::vector<std::uint64_t> float_corners(Format format) {
  const std::uint64_t one = format.one(), normal = format.min_normal(), inf = format.infinity();
  std::vector<std::uint64_t> values{0,       1,          2,          normal / 2, normal - 1,
                                    normal,  normal + 1, 2 * normal, one - 1,    one,
                                    one + 1, inf - 1,    inf};
  append(values, {inf | format.quiet_bit(), inf | 1, inf | format.quiet_bit() | 0x155, inf - 2});
  std::vector<double> numbers{0.25, 0.5, 1.5, 2, 2.5, 3, 3.5, 10, 0.1, 1.0 / 3};
  for (const double x : {127.0, 128.0, 255.0, 256.0, 32767.0, 32768.0, 65535.0, 65536.0}) {
    numbers.insert(numbers.end(), {x, x - 0.5, x + 0.5});
  }
  for (const int power : {31, 32, 63, 64}) {
    const double x = std::ldexp(1.0, power);
    numbers.insert(numbers.end(), {x, x - std::ldexp(1.0, power - 24), x - 1, x - 0.5});
    numbers.push_back(x + std::ldexp(1.0, power - 23));
  }
  // The limits of f16 and f32 and halfway below their ends.
  for (const double x : {65504.0, 65519.0, 65520.0, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-14, 0x1.002p0,
                         0x1.001p0, 0x1.003p0, 0x1.000001p0, 0x1.000003p0, 0x1.fffffep127,
                         0x1.ffffffp127, 0x1p-149, 0x1p-150, 0x1.8p-150, 0x1p-126}) {
    numbers.push_back(x);
  }
  for (const double x : numbers) {
    values.push_back(from_long_double(format, static_cast<long double>(x)));
  }
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(values[i] | format.sign());
  return values;
}

std::uint64_t near_power_of_two(const Type& type, Random& random) {
  const std::uint64_t offset = random() % 5 - 2;
  if (type.is_float()) {
    const Format format = type.format();
    const std::uint64_t exponent = random() % (format.infinity() / format.min_normal());
    return (exponent * format.min_normal() + offset) & type.mask();
  }
  const std::uint64_t x = std::uint64_t{1} << (random() % static_cast<unsigned>(type.bits()));
  return ((random() % 2 == 0 ? x : -x) + offset) & type.mask();
}

std::uint64_t near_value(const Type& type, std::uint64_t related, Random& random) {
  if (!type.is_float()) return (related + random() % 9 - 4) & type.mask();
  // Near exponents make sums align, cancel and tie.
  const Format format = type.format();
  const std::uint64_t exponent_change = (random() % 64 - 32) * format.min_normal();
  const std::uint64_t kept = random() % 2 == 0 ? related : random();
  const std::uint64_t fraction = kept & (format.min_normal() - 1);
  const std::uint64_t trailing = random() % 3 == 0 ? ~std::uint64_t{0xFFFF} : ~std::uint64_t{0};
  const std::uint64_t exponent = related & ~(format.min_normal() - 1);
  const std::uint64_t sign = random() % 2 == 0 ? format.sign() : 0;
  return (((exponent + exponent_change) | (fraction & trailing)) ^ sign) & type.mask();
}

}  // namespace

Type::Type(const char* name) : name_(name), bits_(bits_in(name_)) {}

std::uint64_t Type::mask() const {
  return bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits_) - 1;
}

std::string Type::declaration(const std::string& name) const {
  if (is_predicate()) return ".reg .pred " + name + "; .reg .b16 " + name + "_flag;\n";
  if (bits_ == 8 || name_ == "f16") return ".reg .b16 " + name + ";\n";
  return ".reg ." + name_ + " " + name + ";\n";
}

std::string Type::load(const std::string& name, const std::string& address) const {
  if (is_predicate()) {
    return "ld.global.u8 " + name + "_flag, " + address + ";\nsetp.ne.s16 " + name + ", " + name +
           "_flag, 0;\n";
  }
  return "ld.global." + (name_ == "f16" ? "b16" : name_) + " " + name + ", " + address + ";\n";
}

std::string Type::store(const std::string& name, const std::string& address) const {
  if (is_predicate()) {
    return "selp.u16 " + name + "_flag, 1, 0, " + name + ";\nst.global.u8 " + address + ", " +
           name + "_flag;\n";
  }
  return "st.global." + (name_ == "f16" ? "b16" : name_) + " " + address + ", " + name + ";\n";
}

std::vector<std::uint64_t> corners(const Type& type) {
  if (type.is_predicate()) return {0, 1};
  return type.is_float() ? float_corners(type.format()) : integer_corners(type.bits());
}

std::uint64_t draw(const Type& type, std::uint64_t related, Random& random) {
  if (type.is_predicate()) return random() & 1;
  switch (random() % 5) {
    case 0: {
      static thread_local std::string name;
      static thread_local std::vector<std::uint64_t> values;
      if (name != type.name()) name = type.name(), values = corners(type);
      return values[random() % values.size()];
    }
    case 1:
      return near_power_of_two(type, random);
    case 2:
      return near_value(type, related, random);
    default:
      return random() & type.mask();
  }
}

std::vector<std::vector<std::uint64_t>> operand_tuples(const std::vector<Type>& types,
                                                       std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<std::uint64_t>> tuples;
  if (types.empty()) return std::vector<std::vector<std::uint64_t>>(128);
  const auto complete = [&](std::vector<std::uint64_t> tuple) {
    while (tuple.size() < types.size()) {
      tuple.push_back(draw(types[tuple.size()], tuple.empty() ? 0 : tuple.back(), random));
    }
    tuples.push_back(std::move(tuple));
  };
  for (const std::uint64_t a : corners(types[0])) {
    if (types.size() == 1) {
      complete({a});
      continue;
    }
    for (const std::uint64_t b : corners(types[1])) complete({a, b});
  }
  for (int i = 0; i < 3000; ++i) complete({});
  while (tuples.size() % 128 != 0) complete({});
  return tuples;
}

}  // namespace emulator::test
