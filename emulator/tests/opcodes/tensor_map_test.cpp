#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/tensor_run.h"

// What copies do with maps and places that are wrong, and how kernels change maps.
namespace emulator::test {
namespace {

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

TEST(TensorMaps, ReportsMapsThatAreNone) {
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

TEST(TensorMaps, RefusesWhatNoDocumentTells) {
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
  refused(
      [](TensorMap& map) {
        map.type = TensorElement::u4_align8;
        map.box[0] = 32;
      },
      "packed");
}

TEST(TensorMaps, ReportsPlacesInMemory) {
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

TEST(TensorMaps, Spellings) {
  const auto runs = [](const std::string& body) {
    const Caught caught = caught_loading(acquire + body, [](TensorRun&, TensorMap&) {});
    EXPECT_FALSE(caught.any) << caught.text;
  };
  runs(load_body(2, ".L2::cache_hint", ", %l1"));
  const auto without = [](std::string text, const std::string& part,
                          const std::string& other = "") {
    return text.replace(text.find(part), part.size(), other);
  };
  runs(without(load_body(2), ".tile"));
  runs(without(load_body(2), "shared::cluster", "shared::cta"));
  runs(without(load_body(2) + "fence.proxy.async;\ncp.async.bulk.tensor.2d.global.shared::cta."
                              "bulk_group.L2::cache_hint [%map, {%r20, -1}], [%r10], %l1;\n"
                              "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
               ".tile"));
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
      FaultKind::undefined, "blocks 0x0003 of a cluster of 1");
}

// A map in shared memory becomes another one, field by field.
TEST(TensorMaps, AreReplacedFieldByField) {
  std::string body = "setp.ne.u32 %p5, %r2, 0;\n";
  for (int at = 0; at < 128; at += 8) {
    const std::string offset = "+" + std::to_string(at) + "];\n";
    body += "@!%p5 ld.global.u64 %l5, [%map" + offset + "@!%p5 st.shared.u64 [%r10+" +
            std::to_string(at) + "], %l5;\n";
  }
  const auto replace = [&](const std::string& field, const std::string& type,
                           const std::string& values) {
    body += "@!%p5 tensormap.replace.tile." + field + ".shared::cta.b1024." + type + " [%r10], " +
            values + ";\n";
  };
  replace("global_address", "b64", "%c4");
  replace("rank", "b32", "1");
  replace("global_dim", "b32", "0, 20");
  replace("global_dim", "b32", "1, 5");
  replace("global_stride", "b64", "0, 96");
  replace("box_dim", "b32", "0, 16");
  replace("box_dim", "b32", "1, 7");
  replace("element_stride", "b32", "1, 2");
  replace("elemtype", "b32", "2");
  replace("interleave_layout", "b32", "0");
  replace("swizzle_mode", "b32", "2");
  replace("fill_mode", "b32", "0");
  body +=
      "bar.warp.sync -1;\nmov.u64 %map, %in;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%map], [%r10], 128;\n@%p5 ret;\nFENCE" +
      load_body(2);
  std::mt19937 random(3);
  TensorMap other = tensor_map(TensorElement::u32, 0, {20, 5}, {16, 7}, Swizzle::span_64, 16);
  other.element_strides[1] = 2;
  seal(other);
  const Coordinate at{-3, -3};
  const auto run = [&](const std::string& text) {
    TensorRun test(text, "sm_90a");
    test.threads = 32;
    test.shared_address = 0;
    const Bytes tensor = numbers(random, 96 * 5);
    const TensorMap map = tensor_map(TensorElement::f16, test.device.upload(Bytes(64)), {32}, {32});
    // Boxes of both have as many bytes.
    const auto address = test.device.upload(tensor);
    test.run(map, {at[0], at[1], 0, 0, static_cast<std::int64_t>(address)},
             test.device.allocate(128), other.box_bytes());
    Bytes expected(other.box_bytes());
    for (const BoxByte& byte : bytes_of_box(other, at, 0))
      expected[byte.shared] = byte.global < 0 ? 0 : tensor[static_cast<std::size_t>(byte.global)];
    EXPECT_EQ(test.device.download<std::uint8_t>(test.out, expected.size()), expected);
  };
  const auto with = [&](const std::string& fence) {
    return std::string(body).replace(body.find("FENCE"), 5, fence);
  };
  run(with(acquire));
  // The fence comes too early.
  const Caught caught = caught_from([&] { run(acquire + with("")); });
  EXPECT_EQ(caught.kind, FaultKind::race) << caught.text;
}
}  // namespace
}  // namespace emulator::test
