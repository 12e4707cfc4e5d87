#include "emulator/machine/product_registers.h"
#include "emulator/machine/undefined.h"
#include "emulator/machine/warp.h"

namespace emulator {

void Warp::run_observed(std::uint32_t at, const Code& code, Mask lanes) {
  std::uint8_t* executed = frame_->function->executed.get();
  if (executed != nullptr && lanes != 0) __atomic_store_n(&executed[at], 1, __ATOMIC_RELAXED);
  if (counter_ && lanes != 0) counter_->count(frame_->function->costs[at], code, lanes, *frame_);
  if (frame_->product_registers != nullptr && lanes != 0)
    frame_->product_registers->access(*this, frame_->function->flows[at], *kernel_.module);
  if (frame_->undefined != nullptr) {
    Mask doubtful = 0;
    if (code.guard != Code::unguarded) doubtful = frame_->undefined->lanes({code.guard, 0});
    follow(*this, frame_->function->flows[at], code, lanes, doubtful & active_);
  } else if (lanes != 0) {
    code.run(*this, code, lanes);
  }
}

}  // namespace emulator
