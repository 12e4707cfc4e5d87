#include "session/ab/margin.h"

#include <fmt/format.h>

#include "harness/ab/rule.h"

namespace assay {
namespace {

/// Two builds of the same source may differ by this much for their layout alone, on any machine.
constexpr double min_layout_margin = 0.02;
/// Exceeds any effect of layout; a machine on which 'ab --aa' finds more was disturbed.
constexpr double max_layout_margin = 0.1;
/// Suffices where only libraries or the driver change: no code of the program moves.
constexpr double same_program_margin = 0.005;

}  // namespace

Margin margin_of(const AbOptions& options, const ab::Both<AbSide>& sides,
                 const std::optional<LayoutSpread>& recorded) {
  if (options.margin_percent) return {*options.margin_percent / 100, "by --margin"};
  if (options.sensitive) return {ab::sensitive.margin, "by --sensitive"};
  if (options.aa) return {min_layout_margin, "the allowance for layout on any machine"};
  if (is_same_program(sides)) {
    return {same_program_margin, "both sides are the same program, so layout does not differ"};
  }
  if (recorded && recorded->spread > max_layout_margin) {
    return {max_layout_margin,
            fmt::format("'assay ab --aa' of {} found {:.2g}% on this machine, too much for a gate; "
                        "repeat it on a quiet machine, or set --margin",
                        recorded->recorded_at, recorded->spread * 100)};
  }
  if (recorded && recorded->spread > min_layout_margin) {
    return {recorded->spread,
            fmt::format("the effect of layout on this machine, by 'assay ab --aa' of {}",
                        recorded->recorded_at)};
  }
  return {min_layout_margin,
          recorded ? "'assay ab --aa' found no more on this machine"
                   : "the allowance for layout on any machine; --spread takes that of this one"};
}

}  // namespace assay
