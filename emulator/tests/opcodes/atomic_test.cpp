#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/exact.h"
#include "emulator/tests/opcodes/operand.h"

// PTX ISA: atom and red, their results and what they leave in memory.
namespace emulator::test {
namespace {

using Combine = std::function<std::uint64_t(std::uint64_t old, std::uint64_t b, std::uint64_t c)>;

struct Operation {
  std::string name;  // "add"
  std::string type;  // as the instruction says it: "b64"
  Type operand;
  Combine combine;
  bool has_red = true, takes_two = false;
};

template <class T>
Combine of_integers(T (*function)(T, T)) {
  return [function](std::uint64_t a, std::uint64_t b, std::uint64_t) {
    return static_cast<std::uint64_t>(function(static_cast<T>(a), static_cast<T>(b)));
  };
}

template <class T>
void append_integer_operations(std::vector<Operation>& table, const std::string& type) {
  const Type operand(type.c_str());
  table.push_back({"add", type, operand,
                   of_integers<T>([](T a, T b) { return static_cast<T>(Int128{a} + b); })});
  table.push_back({"min", type, operand, of_integers<T>([](T a, T b) { return std::min(a, b); })});
  table.push_back({"max", type, operand, of_integers<T>([](T a, T b) { return std::max(a, b); })});
}

template <class T>
void append_bit_operations(std::vector<Operation>& table, const std::string& bits) {
  const Type operand(("u" + bits).c_str());
  const std::string type = "b" + bits;
  table.push_back({"and", type, operand, of_integers<T>([](T a, T b) { return a & b; })});
  table.push_back({"or", type, operand, of_integers<T>([](T a, T b) { return a | b; })});
  table.push_back({"xor", type, operand, of_integers<T>([](T a, T b) { return a ^ b; })});
  table.push_back({"exch", type, operand, of_integers<T>([](T, T b) { return b; }), false});
  table.push_back(
      {"cas", type, operand,
       [](std::uint64_t old, std::uint64_t b, std::uint64_t c) { return old == b ? c : old; },
       false, true});
}

// atom.add.f32 on global memory flushes subnormals, on shared memory it does not; operands here
// have none.
std::vector<Operation> operations() {
  std::vector<Operation> table;
  append_integer_operations<std::uint32_t>(table, "u32");
  append_integer_operations<std::int32_t>(table, "s32");
  append_integer_operations<std::uint64_t>(table, "u64");
  append_integer_operations<std::int64_t>(table, "s64");
  // The ISA has no atom.add.s64: the addition of .u64 serves both.
  std::erase_if(table,
                [](const Operation& each) { return each.name == "add" && each.type == "s64"; });
  append_bit_operations<std::uint32_t>(table, "32");
  append_bit_operations<std::uint64_t>(table, "64");
  using U = std::uint32_t;
  table.push_back(
      {"inc", "u32", "u32", of_integers<U>([](U a, U b) { return a >= b ? 0 : a + 1; })});
  table.push_back(
      {"dec", "u32", "u32", of_integers<U>([](U a, U b) { return a == 0 || a > b ? b : a - 1; })});
  for (const char* type : {"f32", "f64"}) {
    const Format format = Type(type).format();
    table.push_back({"add", type, type, [format](std::uint64_t a, std::uint64_t b, std::uint64_t) {
                       return add(format, a, b, Rounding::nearest_even);
                     }});
  }
  return table;
}

// Values small enough that a cas or an inc hits its bound now and then, and floats that round.
std::uint64_t value_for(const Operation& operation, Random& random) {
  if (operation.type[0] == 'f') {
    const auto x = static_cast<long double>(static_cast<std::int64_t>(random())) * 0x1p-40L;
    return from_long_double(operation.operand.format(), x);
  }
  return random() % 3 == 0 ? draw(operation.operand, 1, random) : random() % 4;
}

struct Place {
  std::string space;       // ".global", ".shared" or "" for generic
  bool in_shared = false;  // where the generic address points
};

std::string atomic_text(const Operation& operation, const Place& place,
                        const std::string& qualifiers, bool red) {
  const std::string registers = operation.operand.bits() == 64 ? "%l" : "%r";
  const std::string d = registers + "10", b = registers + "11", c = registers + "12";
  return std::string(red ? "red" : "atom") + qualifiers + place.space + "." + operation.name + "." +
         operation.type + " " + (red ? "" : d + ", ") + "[%l5], " + b +
         (operation.takes_two ? ", " + c : "") + ";\n";
}

struct Cells {
  std::vector<std::uint64_t> old, b, c;
};

// Each thread has a cell of its own, so that all results are known.
std::string cell_body(const Operation& operation, const Place& place, const std::string& qualifiers,
                      bool red) {
  const bool wide = operation.operand.bits() == 64;
  const std::string width = wide ? "b64" : "b32", registers = wide ? "%l" : "%r";
  std::string body = ".shared .align 8 .b8 cells[2048];\n";
  for (const auto& [base, to] :
       {std::pair("%in_old", "10"), std::pair("%in_b", "11"), std::pair("%in_c", "12")}) {
    body += element(base, 8) + "ld.global." + width + " " + registers + to + ", [%l31];\n";
  }
  body += element("%memory", 8) + "mov.u64 %l5, %l31;\n";
  if (place.in_shared) {
    body +=
        "mov.u32 %r3, %tid.x; mul.wide.u32 %l6, %r3, 8; mov.u64 %l7, cells; add.s64 %l5, %l7, "
        "%l6;\n";
    body += "st.shared." + width + " [%l5], " + registers + "10;\n";
    if (place.space.empty()) body += "cvta.shared.u64 %l5, %l5;\n";
  } else {
    body += "st.global." + width + " [%l5], " + registers + "10;\n";
  }
  body += atomic_text(operation, place, qualifiers, red);
  if (!red)
    body += element("%result", 8) + "st.global." + width + " [%l31], " + registers + "10;\n";
  const std::string space = place.space.empty() ? "" : place.space;
  body += "ld" + space + "." + width + " " + registers + "13, [%l5];\n";
  body += element("%after", 8) + "st.global." + width + " [%l31], " + registers + "13;\n";
  return body;
}

void check_cells(const Operation& operation, const Place& place, const std::string& qualifiers,
                 bool red) {
  constexpr std::size_t threads = 256;
  Random random(17);
  Cells cells;
  for (std::size_t i = 0; i < threads; ++i) {
    cells.old.push_back(value_for(operation, random));
    cells.b.push_back(i % 4 == 0 ? cells.old.back() : value_for(operation, random));
    cells.c.push_back(value_for(operation, random));
  }
  Device device;
  Kernels kernels(device,
                  module_head() + kernel({"in_old", "in_b", "in_c", "memory", "result", "after"},
                                         cell_body(operation, place, qualifiers, red)));
  const auto memory = device.allocate(threads * 8);
  const auto result = device.upload(std::vector<std::uint64_t>(threads));
  const auto after = device.upload(std::vector<std::uint64_t>(threads));
  kernels.run("test", {.grid = {2}, .block = {128}}, device.upload(cells.old),
              device.upload(cells.b), device.upload(cells.c), memory, result, after);
  const auto old = device.download<std::uint64_t>(result, threads);
  const auto left = device.download<std::uint64_t>(after, threads);
  const std::uint64_t mask = operation.operand.mask();
  for (std::size_t i = 0; i < threads; ++i) {
    const std::uint64_t before = cells.old[i] & mask, b = cells.b[i] & mask, c = cells.c[i] & mask;
    ASSERT_EQ(left[i], operation.combine(before, b, c) & mask)
        << std::hex << before << " " << b << " " << c;
    ASSERT_EQ(old[i], red ? 0 : before);
  }
}

TEST(Atomic, EachOperationTypeAndSpace) {
  const Place places[] = {{".global", false}, {".shared", true}, {"", false}, {"", true}};
  for (const Operation& operation : operations()) {
    for (const Place& place : places) {
      for (const bool red : {false, true}) {
        if (red && !operation.has_red) continue;
        SCOPED_TRACE(atomic_text(operation, place, "", red) +
                     (place.in_shared ? "shared" : "global"));
        try {
          check_cells(operation, place, "", red);
        } catch (const Fault& fault) {
          ADD_FAILURE() << fault.what();
        }
      }
    }
  }
}

TEST(Atomic, EachOrderAndScope) {
  const auto table = operations();
  for (const std::string order : {"", ".relaxed", ".acquire", ".release", ".acq_rel"}) {
    for (const std::string scope : {"", ".cta", ".gpu", ".sys"}) {
      SCOPED_TRACE(order + scope);
      check_cells(table[0], {".global", false}, order + scope, false);
      if (order.empty() || order == ".relaxed" || order == ".release") {
        check_cells(table[0], {".global", false}, order + scope, true);
      }
    }
  }
}

// All threads of several blocks on one cell: each operation happens once.
TEST(Atomic, OnOneCell) {
  for (const std::string instruction :
       {"atom.global.add.u32 %r3, [%in], 1;", "atom.add.u32 %r3, [%in], 1;",
        "atom.global.inc.u32 %r3, [%in], -1;"}) {
    auto out =
        run_u32(instruction + "\n" + store_u32("%out", "%r3"), {.grid = {8}, .block = {96}}, {0});
    std::ranges::sort(out);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i) << instruction;
  }
}

// A lock made of cas and exch, taken by one lane after another.
TEST(Atomic, CompareAndSwapLoop) {
  const std::string body =
      "ld.relaxed.gpu.global.u32 %r3, [%in];\n"
      "RETRY: add.u32 %r4, %r3, 3; mov.u32 %r5, %r3;\n"
      "atom.global.cas.b32 %r3, [%in], %r5, %r4; setp.ne.u32 %p1, %r3, %r5; @%p1 bra RETRY;\n" +
      store_u32("%out", "%r3");
  auto out = run_u32(body, {.grid = {3}, .block = {64}}, {0});
  std::ranges::sort(out);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 3 * i);
}

