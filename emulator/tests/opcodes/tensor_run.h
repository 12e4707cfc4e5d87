#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "emulator/tests/module.h"
#include "emulator/tests/tensor_reference.h"

// Kernels of the tests of tensor copies: one thread moves a box and copies shared memory to %out,
// or from %in.
namespace emulator::test {

using Bytes = std::vector<std::uint8_t>;
using Coordinate = std::vector<std::int64_t>;

inline const std::string head =
    ".shared .align 1024 .b8 box[20480];\n.shared .align 8 .b8 object[8];\n"
    "mov.u32 %r10, box; cvt.u32.u64 %r11, %at; add.u32 %r10, %r10, %r11; mov.u32 %r12, object;\n"
    "cvt.u32.u64 %r20, %c0; cvt.u32.u64 %r21, %c1; cvt.u32.u64 %r22, %c2; cvt.u32.u64 %r23, %c3;\n"
    "cvt.u32.u64 %r24, %c4; cvt.u32.u64 %r13, %bytes;\n";
inline const std::string acquire = "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n";

inline std::string operand(std::size_t rank) {
  std::string text = "[%map, {%r20";
  for (std::size_t i = 1; i < rank; ++i) text += ", %r2" + std::to_string(i);
  return text + "}]";
}

inline std::string loop(const std::string& name, const std::string& body) {
  return "mov.u32 %r14, 0;\n" + name +
         ":\nadd.u32 %r15, %r10, %r14; cvt.u64.u32 %l1, %r14; add.u64 %l2, %l1, %out; "
         "add.u64 %l3, %l1, %in;\n" +
         body + "add.u32 %r14, %r14, 4; setp.lt.u32 %p1, %r14, %r13;\n@%p1 bra " + name + ";\n";
}

inline std::string load_body(std::size_t rank, const std::string& modifiers = "",
                             const std::string& more = "") {
  return "mbarrier.init.shared.b64 [%r12], 1;\ncp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" + modifiers + " [%r10], " +
         operand(rank) + ", [%r12]" + more +
         ";\nmbarrier.arrive.expect_tx.shared.b64 _, [%r12], %r13;\n"
         "AGAIN: mbarrier.try_wait.parity.shared.b64 %p3, [%r12], 0;\n@!%p3 bra AGAIN;\n" +
         loop("COPY", "ld.shared.u32 %r16, [%r15]; st.global.u32 [%l2], %r16;\n");
}

inline std::string store_body(const std::string& instruction, std::size_t rank) {
  return loop("COPY", "ld.global.u32 %r16, [%l3]; st.shared.u32 [%r15], %r16;\n") +
         "fence.proxy.async.shared::cta;\n" + instruction + "." + std::to_string(rank) +
         "d.global.shared::cta" + (instruction.starts_with("cp.reduce") ? "REDUCES" : "") +
         ".tile.bulk_group " + operand(rank) +
         ", [%r10];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
}

/// Global memory with a tensor and its map, and a kernel.
class TensorRun {
 public:
  explicit TensorRun(const std::string& body, const std::string& target = "sm_90")
      : kernels(device, module_head(target) + kernel({"out", "in", "map", "at", "bytes", "c0", "c1",
                                                      "c2", "c3", "c4"},
                                                     head + body)) {}

  /// `size`: bytes of the box; 0: those of the map's.
  void run(const TensorMap& map, std::vector<std::int64_t> at, std::uintptr_t in = 0,
           std::uint64_t size = 0) {
    at.resize(5);
    if (size == 0) size = map.box_bytes();
    out = device.allocate(size);
    kernels.run("test", {.grid = {1}, .block = {threads}}, out, in == 0 ? out : in,
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
  unsigned threads = 1;
};

inline Bytes numbers(std::mt19937& random, std::size_t count) {
  Bytes bytes(count);
  for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random());
  return bytes;
}

inline void expect_text(const Caught& caught, FaultKind kind, const std::string& text) {
  EXPECT_EQ(caught.kind, kind) << caught.text;
  EXPECT_NE(caught.text.find(text), std::string::npos) << caught.text;
}

}  // namespace emulator::test
