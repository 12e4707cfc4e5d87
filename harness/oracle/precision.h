#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/oracle/verdict.h"
#include "harness/records/check.h"
#include "kernels/core/math_mode.h"
#include "kernels/ops/op.h"

// Rules for all outputs of a launch together, beside what is allowed at each: bounds are worst
// cases, far above what roundings do, and a result computed in half of the precision may keep them.
namespace assay::oracle {

/// Fewer outputs than this say too little.
inline constexpr std::int64_t enough_outputs = 256;

/// Outputs that are not copies of each other: one period of rows and columns of a product
/// (harness/input/panel.h).
std::int64_t distinct_outputs(const OpInstance& op);

/// Empty where the rule does not apply.
struct Precision {
  std::optional<double> effective_bits;
  std::optional<double> misrounded_fraction;
  /// The worst error over what the worst of many may be.
  std::optional<double> worst_ratio;
};

Precision precision(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                    const MathMode& mode = {});

/// Why the outputs are worse together than the op's arithmetic makes them, one of a kind; empty
/// when all is well.
struct Objection {
  Check check;
  std::string text;
};
std::vector<Objection> objections(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                                  const MathMode& mode = {});

/// That the outputs are better than factors cut to the dtype's bits can make them, which a device
/// is free to be: what ran was no arithmetic of that dtype. Empty when they are not.
std::string note(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                 const MathMode& mode = {});

/// Which of these rules judge an output of so many elements: "+bits(20.2..25.4)+worst+misrounded".
std::string description(const Rule& rule, const OpInstance& op, const MathMode& mode = {});

// One file each, with the source of its formula.

/// Between which effective bits plain sums lie. Nothing where the rule does not apply.
struct Band {
  double low;
  double high;
  /// Of the dtype's own arithmetic, where a device is free to do better: else as `high`.
  double expected_high;
};
/// What a sum of the op's K terms keeps when it is one chain, the worst order, before its output is
/// rounded.
double chain_bits(const OpInstance& op, const MathMode& mode);
std::optional<Band> bits_band(const Rule& rule, const OpInstance& op, const MathMode& mode);
/// The root mean square of sqrt(sum of terms^2), against which errors are measured.
double spread(const Verdict& verdict, const OpInstance& op);
double effective_bits(const Verdict& verdict, const OpInstance& op);

/// What the worst of many errors may be at most, in multiples of the root mean square that the band
/// allows.
inline constexpr double worst_multiple = 24;

/// The largest share of outputs that may differ from the correctly rounded value. Nothing where the
/// rule does not apply.
std::optional<double> misrounded_limit(const Rule& rule, const OpInstance& op,
                                       const MathMode& mode);

}  // namespace assay::oracle
