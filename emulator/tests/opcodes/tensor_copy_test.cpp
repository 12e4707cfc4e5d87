#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/module.h"
#include "emulator/tests/opcodes/tensor_reference.h"

// PTX ISA: cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, against an independent reference.
// One thread moves a box and copies shared memory to %out, or from %in.
namespace emulator::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Coordinate = std::vector<std::int64_t>;

const std::string head =
    ".shared .align 1024 .b8 box[20480];\n.shared .align 8 .b8 object[8];\n"
    "mov.u32 %r10, box; cvt.u32.u64 %r11, %at; add.u32 %r10, %r10, %r11; mov.u32 %r12, object;\n"
    "cvt.u32.u64 %r20, %c0; cvt.u32.u64 %r21, %c1; cvt.u32.u64 %r22, %c2; cvt.u32.u64 %r23, %c3;\n"
    "cvt.u32.u64 %r24, %c4; cvt.u32.u64 %r13, %bytes;\n";
const std::string acquire = "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n";

std::string operand(std::size_t rank) {
  std::string text = "[%map, {%r20";
  for (std::size_t i = 1; i < rank; ++i) text += ", %r2" + std::to_string(i);
  return text + "}]";
}

std::string loop(const std::string& name, const std::string& body) {
  return "mov.u32 %r14, 0;\n" + name +
         ":\nadd.u32 %r15, %r10, %r14; cvt.u64.u32 %l1, %r14; add.u64 %l2, %l1, %out; "
         "add.u64 %l3, %l1, %in;\n" +
         body + "add.u32 %r14, %r14, 4; setp.lt.u32 %p1, %r14, %r13;\n@%p1 bra " + name + ";\n";
}

std::string load_body(std::size_t rank, const std::string& modifiers = "",
                      const std::string& more = "") {
  return "mbarrier.init.shared.b64 [%r12], 1;\ncp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" + modifiers + " [%r10], " +
         operand(rank) + ", [%r12]" + more +
         ";\nmbarrier.arrive.expect_tx.shared.b64 _, [%r12], %r13;\n"
         "AGAIN: mbarrier.try_wait.parity.shared.b64 %p3, [%r12], 0;\n@!%p3 bra AGAIN;\n" +
         loop("COPY", "ld.shared.u32 %r16, [%r15]; st.global.u32 [%l2], %r16;\n");
}

std::string store_body(const std::string& instruction, std::size_t rank) {
  return loop("COPY", "ld.global.u32 %r16, [%l3]; st.shared.u32 [%r15], %r16;\n") +
         "fence.proxy.async.shared::cta;\n" + instruction + "." + std::to_string(rank) +
         "d.global.shared::cta" + (instruction.starts_with("cp.reduce") ? "REDUCES" : "") +
         ".tile.bulk_group " + operand(rank) +
         ", [%r10];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
}

/// Global memory with a tensor and its map, and a kernel.
class TensorRun {
 public:
  explicit TensorRun(const std::string& body)
      : kernels(device, module_head("sm_90") + kernel({"out", "in", "map", "at", "bytes", "c0",
                                                       "c1", "c2", "c3", "c4"},
                                                      head + body)) {}

  void run(const TensorMap& map, std::vector<std::int64_t> at, std::uintptr_t in = 0) {
    at.resize(5);
    const std::uint64_t size = map.box_bytes();
    out = device.allocate(size);
    kernels.run("test", {.grid = {1}, .block = {1}}, out, in == 0 ? out : in,
                device.upload(std::vector<TensorMap>{map}), std::uint64_t{shared_address}, size,
                at[0], at[1], at[2], at[3], at[4]);
  }
  Bytes load(const TensorMap& map, const Coordinate& at) {
    run(map, at);
    return device.download<std::uint8_t>(out, map.box_bytes());
  }

  Device device;
  Kernels kernels;
  std::uintptr_t out = 0;
  std::size_t shared_address = 0;
};

Bytes numbers(std::mt19937& random, std::size_t count) {
  Bytes bytes(count);
  for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random());
  return bytes;
}

struct Case {
  TensorMap map;
  Bytes tensor;
  Coordinate at;
  std::size_t shared_address;
};

