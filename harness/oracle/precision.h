#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/records/check.h"
#include "kernels/core/math_mode.h"
#include "kernels/ops/op.h"

// Rules for all outputs of a launch together, beside the bounds of each element. Bounds are worst
// cases, far above typical roundings: a result computed in half of the precision may keep them.
namespace assay::oracle {

/// Fewest outputs for these rules; fewer tell too little.
inline constexpr std::int64_t enough_outputs = 256;

/// Number of outputs whose errors are independent: one period of rows and columns of a product
/// (harness/input/panel.h), none where terms are the same element over and over.
std::int64_t distinct_outputs(const OpInstance& op);

/// Figures of the rules; empty where a rule does not apply.
struct Precision {
  std::optional<double> effective_bits;
  std::optional<double> misrounded_fraction;
  /// Worst error over its limit, the worst allowed of many errors.
  std::optional<double> worst_ratio;
};

Precision precision(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                    const MathMode& mode = {});

/// Reason why the outputs together are worse than the op's arithmetic makes them, at most one of a
/// kind. Empty list if all is well.
struct Objection {
  Check check;
  std::string text;
};
std::vector<Objection> objections(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                                  const MathMode& mode = {});

/// Note on outputs that are better than factors cut to the dtype's bits allow: the device used
/// wider arithmetic, as it may. Empty otherwise.
std::string note(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                 const MathMode& mode = {});

/// Names the rules that judge such an output: "+bits(20.2..25.4)+worst+misrounded".
std::string description(const Rule& rule, const OpInstance& op, const MathMode& mode = {});

// One file each, with the source of its formula.

/// Range of the effective bits of plain sums; empty where the rule does not apply.
struct Band {
  double low;
  double high;
  /// High end of the dtype's own arithmetic if a device may do better; else `high`.
  double expected_high;
};
/// Effective bits of the op's K terms summed as one chain, the worst order, before the output is
/// rounded.
double chain_bits(const OpInstance& op, const MathMode& mode);
std::optional<Band> bits_band(const Rule& rule, const OpInstance& op, const MathMode& mode);
/// The root mean square of sqrt(sum of terms^2), against which errors are measured.
double spread(const Verdict& verdict, const OpInstance& op);
double effective_bits(const Verdict& verdict, const OpInstance& op);

/// Limit of the worst of many errors, in multiples of the root mean square that the band allows.
inline constexpr double worst_multiple = 24;

/// Largest share of outputs that may differ from the correctly rounded value. Empty where the rule
/// does not apply.
std::optional<double> misrounded_limit(const Rule& rule, const OpInstance& op,
                                       const MathMode& mode);

/// The effort to measure with after `before`, if a measured band refuses the outputs, but one that
/// is measured better or of other arithmetic might not.
std::optional<Effort> next_effort(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                                  const Effort& before);
/// Root mean square of errors over the deviations of a measured band, of the outputs that have one.
double band_share(const Verdict& verdict);
/// Greatest number of outputs of a measured band that may differ from the correctly rounded value.
double misrounded_allowed(const Verdict& verdict);

}  // namespace assay::oracle
