#include "harness/oracle/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/input/panel.h"

namespace assay::oracle {
namespace {

double misrounded_fraction(const Verdict& verdict) {
  return static_cast<double>(verdict.misrounded) / static_cast<double>(verdict.bounded);
}

/// True if outputs have fewer bits than the f32 that the op is computed in.
bool is_rounded_once_more(const OpInstance& op) {
  return is_floating(output_dtype(op)) &&
         precision_bits(output_dtype(op)) < precision_bits(DType::f32);
}

std::vector<Objection> objections_to_band(const Verdict& verdict, const OpInstance& op) {
  std::vector<Objection> found;
  const double share = band_share(verdict);
  const bool is_rounded = is_rounded_once_more(op);
  if (!is_rounded && verdict.banded >= enough_outputs && !(share <= 1)) {
    found.push_back({Check::measured_band,
                     fmt::format("the errors together are {:.3g} times the deviation that "
                                 "the allowed arithmetic gives the reference",
                                 share)});
  }
  const double allowed = misrounded_allowed(verdict);
  if (is_rounded && !(static_cast<double>(verdict.band_misrounded) <= allowed)) {
    found.push_back({Check::measured_band,
                     fmt::format("{} different values are not correctly rounded, at most {:g} may "
                                 "be: computed in less than is allowed",
                                 verdict.band_misrounded, allowed)});
  }
  return found;
}

/// Largest allowed value of the worst of many errors.
double worst_allowed(const Band& band, const Verdict& verdict, const OpInstance& op) {
  return worst_multiple * std::exp2(-band.low) * spread(verdict, op);
}

}  // namespace

std::int64_t distinct_outputs(const OpInstance& op) {
  if (std::ranges::any_of(op.signature.inputs, &TensorSpec::repeats_elements)) return 0;
  if (!op.signature.is_product) return op.signature.outputs[0].elements();
  const Panel panel = input::panel(op, static_cast<int>(passes(op).size()) - 1);
  return panel.rows * panel.cols;
}

Precision precision(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                    const MathMode& mode) {
  Precision found;
  if (rule.oracle == Oracle::measured_band) {
    if (verdict.banded < enough_outputs) return found;
    const double allowed = misrounded_allowed(verdict);
    if (is_rounded_once_more(op)) {
      found.misrounded_fraction =
          static_cast<double>(verdict.band_misrounded) / static_cast<double>(verdict.banded);
      if (allowed > 0) found.worst_ratio = static_cast<double>(verdict.band_misrounded) / allowed;
    } else {
      found.worst_ratio = band_share(verdict);
    }
    return found;
  }
  if (verdict.bounded < enough_outputs) return found;
  if (const auto band = bits_band(rule, op, mode)) {
    found.effective_bits = effective_bits(verdict, op);
    found.worst_ratio = verdict.largest_error / worst_allowed(*band, verdict, op);
  }
  if (misrounded_limit(rule, op, mode)) found.misrounded_fraction = misrounded_fraction(verdict);
  return found;
}

// NaN fails each comparison and so gives an objection.
std::vector<Objection> objections(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                                  const MathMode& mode) {
  if (rule.oracle == Oracle::measured_band) return objections_to_band(verdict, op);
  std::vector<Objection> found;
  if (verdict.bounded < enough_outputs) return found;
  if (const auto band = bits_band(rule, op, mode)) {
    const double bits = effective_bits(verdict, op);
    if (!(bits >= band->low)) {
      found.push_back({Check::effective_bits,
                       fmt::format("{:.2f} effective bits, where sums of {} terms in {} keep "
                                   "{:.2f}: computed in less precision",
                                   bits, op.signature.terms, name(accumulator(op)), band->low)});
    }
    if (!(bits <= band->high)) {
      found.push_back({Check::effective_bits,
                       fmt::format("{:.2f} effective bits, more than the {:.2f} that {} can hold",
                                   bits, band->high, name(output_dtype(op)))});
    }
    const double allowed = worst_allowed(*band, verdict, op);
    if (!(verdict.largest_error <= allowed)) {
      found.push_back(
          {Check::worst_element,
           fmt::format("the error at [{}] is {:.1f} times what the worst of many may be",
                       verdict.largest_index, verdict.largest_error / allowed)});
    }
  }
  if (const auto limit = misrounded_limit(rule, op, mode)) {
    if (!(misrounded_fraction(verdict) <= *limit)) {
      found.push_back({Check::misrounded,
                       fmt::format("{:.3g} of the outputs are not the correctly rounded value, at "
                                   "most {:.2g} may be: sums were kept in less than {}",
                                   misrounded_fraction(verdict), *limit, name(accumulator(op)))});
    }
  }
  return found;
}

std::string note(const Verdict& verdict, const Rule& rule, const OpInstance& op,
                 const MathMode& mode) {
  const auto band = bits_band(rule, op, mode);
  if (!band || verdict.bounded < enough_outputs) return "";
  const double bits = effective_bits(verdict, op);
  if (bits <= band->expected_high) return "";
  return fmt::format(
      "more precise than {}: {:.1f} effective bits, of which its factors leave {:.1f}",
      name(op.format), bits, band->expected_high);
}

std::string description(const Rule& rule, const OpInstance& op, const MathMode& mode) {
  std::string text;
  if (rule.oracle == Oracle::measured_band) {
    if (!is_floating(output_dtype(op))) return "";
    return is_rounded_once_more(op) ? "+misrounded" : "+rms(1)";
  }
  if (const auto band = bits_band(rule, op, mode)) {
    text += fmt::format("+bits({:.1f}..{:.1f})+worst({})", band->low, band->expected_high,
                        worst_multiple);
  }
  if (const auto limit = misrounded_limit(rule, op, mode))
    text += fmt::format("+misrounded({:.2g})", *limit);
  return text;
}

}  // namespace assay::oracle
