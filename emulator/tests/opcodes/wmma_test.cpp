#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/opcodes/matrix_model.h"
#include "emulator/tests/opcodes/operand.h"

// PTX ISA: wmma.load, wmma.mma, wmma.store.
namespace emulator::test {
namespace {

struct Case {
  const char* shape;
  int m, n, k;
  const char *factor, *c, *d;
  int a_registers, b_registers, c_registers, d_registers;
  const char* target;
};
constexpr Case cases[] = {
    {"m16n16k16", 16, 16, 16, "f16", "f32", "f32", 8, 8, 8, 8, "sm_70"},
    {"m16n16k16", 16, 16, 16, "f16", "f16", "f16", 8, 8, 4, 4, "sm_70"},
    {"m32n8k16", 32, 8, 16, "f16", "f16", "f32", 8, 8, 4, 8, "sm_70"},
    {"m8n32k16", 8, 32, 16, "f16", "f32", "f32", 8, 8, 8, 8, "sm_70"},
    {"m16n16k16", 16, 16, 16, "bf16", "f32", "f32", 4, 4, 8, 8, "sm_80"},
    {"m32n8k16", 32, 8, 16, "bf16", "f32", "f32", 8, 2, 8, 8, "sm_80"},
    {"m8n32k16", 8, 32, 16, "bf16", "f32", "f32", 2, 8, 8, 8, "sm_80"},
    {"m16n16k16", 16, 16, 16, "s8", "s32", "s32", 2, 2, 8, 8, "sm_72"},
    {"m32n8k16", 32, 8, 16, "u8", "s32", "s32", 4, 1, 8, 8, "sm_72"},
    {"m8n32k16", 8, 32, 16, "s8", "s32", "s32", 1, 4, 8, 8, "sm_72"},
    {"m16n16k8", 16, 16, 8, "tf32", "f32", "f32", 4, 4, 8, 8, "sm_80"},
    {"m8n8k4", 8, 8, 4, "f64", "f64", "f64", 1, 1, 2, 2, "sm_80"},
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.shape << ' ' << c.factor << ' ' << c.d; }

/// A matrix in memory with a gap behind each row or column.
struct Stored {
  std::string type;
  int rows, columns;
  bool by_columns;
  int gap = static_cast<int>(16 / matrix_bytes(type));