/// A tensor and a box that mostly crosses its bounds.
Case draw(std::mt19937& random, std::size_t rank, Swizzle swizzle, Device& device) {
  constexpr TensorElement types[] = {TensorElement::u8, TensorElement::bf16, TensorElement::s32,
                                     TensorElement::f64};
  const TensorElement type = types[random() % 4];
  const auto bytes = static_cast<unsigned>(bytes_of(type));
  const unsigned inner =
      swizzle == Swizzle::none ? 16 * (1 + random() % 4) : static_cast<unsigned>(span_of(swizzle));
  std::vector<std::uint64_t> dims{1 + random() % (2 * inner / bytes)};
  std::vector<unsigned> box{inner / bytes};
  for (std::size_t i = 1; i < rank; ++i) {
    dims.push_back(1 + random() % 6);
    box.push_back(1 + random() % (rank > 3 ? 3 : 9));
  }
  Case result{tensor_map(type, 0, dims, box, swizzle, 16 * (random() % 3)), {}, {}, 0};
  for (std::size_t i = 0; i < rank; ++i) {
    result.map.element_strides[i] = static_cast<std::uint8_t>(1 + random() % 3);
    const auto least = -static_cast<std::int64_t>(box[i]) - 1,
               most = static_cast<std::int64_t>(dims[i]) + 2;
    result.at.push_back(
        least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least)));
  }
  std::uint64_t size = dims[0] * bytes;
  for (std::size_t i = 1; i < rank; ++i) size += (dims[i] - 1) * result.map.strides[i - 1];
  result.tensor = numbers(random, size);
  result.map.address = device.upload(result.tensor);
  result.shared_address = 128 * (random() % 9);
  seal(result.map);
  return result;
}

constexpr Swizzle swizzles[] = {Swizzle::none,           Swizzle::span_32,
                                Swizzle::span_64,        Swizzle::span_128,
                                Swizzle::span_128_by_32, Swizzle::span_128_by_64};
constexpr int draws = 12;

TEST(TensorCopy, LoadsBoxesOfEachRank) {
  std::mt19937 random(1);
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    TensorRun test(acquire + load_body(rank));
    for (const Swizzle swizzle : swizzles)
      for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(std::to_string(rank) + "d, swizzle " +
                     std::to_string(static_cast<int>(swizzle)) + ", draw " + std::to_string(i));
        const Case each = draw(random, rank, swizzle, test.device);
        test.shared_address = each.shared_address;
        test.kernels.settings.seed = random();
        Bytes expected(each.map.box_bytes());
        for (const BoxByte& byte : bytes_of_box(each.map, each.at, each.shared_address))
          expected[byte.shared] =
              byte.global < 0 ? 0 : each.tensor[static_cast<std::size_t>(byte.global)];
        ASSERT_EQ(test.load(each.map, each.at), expected);
      }
  }
}

TEST(TensorCopy, StoresBoxesOfEachRank) {
  std::mt19937 random(2);
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    TensorRun test(acquire + store_body("cp.async.bulk.tensor", rank));
    for (const Swizzle swizzle : swizzles)
      for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(std::to_string(rank) + "d, swizzle " +
                     std::to_string(static_cast<int>(swizzle)) + ", draw " + std::to_string(i));
        const Case each = draw(random, rank, swizzle, test.device);
        test.shared_address = each.shared_address;
        test.kernels.settings.seed = random();
        const Bytes source = numbers(random, each.map.box_bytes());
        Bytes expected = each.tensor;
        for (const BoxByte& byte : bytes_of_box(each.map, each.at, each.shared_address))
          if (byte.global >= 0)
            expected[static_cast<std::size_t>(byte.global)] = source[byte.shared];
        test.run(each.map, each.at, test.device.upload(source));
        ASSERT_EQ(test.device.download<std::uint8_t>(each.map.address, expected.size()), expected);
      }
  }
}

