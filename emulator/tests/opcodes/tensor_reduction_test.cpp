#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/tensor_run.h"

// PTX ISA: cp.reduce.async.bulk and cp.reduce.async.bulk.tensor.
namespace emulator::test {
namespace {

TEST(TensorReduction, UpdatesTheBox) {
  struct Row {
    const char* op;
    TensorElement type;
    std::uint64_t before, operand, after;
  };
  const std::vector<Row> rows{{"add", TensorElement::u32, 0xffffffff, 3, 2},
                              {"add", TensorElement::s32, 5, 0xfffffffe, 3},
                              {"add", TensorElement::u64, 0xffffffff, 3, 0x100000002},
                              {"add", TensorElement::f32, 0x3f800000, 0x40000000, 0x40400000},
                              {"add", TensorElement::f16, 0x3c00, 0x4000, 0x4200},
                              {"add", TensorElement::bf16, 0x3f80, 0x4000, 0x4040},
                              {"min", TensorElement::s32, 1, 0xffffffff, 0xffffffff},
                              {"min", TensorElement::u32, 1, 0xffffffff, 1},
                              {"max", TensorElement::s64, 1, ~std::uint64_t{0}, 1},
                              {"max", TensorElement::u64, 1, ~std::uint64_t{0}, ~std::uint64_t{0}},
                              {"min", TensorElement::f16, 0x7e00, 0xbc00, 0xbc00},  // a NaN and -1
                              {"max", TensorElement::bf16, 0x8000, 0x0000, 0x0000},
                              {"min", TensorElement::bf16, 0x3f80, 0xbf80, 0xbf80},
                              {"inc", TensorElement::u32, 7, 7, 0},
                              {"inc", TensorElement::u32, 6, 7, 7},
                              {"dec", TensorElement::u32, 0, 7, 7},
                              {"dec", TensorElement::u32, 6, 7, 5},
                              {"and", TensorElement::u32, 0x0ff0, 0x00ff, 0x00f0},
                              {"or", TensorElement::s64, 0xf00000000, 0xf, 0xf0000000f},
                              {"xor", TensorElement::u64, 0xff, 0xf, 0xf0}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.op) + " of " + std::string(name_of(row.type)));
    std::string body = store_body("cp.reduce.async.bulk.tensor", 2);
    body.replace(body.find("REDUCES"), 7, std::string(".") + row.op);
    TensorRun test(acquire + body);
    const std::size_t bytes = bytes_of(row.type), across = 32 / bytes;
    const auto filled = [&](std::uint64_t value, std::size_t size) {
      Bytes result(size);
      for (std::size_t at = 0; at < size; at += bytes) std::memcpy(&result[at], &value, bytes);
      return result;
    };
    // The box leaves out the tensor's first column and row, and goes beyond its last ones.
    const TensorMap map = tensor_map(row.type, test.device.upload(filled(row.before, 96)),
                                     {across, 3}, {static_cast<unsigned>(across), 4});
    test.run(map, {1, 1}, test.device.upload(filled(row.operand, 128)));
    const Bytes after = filled(row.after, bytes), before = filled(row.before, bytes),
                found = test.device.download<std::uint8_t>(map.address, 96);
    for (std::size_t at = 0; at < 96; at += bytes) {
      const bool is_inside = at >= 32 && at % 32 != 0;
      EXPECT_EQ(Bytes(&found[at], &found[at] + bytes), is_inside ? after : before) << at;
    }
  }
}

TEST(BulkReduction, UpdatesGlobalMemory) {
  struct Row {
    const char* op;
    std::uint64_t before, operand, after;
    std::size_t bytes;
  };
  for (const Row& row :
       std::vector<Row>{{"add.u32", 0xffffffff, 3, 2, 4},
                        {"add.f64", 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000, 8},
                        {"add.noftz.f16", 0x3c00, 0x4000, 0x4200, 2},
                        {"min.s64", 1, ~std::uint64_t{0}, ~std::uint64_t{0}, 8},
                        {"max.bf16", 0x3f80, 0xbf80, 0x3f80, 2},
                        {"inc.u32", 7, 7, 0, 4},
                        {"and.b32", 0x0ff0, 0x00ff, 0x00f0, 4},
                        {"xor.b64", 0xff, 0xf, 0xf0, 8}}) {
    SCOPED_TRACE(row.op);
    TensorRun test(loop("COPY", "ld.global.u32 %r16, [%l3]; st.shared.u32 [%r15], %r16;\n") +
                   "fence.proxy.async.shared::cta;\n"
                   "cp.reduce.async.bulk.global.shared::cta.bulk_group." +
                   row.op +
                   " [%c0], [%r10], 32;\ncp.async.bulk.commit_group;\n"
                   "cp.async.bulk.wait_group 0;\n");
    const auto filled = [&](std::uint64_t value, std::size_t size) {
      Bytes result(size);
      for (std::size_t at = 0; at < size; at += row.bytes)
        std::memcpy(&result[at], &value, row.bytes);
      return result;
    };
    const auto to = test.device.upload(filled(row.before, 32));
    const TensorMap map = tensor_map(TensorElement::u8, 0, {48}, {48});
    test.run(map, {static_cast<std::int64_t>(to)}, test.device.upload(filled(row.operand, 48)));
    EXPECT_EQ(test.device.download<std::uint8_t>(to, 32), filled(row.after, 32));
  }
}

}  // namespace
}  // namespace emulator::test
