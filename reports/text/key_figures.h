#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/records/limit.h"
#include "harness/records/record.h"

namespace assay {

/// Demand on a parameter of a case.
struct ParamRule {
  std::string_view name;
  std::string_view value = {};  // exactly this, unless empty
  std::int64_t at_least = 0;    // or a number of at least so many
};

/// One of the dozen figures by which buyers compare machines: a limit, or the rate of one case of
/// an op. The table of them is the only place that says which.
struct KeyFigure {
  std::string_view name;
  std::string_view limit = {};  // of limits.csv; empty: cases of an op
  std::string_view op = {};
  std::string_view dtype = {};
  std::array<ParamRule, 2> params = {};  // without a name: none
  RateKind rate = RateKind::data;
  bool best = false;  // the case with the best rate; else the largest, of several the best
};

std::span<const KeyFigure> key_figures();

/// A figure as one device has it, and where it comes from.
struct KeyMeasure {
  double value = 0;  // in the figure's unit
  double low = 0;    // 95% interval within one process; 0 if there is none
  double high = 0;
  std::optional<double> share;  // of the limit, or of theory where the figure is a limit
  std::string share_of;         // "memory_copy 1.07e+09 B/s", as in results.csv; "theory"
  std::string case_id;
  std::string device;
  double work = 0;  // of a launch: operations or bytes
};

/// Returns the measure if the record, or the limit, is of the figure and was right and timed back
/// to back on hardware. Whether a limit is of hardware is for the caller to know.
std::optional<KeyMeasure> measure_of(const KeyFigure& figure, const Record& record);
std::optional<KeyMeasure> measure_of(const KeyFigure& figure, const Limit& limit);

/// Returns whether `one` stands for the figure rather than `other`.
bool stands_before(const KeyFigure& figure, const KeyMeasure& one, const KeyMeasure& other);

/// "B/s", "FLOP/s", "OP/s", or "s".
std::string_view unit_of(const KeyFigure& figure);
/// Returns whether less of it is better: a time.
bool is_time(const KeyFigure& figure);

/// "790 TFLOP/s (788 to 791), 98% of limit", "... of theory".
std::string measure_text(const KeyFigure& figure, const KeyMeasure& measure);
/// "98% of limit"; empty without a share.
std::string share_text(const KeyMeasure& measure);

}  // namespace assay