TEST(TensorCopy, FillsWithNaNs) {
  TensorRun test(acquire + load_body(1));
  for (const TensorElement type :
       {TensorElement::f16, TensorElement::bf16, TensorElement::f32, TensorElement::f64}) {
    const auto bytes = bytes_of(type);
    TensorMap map = tensor_map(type, test.device.upload(Bytes(32)), {32 / bytes},
                               {static_cast<unsigned>(64 / bytes)});
    map.fills_with_nan = true;
    seal(map);
    const Bytes found = test.load(map, {0});
    for (std::size_t at = 0; at < found.size(); at += bytes) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &found[at], bytes);
      const std::uint64_t infinity = type == TensorElement::f16    ? 0x7c00
                                     : type == TensorElement::bf16 ? 0x7f80
                                     : bytes == 4                  ? 0x7f800000
                                                                   : 0x7ff0000000000000;
      EXPECT_EQ(bits > infinity, at >= 32) << at;
      EXPECT_TRUE(at >= 32 || bits == 0) << at;
    }
  }
}

TEST(TensorCopy, FlushesAndRefusesToRound) {
  TensorRun test(acquire + load_body(1));
  const auto load = [&](TensorElement type, const std::vector<std::uint32_t>& values) {
    const Bytes bytes = test.load(tensor_map(type, test.device.upload(values), {4}, {4}), {0});
    std::vector<std::uint32_t> result(4);
    std::memcpy(result.data(), bytes.data(), 16);
    return result;
  };
  const std::vector<std::uint32_t> values{0x80000001, 0x007fe000, 0x3f802000, 0xff800000},
      flushed{0x80000000, 0, 0x3f802000, 0xff800000};
  EXPECT_EQ(load(TensorElement::f32, values), values);
  EXPECT_EQ(load(TensorElement::f32_ftz, values), flushed);
  const std::vector<std::uint32_t> short_values{0x80002000, 0x007fe000, 0x3f802000, 0xff800000};
  EXPECT_EQ(load(TensorElement::tf32, short_values), short_values);
  EXPECT_EQ(load(TensorElement::tf32_ftz, short_values), flushed);
  const Caught caught = caught_from([&] { load(TensorElement::tf32, {0x3f800001, 0, 0, 0}); });
  EXPECT_NE(caught.text.find("not documented"), std::string::npos) << caught.text;
}

