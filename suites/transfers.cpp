#include "suites/suite.h"

namespace assay {

Suite transfers_suite() {
  using enum Level;
  constexpr std::int64_t mib = 1 << 20;
  const Axis bytes = axis("bytes", {{seeds, 4},
                                    {seeds, 4096},
                                    {smoke, mib},
                                    {smoke, 64 * mib + 1},  // ends in the middle of everything
                                    {standard, 256 * mib},
                                    {full, 1024 * mib}});
  return {.name = "transfers",
          .description = "copies between memories, checked byte for byte",
          .grids = {{{"copy"},
                     {DType::u8},
                     {axis("from", {{seeds, "host"}}), axis("to", {{seeds, "host"}}), bytes,
                      axis("threads", {{seeds, "one"}, {seeds, "all"}})}}}};
}

}  // namespace assay
