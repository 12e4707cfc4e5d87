#include "harness/execute/output_hash.h"

#include <fmt/format.h>

#include <memory>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay {

std::string output_hash(std::span<const HostTensor> outputs) {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  for (const HostTensor& output : outputs) {
    XXH3_64bits_update(state.get(), output.bytes().data(), output.bytes().size());
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

}  // namespace assay
