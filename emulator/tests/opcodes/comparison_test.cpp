#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/table.h"

// PTX ISA, "Comparison and Selection Instructions".
namespace emulator::test {
namespace {

enum class Order { less, equal, greater, unordered };

template <class T>
Order order_of(T a, T b) {
  return a < b ? Order::less : a == b ? Order::equal : Order::greater;
}

Order order_of(Format format, std::uint64_t a, std::uint64_t b) {
  if (format.is_nan(a) || format.is_nan(b)) return Order::unordered;
  const auto key = [&](std::uint64_t x) {
    const auto magnitude = static_cast<Int128>(format.magnitude(x));
    return format.is_negative(x) ? -magnitude : magnitude;
  };
  return order_of(key(a), key(b));
}

// lo, ls, hi and hs are the unsigned names; the u of equ and its like says "or unordered".
bool holds(const std::string& comparison, Order order) {
  if (comparison == "num") return order != Order::unordered;
  if (comparison == "nan") return order == Order::unordered;
  const bool or_unordered = comparison.size() == 3;
  if (order == Order::unordered) return or_unordered;
  const std::string plain = comparison.substr(0, 2);
  if (plain == "eq") return order == Order::equal;
  if (plain == "ne") return order != Order::equal;
  if (plain == "lt" || plain == "lo") return order == Order::less;
  if (plain == "le" || plain == "ls") return order != Order::greater;
  if (plain == "gt" || plain == "hi") return order == Order::greater;
  return order != Order::less;  // ge, hs
}

using Comparison = std::function<Order(std::span<const std::uint64_t>)>;

template <class T>
Comparison integer_comparison() {
  return [](std::span<const std::uint64_t> x) {
    return order_of(static_cast<T>(x[0]), static_cast<T>(x[1]));
  };
}

Comparison float_comparison(Format format, bool ftz) {
  return [format, ftz](std::span<const std::uint64_t> x) {
    if (ftz) return order_of(format, format.flushed(x[0]), format.flushed(x[1]));
    return order_of(format, x[0], x[1]);
  };
}

struct Kind {
  std::string suffix;  // ".ftz.f32"
  Type type;
  std::vector<std::string> comparisons;
  Comparison order;
};

template <class T>
Kind kind(std::vector<std::string> comparisons) {
  return {std::string(".") + name_of<T>(), name_of<T>(), std::move(comparisons),
          integer_comparison<T>()};
}

std::vector<Kind> integer_kinds() {
  const std::vector<std::string> of_signed{"eq", "ne", "lt", "le", "gt", "ge"};
  const std::vector<std::string> of_unsigned{"eq", "ne", "lt", "le", "gt",
                                             "ge", "lo", "ls", "hi", "hs"};
  std::vector<Kind> kinds{kind<std::int16_t>(of_signed),    kind<std::int32_t>(of_signed),
                          kind<std::int64_t>(of_signed),    kind<std::uint16_t>(of_unsigned),
                          kind<std::uint32_t>(of_unsigned), kind<std::uint64_t>(of_unsigned)};
  for (const int bits : {16, 32, 64}) {
    const std::string name = std::to_string(bits);
    kinds.push_back(
        {".b" + name, ("u" + name).c_str(), {"eq", "ne"}, integer_comparison<std::uint64_t>()});
  }
  return kinds;
}

std::vector<Kind> float_kinds() {
  const std::vector<std::string> all{"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                     "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  return {{".f32", "f32", all, float_comparison(f32, false)},
          {".ftz.f32", "f32", all, float_comparison(f32, true)},
          {".f64", "f64", all, float_comparison(f64, false)}};
}

std::vector<Row> setp_rows(const std::vector<Kind>& kinds) {
  std::vector<Row> rows;
  for (const Kind& each : kinds) {
    for (const std::string& comparison : each.comparisons) {
      rows.push_back({"setp." + comparison + each.suffix + " %d, %a, %b;",
                      "pred",
                      {each.type, each.type},
                      [order = each.order, comparison](std::span<const std::uint64_t> x) {
                        return Expected(holds(comparison, order(x)));
                      }});
    }
  }
  return rows;
}

TEST(Comparison, SetpOfIntegers) { check(setp_rows(integer_kinds())); }

TEST(Comparison, SetpOfFloats) { check(setp_rows(float_kinds())); }

// setp.cmp.boolop p|q, a, b, c: p = (a cmp b) boolop c, q = !(a cmp b) boolop c.
TEST(Comparison, SetpCombinesWithAPredicate) {
  using I = std::int32_t;
  check({row("setp.lt.and.s32 %d, %a, %b, %c;", [](I a, I b, bool c) { return a < b && c; }),
         row("setp.lt.or.s32 %d, %a, %b, %c;", [](I a, I b, bool c) { return a < b || c; }),
         row("setp.lt.xor.s32 %d, %a, %b, %c;", [](I a, I b, bool c) { return (a < b) != c; }),
         row("setp.lt.and.s32 %d, %a, %b, !%c;", [](I a, I b, bool c) { return a < b && !c; }),
         row("{ .reg .pred p; setp.lt.and.s32 p|%d, %a, %b, %c; }",
             [](I a, I b, bool c) { return !(a < b) && c; }),
         row("{ .reg .pred p; setp.ge.s32 p|%d, %a, %b; }", [](I a, I b) { return a < b; }),
         row("{ .reg .pred q; setp.ge.or.s32 %d|q, %a, %b, %c; }",
             [](I a, I b, bool c) { return a >= b || c; })});
}

// A NaN makes `a < b` false, so that the second predicate is true.
TEST(Comparison, SetpsSecondPredicateNegatesTheComparison) {
  check({{"{ .reg .pred p; setp.lt.f32 p|%d, %a, %b; }",
          "pred",
          {"f32", "f32"},
          [](std::span<const std::uint64_t> x) {
            return Expected(order_of(f32, x[0], x[1]) != Order::less);
          }}});
}

// set: all ones or 1.0 for true.
TEST(Comparison, Set) {
  std::vector<Row> rows;
  const auto add = [&rows](const std::vector<Kind>& kinds) {
    for (const Kind& each : kinds) {
      for (const std::string& comparison : each.comparisons) {
        for (const std::string result : {"u32", "s32", "f32"}) {
          const std::uint64_t truth = result == "f32" ? f32.one() : 0xFFFFFFFF;
          const bool ftz = each.suffix.starts_with(".ftz");
          rows.push_back(
              {"set." + comparison + (ftz ? ".ftz." : ".") + result + "." + each.type.name() +
                   " %d, %a, %b;",
               result.c_str(),
               {each.type, each.type},
               [order = each.order, comparison, truth](std::span<const std::uint64_t> x) {
                 return Expected(holds(comparison, order(x)) ? truth : std::uint64_t{0});
               }});
        }
      }
    }
  };
  add({{".s32", "s32", {"eq", "lt", "ge"}, integer_comparison<std::int32_t>()},
       {".u64", "u64", {"ne", "hi"}, integer_comparison<std::uint64_t>()},
       {".f32", "f32", {"lt", "geu", "nan"}, float_comparison(f32, false)},
       {".ftz.f32", "f32", {"eq"}, float_comparison(f32, true)},
       {".f64", "f64", {"gt", "num"}, float_comparison(f64, false)}});
  rows.push_back(row(
      "set.lt.and.u32.s32 %d, %a, %b, %c;",
      [](std::int32_t a, std::int32_t b, bool c) { return a < b && c ? ~std::uint32_t{0} : 0U; }));
  check(rows);
}

TEST(Comparison, Select) {
  std::vector<Row> rows;
  for (const std::string name :
       {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"}) {
    const std::string type = name[0] == 'b' ? "u" + name.substr(1) : name;
    rows.push_back(
        {"selp." + name + " %d, %a, %b, %c;",
         type.c_str(),
         {type.c_str(), type.c_str(), "pred"},
         [](std::span<const std::uint64_t> x) { return Expected(x[2] != 0 ? x[0] : x[1]); }});
  }
  rows.push_back(row("selp.b32 %d, 7, -2, %a;", [](bool a) { return a ? 7 : -2; }));
  check(rows);
}

// slct: a if c >= 0, else b; a NaN and, with .ftz, a flushed subnormal take b and a.
TEST(Comparison, SelectBySign) {
  std::vector<Row> rows;
  for (const std::string type : {"u32", "u64", "f32", "f64"}) {
    rows.push_back({"slct." + type + ".s32 %d, %a, %b, %c;",
                    type.c_str(),
                    {type.c_str(), type.c_str(), "s32"},
                    [](std::span<const std::uint64_t> x) {
                      return Expected(static_cast<std::int32_t>(x[2]) >= 0 ? x[0] : x[1]);
                    }});
    for (const bool ftz : {false, true}) {
      rows.push_back({std::string("slct") + (ftz ? ".ftz." : ".") + type + ".f32 %d, %a, %b, %c;",
                      type.c_str(),
                      {type.c_str(), type.c_str(), "f32"},
                      [ftz](std::span<const std::uint64_t> x) {
                        const Order order = order_of(f32, ftz ? f32.flushed(x[2]) : x[2], 0);
                        const bool first = order == Order::greater || order == Order::equal;
                        return Expected(first ? x[0] : x[1]);
                      }});
    }
  }
  check(rows);
}

}  // namespace
}  // namespace emulator::test