TEST(TensorCopy, Reduces) {
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

Caught caught_loading(const std::string& body,
                      const std::function<void(TensorRun&, TensorMap&)>& f) {
  return caught_from([&] {
    TensorRun test(body);
    TensorMap map =
        tensor_map(TensorElement::s32, test.device.upload(Bytes(1024)), {32, 8}, {8, 4});
    f(test, map);
    test.run(map, {0, 0});
  });
}

void expect_text(const Caught& caught, FaultKind kind, const std::string& text) {
  EXPECT_EQ(caught.kind, kind) << caught.text;
  EXPECT_NE(caught.text.find(text), std::string::npos) << caught.text;
}

TEST(TensorCopy, ReportsMapsThatAreNone) {
  const std::string body = acquire + load_body(2);
  const auto nothing = [](TensorRun&, TensorMap&) {};
  EXPECT_FALSE(caught_loading(body, nothing).any);
  expect_text(caught_loading(body, [](TensorRun&, TensorMap& map) { map.box[1] = 3; }),
              FaultKind::undefined, "something has changed them");
  expect_text(caught_loading(body,
                             [](TensorRun&, TensorMap& map) {
                               map = {};
                               map.box[0] = 8;
                             }),
              FaultKind::undefined, "no tensor map");
  expect_text(caught_loading(acquire + load_body(1), nothing), FaultKind::undefined,
              "a copy of 1 dimensions with a tensor map of 2");
  expect_text(caught_loading(load_body(2), nothing), FaultKind::race,
              "fence.proxy.tensormap::generic.acquire");
  expect_text(caught_loading(acquire + "add.u64 %map, %map, 32;\n" + load_body(2), nothing),
              FaultKind::misaligned_address, "no multiple of 64");
  expect_text(caught_loading("cvta.shared.u64 %map, 0;\n" + load_body(2), nothing),
              FaultKind::undefined, "is shared memory");
  expect_text(caught_loading("prefetch.tensormap [%in];\n" + body, nothing),
              FaultKind::uninitialised_read, "nothing has written");
}

TEST(TensorCopy, RefusesWhatNoDocumentTells) {
  const auto refused = [](auto change, const std::string& text) {
    expect_text(caught_loading(acquire + load_body(2),
                               [&](TensorRun&, TensorMap& map) {
                                 change(map);
                                 seal(map);
                               }),
                FaultKind::illegal_instruction, text);
  };
  refused([](TensorMap& map) { map.swizzle = Swizzle::span_64; }, "32 bytes of boxDim[0]");
  refused([](TensorMap& map) { map.swizzle = Swizzle::span_128_by_32_flipped; }, "FLIP_8B");
  refused([](TensorMap& map) { map.is_im2col = true; }, "im2col");
  refused(
      [](TensorMap& map) {
        map.type = TensorElement::u4_align8;
        map.box[0] = 32;
      },
      "packed");
}

TEST(TensorCopy, ReportsPlacesInMemory) {
  const std::string body = acquire + load_body(2);
  const auto resealed = [](auto change) {
    return [=](TensorRun& test, TensorMap& map) {
      change(test, map);
      seal(map);
    };
  };
  expect_text(caught_loading(body, [](TensorRun& test, TensorMap&) { test.shared_address = 64; }),
              FaultKind::misaligned_address, "no multiple of 128");
  expect_text(
      caught_loading(body, [](TensorRun& test, TensorMap&) { test.shared_address = 20480 - 0; }),
      FaultKind::illegal_address, "bytes of shared memory");
  // Row 3 begins past the end.
  expect_text(caught_loading(body, resealed([](TensorRun& test, TensorMap& map) {
                               map.address = test.device.upload(Bytes(3 * 128));
                             })),
              FaultKind::illegal_address, "element (0,3) of the tensor");
  // A row ends past the end.
  expect_text(caught_loading(body, resealed([](TensorRun& test, TensorMap& map) {
                               map.address = test.device.upload(Bytes(2 * 128 + 20));
                             })),
              FaultKind::illegal_address, "element (5,2) of the tensor");
  expect_text(caught_loading(body, resealed([](TensorRun& test, TensorMap& map) {
                               map.address = test.device.allocate(1024);
                               test.device.memory().release(map.address);
                             })),
              FaultKind::illegal_address, "element (0,0) of the tensor");
  // Another allocation is no part of the tensor.
  expect_text(caught_loading(body, resealed([](TensorRun& test, TensorMap& map) {
                               const auto other = test.device.upload(Bytes(1024));
                               map.strides[0] = (other - map.address) / 16 * 16;
                             })),
              FaultKind::illegal_address, "element (0,1) of the tensor");
  // Bytes that nothing has written may be copied, and not be used.
  expect_text(caught_loading(body + "ld.shared.u32 %r16, [%r10]; setp.eq.u32 %p1, %r16, 0;\n"
                                    "@%p1 mov.u32 %r16, 0;\n@%p1 bra END;\nEND:\n",
                             resealed([](TensorRun& test, TensorMap& map) {
                               map.address = test.device.allocate(1024);
                             })),
              FaultKind::uninitialised_read, "nothing has written");
}

TEST(TensorCopy, Spellings) {
  const auto runs = [](const std::string& body) {
    const Caught caught = caught_loading(acquire + body, [](TensorRun&, TensorMap&) {});
    EXPECT_FALSE(caught.any) << caught.text;
  };
  runs(load_body(2, ".L2::cache_hint", ", %l1"));
  runs("mov.u16 %h1, 1;\n" + load_body(2, ".multicast::cluster", ", %h1"));
  runs("mov.u16 %h1, 1;\n" + load_body(2, ".multicast::cluster.L2::cache_hint", ", %h1, %l1"));
  runs(
      "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map, {%r20, %r21}];\n"
      "cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint [%map, {%r20, %r21}], %l1;\n"
      "prefetch.tensormap [%map];\nfence.proxy.tensormap::generic.release.gpu;\n" +
      load_body(2));
  expect_text(
      caught_loading(acquire + "mov.u16 %h1, 3;\n" + load_body(2, ".multicast::cluster", ", %h1"),
                     [](TensorRun&, TensorMap&) {}),
      FaultKind::undefined, "blocks 0x0003 of a cluster");
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
