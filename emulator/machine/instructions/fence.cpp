#include <atomic>

#include "emulator/machine/block.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/tensor_map_access.h"
#include "emulator/machine/ordering.h"

namespace emulator {
namespace {

void run_fence(Warp& warp, const Code& code, Mask lanes) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  fence_lanes(warp, lanes, code.scope);
}

void nothing(Warp&, const Code&, Mask) {}

void run_proxy_fence(Warp& warp, const Code&, Mask lanes) {
  for_lanes(lanes, [&](int lane) { warp.block().shared_races.fence_proxy(warp, lane); });
}

void run_init_fence(Warp& warp, const Code&, Mask lanes) { warp.fenced_inits |= lanes; }

/// fence.proxy and fence.mbarrier_init. False: another fence.
bool decode_proxy_fence(Decoder& decoder) {
  Code::Run run = nothing;
  if (decoder.take("mbarrier_init")) {
    decoder.needs(90);
    decoder.expect("release");
    decoder.expect("cluster");
    run = run_init_fence;
  } else if (decoder.take("proxy")) {
    if (decoder.take("tensormap::generic")) {
      decode_tensor_map_fence(decoder);
      return true;
    }
    if (!decoder.take("alias")) {
      decoder.expect("async");
      decoder.needs(90);
      // Global memory has one proxy here.
      if (!decoder.take("global")) {
        decoder.take_shared();
        run = run_proxy_fence;
      }
    }
  } else {
    return false;
  }
  decoder.expect_operands(0);
  decoder.emit(run);
  return true;
}

/// fence{.sc,.acq_rel,.acquire,.release}.scope and membar.{cta,gl,sys}.
void decode_fence(Decoder& decoder) {
  if (decode_proxy_fence(decoder)) return;
  if (!decoder.take("sc") && !decoder.take("acq_rel") &&
      (decoder.take("acquire") || decoder.take("release")))
    decoder.needs(90);
  if (!decoder.take_scope()) decoder.fail("a scope is missing");
  decoder.expect_operands(0);
  decoder.emit(run_fence);
}

const Opcodes opcodes{{"fence", decode_fence}, {"membar", decode_fence}};

}  // namespace
}  // namespace emulator
