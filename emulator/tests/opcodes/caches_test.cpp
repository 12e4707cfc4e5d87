#include <gtest/gtest.h>

#include "emulator/tests/module.h"

// PTX ISA: cache policies and hints, and discard.
namespace emulator::test {
namespace {

using U = std::uint32_t;

TEST(Caches, PoliciesChangeNothing) {
  const auto out = run_u32(
      "createpolicy.fractional.L2::evict_last.b64 %l1, 0f3F800000;\n"
      "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %l1;\n"
      "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %l2, [%in], 4096, 8192;\n"
      "createpolicy.cvt.L2.b64 %l3, 0x10000000;\n"
      "prefetch.global.L2::evict_last [%in]; applypriority.global.L2::evict_normal [%in], 128;\n"
      "ld.global.nc.L2::cache_hint.u32 %r5, [%in], %l1;\n" +
          element("%out", 4) +
          "st.global.L2::cache_hint.u32 [%l31], %r5, %l2;\n"
          "red.global.add.L2::cache_hint.u32 [%l31], 2, %l3;\n"
          "atom.global.add.L2::cache_hint.u32 %r6, [%l31], 3, %l3;\n"
          "atom.global.cas.L2::cache_hint.b32 %r6, [%l31], 12, 99, %l3;\n",
      {.grid = {1}, .block = {4}}, {7}, 1, "", 80);
  EXPECT_EQ(out, (std::vector<U>{99, 99, 99, 99}));
}

TEST(Caches, PoliciesAreNeeded) {
  for (const char* code :
       {"ld.global.L2::cache_hint.u32 %r5, [%in];", "st.global.L2::cache_hint.u32 [%out], %r5;",
        "ld.global.u32 %r5, [%in], %l1;", "discard.global.L2 [%in], 64;",
        "applypriority.global.L2::evict_last [%in], 128;",
        "createpolicy.fractional.L2::evict_last.u64 %l1;"}) {
    const Caught caught = caught_from(
        [&] { run_u32(std::string(code) + "\n", {.grid = {1}, .block = {1}}, {0}, 1, "", 80); });
    EXPECT_EQ(caught.kind, FaultKind::illegal_instruction) << code;
  }
}

TEST(Caches, DiscardForgets) {
  Device device;
  const auto in = device.upload(std::vector<U>(64, 5)), out = device.upload(std::vector<U>(1, 0));
  const auto run = [&](const std::string& body) {
    Kernels kernels(device, module_head("sm_80") + kernel({"out", "in"}, body));
    return caught_from([&] { kernels.run("test", {.grid = {1}, .block = {1}}, out, in); });
  };
  ASSERT_FALSE(run("discard.global.L2 [%in], 128;\n").any);
  EXPECT_FALSE(device.memory().is_initialised(in, 4));
  EXPECT_FALSE(device.memory().is_initialised(in + 124, 4));
  EXPECT_TRUE(device.memory().is_initialised(in + 128, 128));
  EXPECT_EQ(run("discard.global.L2 [%in+64], 128;\n").kind, FaultKind::misaligned_address);
  EXPECT_EQ(run("discard.global.L2 [%in+256], 128;\n").kind, FaultKind::illegal_address);
  EXPECT_EQ(run("ld.global.u32 %r5, [%in]; add.u32 %r5, %r5, 1; st.global.u32 [%out], %r5;\n").kind,
            FaultKind::uninitialised_read);
}

}  // namespace
}  // namespace emulator::test