  int stride() const { return (by_columns ? rows : columns) + gap; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(stride() * (by_columns ? columns : rows)) * matrix_bytes(type);
  }
  std::size_t offset(int row, int column) const {
    return static_cast<std::size_t>(by_columns ? column * stride() + row
                                               : row * stride() + column) *
           matrix_bytes(type);
  }
  std::string layout() const { return by_columns ? "col" : "row"; }
};

std::string registers(const std::string& name, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
  return list + "}";
}

std::string product_types(const Case& c) {
  const std::string factor = c.factor;
  if (factor == "f16") return std::string(".") + c.d + "." + c.c;
  return std::string(".") + c.d + "." + factor + "." + factor + "." + c.c;
}

std::string program(const Case& c, const Stored& a, const Stored& b, const Stored& sum,
                    const Stored& d, const std::string& told_a, const std::string& told_b) {
  const std::string bits = std::string(c.d) == "f64" ? ".reg .b64 " : ".reg .b32 ";
  const std::string shape = std::string(".") + c.shape;
  const auto load = [&](const std::string& which, const Stored& from, int count) {
    return bits + "%m" + which + "<8>;\nwmma.load." + which + ".sync.aligned." + from.layout() +
           shape + ".global." + from.type + " " + registers("%m" + which, count) + ", [%" + which +
           "], " + std::to_string(from.stride()) + ";\n";
  };
  return load("a", a, c.a_registers) + load("b", b, c.b_registers) + load("c", sum, c.c_registers) +
         bits + "%md<8>;\nwmma.mma.sync.aligned." + told_a + "." + told_b + shape +
         product_types(c) + (std::string(c.d) == "f64" ? ".rn " : " ") +
         registers("%md", c.d_registers) + ", " + registers("%ma", c.a_registers) + ", " +
         registers("%mb", c.b_registers) + ", " + registers("%mc", c.c_registers) +
         ";\nwmma.store.d.sync.aligned." + d.layout() + shape + ".global." + d.type + " [%d], " +
         registers("%md", c.d_registers) + ", " + std::to_string(d.stride()) + ";\n";
}

/// Runs the product of whole numbers; returns how many elements are wrong.
int wrong_elements(const Case& c, bool a_columns, bool b_columns, bool c_columns,
                   bool tells_the_truth) {
  const Stored a{c.factor, c.m, c.k, a_columns}, b{c.factor, c.k, c.n, b_columns},
      sum{c.c, c.m, c.n, c_columns}, d{c.d, c.m, c.n, !c_columns};
  Random random(7);
  const auto fill = [&](const Stored& matrix, std::vector<int>& values) {
    std::vector<std::byte> bytes(matrix.bytes());
    for (int row = 0; row < matrix.rows; ++row)
      for (int column = 0; column < matrix.columns; ++column) {
        values.push_back(static_cast<int>(random() % 6) - (matrix.type == "u8" ? 0 : 3));
        const std::uint64_t element = matrix_bits(matrix.type, values.back());
        std::memcpy(bytes.data() + matrix.offset(row, column), &element, matrix_bytes(matrix.type));
      }
    return bytes;
  };
  std::vector<int> x, y, z;
  const auto a_bytes = fill(a, x), b_bytes = fill(b, y), c_bytes = fill(sum, z);
  Device device;
  device.set_gpu("a100");
  const bool told_a = a_columns == tells_the_truth, told_b = b_columns == tells_the_truth;
  Kernels kernels(
      device, module_head(c.target) +
                  kernel({"a", "b", "c", "d"},
                         program(c, a, b, sum, d, told_a ? "col" : "row", told_b ? "col" : "row")));
  const auto out = device.upload(std::vector<std::byte>(d.bytes()));
  kernels.run("test", {.grid = {1}, .block = {32}}, device.upload(a_bytes), device.upload(b_bytes),
              device.upload(c_bytes), out);
  const auto d_bytes = device.download<std::byte>(out, d.bytes());
  int wrong = 0;
  for (int row = 0; row < c.m; ++row)
    for (int column = 0; column < c.n; ++column) {
      int expected = z[static_cast<std::size_t>(row * c.n + column)];
      for (int l = 0; l < c.k; ++l)
        expected += x[static_cast<std::size_t>(row * c.k + l)] *
                    y[static_cast<std::size_t>(l * c.n + column)];
      std::uint64_t bits = 0;
      std::memcpy(&bits, d_bytes.data() + d.offset(row, column), matrix_bytes(c.d));
      wrong += bits == matrix_bits(c.d, expected) ? 0 : 1;
    }
  return wrong;
}

class Wmma : public testing::TestWithParam<Case> {};

TEST_P(Wmma, MultipliesMatricesOfAllLayouts) {
  for (int layouts = 0; layouts < 8; ++layouts)
    EXPECT_EQ(wrong_elements(GetParam(), (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0,
                             true),
              0)
        << "layouts " << layouts;
}

// Programs that tell it another layout than the load must not happen to work.
TEST_P(Wmma, MultipliesOtherMatricesWhenToldAnotherLayout) {
  EXPECT_GT(wrong_elements(GetParam(), false, true, false, false), 0);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Wmma, testing::ValuesIn(cases));

Caught caught(const std::string& body) {
  return caught_from([&] {
    Device device;
    device.set_gpu("a100");
    Kernels kernels(device, module_head("sm_80") + kernel({"in"}, body));
    kernels.run("test", {.grid = {1}, .block = {32}}, device.upload(std::vector<int>(1024)));
  });
}

std::string load(const std::string& stride) {
  return ".reg .b32 %ma<8>;\nwmma.load.a.sync.aligned.row.m16n16k16.f16 " + registers("%ma", 8) +
         ", [%in], " + stride + ";\n";
}

TEST(WmmaAccess, IsChecked) {
  EXPECT_FALSE(caught(load("24")).any);
  const Caught stride = caught(load("20"));
  EXPECT_EQ(stride.kind, FaultKind::misaligned_address) << stride.text;
  const Caught base = caught("add.u64 %in, %in, 16;\n" + load("16"));
  EXPECT_EQ(base.kind, FaultKind::misaligned_address) << base.text;
  const Caught outside = caught("add.u64 %in, %in, 3840;\n" + load("16"));
  EXPECT_EQ(outside.kind, FaultKind::illegal_address) << outside.text;
  const Caught differing = caught("mad.wide.u32 %in, %r2, 32, %in;\n" + load("16"));
  EXPECT_NE(differing.text.find("different matrices"), std::string::npos) << differing.text;
  const Caught half = caught("setp.lt.u32 %p1, %r2, 16;\n@%p1 exit;\n" + load("16"));
  EXPECT_EQ(half.kind, FaultKind::divergent_barrier) << half.text;
}

// A load after a store, by other lanes and without a barrier between them.
TEST(WmmaAccess, OrdersNothing) {
  const std::string head =
      ".shared .align 32 .b8 tile[512];\n.reg .b32 %ma<8>, %mc<4>;\n"
      "mov.u32 %r3, tile;\nmov.u32 %mc0, 0; mov.u32 %mc1, 0; "
      "mov.u32 %mc2, 0; mov.u32 %mc3, 0;\n";
  const std::string store_words =
      "mad.lo.u32 %r4, %r2, 16, %r3;\n"
      "st.shared.v4.u32 [%r4], {%r2, %r2, %r2, %r2};\n";
  const std::string store_tile =
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r3], " + registers("%mc", 4) + ";\n";
  const std::string load_tile =
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + registers("%ma", 8) + ", [%r3];\n";
  const std::string load_words =
      "mad.lo.u32 %r4, %r2, 16, %r3;\n"
      "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];\n";
  const std::string sync = "bar.warp.sync -1;\n";
  EXPECT_EQ(caught(head + store_words + load_tile).kind, FaultKind::race);
  EXPECT_FALSE(caught(head + store_words + sync + load_tile).any);
  EXPECT_EQ(caught(head + store_words + sync + store_tile + load_words).kind, FaultKind::race);
  EXPECT_FALSE(caught(head + store_tile + sync + load_words).any);
}

TEST(WmmaAccess, TakesTheWidthOfTheMatrixForItsStride) {
  const std::string to = ".reg .b32 %ma<8>;\n";
  const std::string body = to + "wmma.load.c.sync.aligned.row.m8n32k16.s32 " + registers("%ma", 8) +
                           ", [%in];\nwmma.store.d.sync.aligned.col.m8n32k16.s32 [%out], " +
                           registers("%ma", 8) + ";\n";
  Device device;
  std::vector<std::uint32_t> in(256);
  for (std::uint32_t i = 0; i < 256; ++i) in[i] = i;
  Kernels kernels(device, module_head("sm_72") + kernel({"out", "in"}, body));
  const auto out = device.allocate(1024);
  kernels.run("test", {.grid = {1}, .block = {32}}, out, device.upload(in));
  const auto transposed = device.download<std::uint32_t>(out, 256);
  for (std::uint32_t row = 0; row < 8; ++row)
    for (std::uint32_t column = 0; column < 32; ++column)
      EXPECT_EQ(transposed[column * 8 + row], row * 32 + column);
}

TEST(WmmaProduct, RoundsDoublesAsTold) {
  const auto first = [](const std::string& rounding) {
    Device device;
    const std::string body =
        ".reg .f64 %ma, %mb, %mc<2>, %md<2>;\n"
        "mov.f64 %ma, 0d3FF0000000000000; mov.f64 %mb, 0d3C30000000000000;\n"  // 1, 2^-60
        "mov.f64 %mc0, 0d3FF0000000000000; mov.f64 %mc1, 0d3FF0000000000000;\n"
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64." +
        rounding + " {%md0, %md1}, {%ma}, {%mb}, {%mc0, %mc1};\n" + element("%out", 8) +
        "st.global.f64 [%l31], %md0;\n";
    Kernels kernels(device, module_head("sm_80") + kernel({"out"}, body));
    const auto out = device.allocate(256);
    kernels.run("test", {.grid = {1}, .block = {32}}, out);
    return device.download<double>(out, 32)[0];
  };
  EXPECT_EQ(first("rn"), 1.0);
  EXPECT_EQ(first("rz"), 1.0);
  EXPECT_EQ(first("rm"), 1.0);
  EXPECT_EQ(first("rp"), 1 + 4 * 0x1p-52) << "four sums";
}

}  // namespace
}  // namespace emulator::test