// "if p, the old value": `_` as the destination drops the result.
TEST(Atomic, ResultMayBeDropped) {
  const auto out =
      run_u32("atom.global.add.u32 _, [%in], 2; bar.sync 0; ld.volatile.global.u32 %r3, [%in];\n" +
                  store_u32("%out", "%r3"),
              {.grid = {1}, .block = {64}}, {5});
  for (const std::uint32_t x : out) ASSERT_EQ(x, 133U);
}

// Elements of a vector are added one by one.
TEST(Atomic, Vectors) {
  const std::string floats =
      "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000;\n";  // 1, 2, 3
  const auto added = [](const std::string& body, const std::vector<std::uint32_t>& in) {
    const std::string load =
        "bar.sync 0; mul.wide.u32 %l30, %r2, 4; add.s64 %l30, %l30, %in;\n"
        "ld.relaxed.gpu.global.u32 %r3, [%l30];\n";
    return run_u32(body + load + store_u32("%out", "%r3"),
                   {.grid = {1}, .block = {static_cast<unsigned>(in.size())}}, in, 1, "", 90);
  };
  EXPECT_EQ(added(floats + "red.global.add.v2.f32 [%in], {%f1, %f2};\n", {0, 0x3F800000}),
            (std::vector<std::uint32_t>{0x40000000, 0x40A00000}));  // 2 threads: 2, 5
  EXPECT_EQ(
      added(floats + "atom.global.add.v4.f32 {%f4, %f5, %f6, %f7}, [%in], {%f1, %f2, %f3, %f1};\n"
                     "setp.ge.f32 %p1, %f6, 0f00000000; @!%p1 trap;\n",
            {0, 0, 0, 0}),
      (std::vector<std::uint32_t>{0x40800000, 0x41000000, 0x41400000, 0x40800000}));
  // Halves: 1 and 2, four times; bf16 likewise.
  EXPECT_EQ(added("mov.u16 %h1, 0x3C00; mov.u16 %h2, 0x4000;\n"
                  "red.global.add.noftz.v8.f16 [%in], {%h1, %h2, %h1, %h2, %h1, %h2, %h1, %h2};\n",
                  {0, 0, 0, 0}),
            (std::vector<std::uint32_t>(4, 0x48004400)));
  EXPECT_EQ(added("mov.u32 %r4, 0x40003F80;\n"
                  "red.global.add.noftz.v2.bf16x2 [%in], {%r4, %r4};\n",
                  {0, 0}),
            (std::vector<std::uint32_t>(2, 0x40804000)));
  EXPECT_EQ(caught_from([&] {
              added(floats + "red.global.add.v4.f32 [%in+8], {%f1, %f2, %f3, %f1};\n",
                    {0, 0, 0, 0, 0, 0});
            }).kind,
            FaultKind::misaligned_address);
  for (const char* code :
       {"red.global.max.v2.f32 [%in], {%f1, %f2};", "red.add.v2.f32 [%in], {%f1, %f2};",
        "red.global.add.v8.f32 [%in], {%f1, %f2, %f3, %f4, %f1, %f2, %f3, %f4};",
        "red.global.add.v2.f32 [%in], {%f1, %f2, %f3};",
        "red.global.add.v2.u32 [%in], {%r3, %r3};"})
    EXPECT_EQ(caught_from([&] {
                added(floats + code + "\n", {0, 0});
              }).kind,
              FaultKind::illegal_instruction)
        << code;
}

}  // namespace
}  // namespace emulator::test
