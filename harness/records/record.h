#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/records/check.h"
#include "harness/records/phases.h"
#include "harness/records/run_info.h"
#include "harness/records/skip_category.h"
#include "harness/records/soak_work.h"
#include "kernels/device/device_info.h"

namespace assay {

/// Outcome of one trial. Texts use the names of the enumerators.
enum class Status {
  pass,
  fail,   // a wrong result
  flaky,  // wrong or broken at first, right on a retry
  skip,   // applicable, but impossible here; `reason` says why
  timeout,
  crash,
  oom,
  device_lost,
  error,
  vacuous,  // the outputs could not have told right from wrong
};

/// Meaning of a status for the run.
enum class StatusClass { right, wrong, broken, skipped };
StatusClass class_of(Status status);

std::span<const Status> all_statuses();
std::string_view name(Status status);
std::optional<Status> parse_status(std::string_view text);

/// Timings of a trial: launches back to back, or one at a time, each on empty caches.
inline constexpr std::string_view batch_timing = "batch";
inline constexpr std::string_view cold_timing = "cold";

/// One timed unit: `launches` launches that took `seconds` together.
struct Sample {
  double seconds = 0;
  std::int64_t launches = 1;
  std::optional<double> clock_hz;
  std::optional<bool> throttled;
  // Seconds of each way of a copy that goes both ways at once; `seconds` is the longer.
  std::optional<double> seconds_forth = {};
  std::optional<double> seconds_back = {};
};

/// One row of results.csv. Its key is (case_id, device, timing, attempt, repeat). Fields that do
/// not apply are empty. docs/csv.md documents each column.
struct Record {
  std::int64_t schema_version = 1;
  std::string run_id;
  std::string started_at;  // UTC, ISO 8601
  std::string host;
  std::string suite;
  std::string case_id;
  std::string op;
  std::string dtype;
  std::string params;  // "n=1024;..."
  std::string device;
  std::string device_name;
  std::string device_uuid;
  std::optional<std::int64_t> ranks;
  std::string transport;
  std::string implementation;
  std::string timing;  // "cold", "batch", or empty when only checked
  std::int64_t attempt = 1;
  std::int64_t repeat = 1;
  std::uint64_t seed = 1;
  Status status = Status::error;
  std::string reason;
  std::string oracle;
  std::optional<std::int64_t> elements;
  std::optional<std::int64_t> mismatches;
  std::optional<double> max_ulp;
  std::optional<double> max_abs_error;
  std::optional<double> max_bound_ratio;  // worst |error| / allowed, where a bound is the rule
  std::optional<double> effective_bits;
  std::optional<double> misrounded_fraction;
  std::optional<bool> repeatable;
  std::optional<std::int64_t> worst_index;
  std::optional<std::int64_t> worst_rank;
  std::string worst_expected;
  std::string worst_actual;
  std::optional<std::int64_t> samples;
  std::string stop_reason;
  std::optional<double> time_min_s;
  std::optional<double> time_q1_s;
  std::optional<double> time_median_s;
  std::optional<double> time_q3_s;
  std::optional<double> time_ci_low_s;
  std::optional<double> time_ci_high_s;
  std::optional<double> noise;
  std::optional<double> flops;
  std::optional<double> bytes;
  std::optional<double> flops_per_s;
  std::optional<double> bandwidth_bytes_per_s;
  std::optional<double> algbw_bytes_per_s;
  std::optional<double> busbw_bytes_per_s;
  std::optional<double> fraction_of_limit;
  std::string limit;
  std::optional<double> clock_hz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<bool> throttled;
  std::optional<bool> contended;
  std::string replay;
  std::string expected_failure;       // why this failure was accepted, by whom, until when
  std::optional<double> worst_ratio;  // the worst error over what the worst of many may be
  std::string launched_by;            // "graph", "loop": of timed launches
  std::optional<std::int64_t> launches_per_sample;
  std::optional<double> empty_sample_s;     // time that reading the clock adds to a sample
  std::optional<double> between_samples_s;  // median time spent beside a sample
  std::optional<double> worst_allowed;      // |error| at `worst_index`; 0: the expected value alone
  std::optional<double> wall_s;             // from the begin of the trial to its end
  std::optional<Check> caught_by;           // the check that failed
  std::string caught_on;                    // the pass on which it failed, or the launches
  std::optional<SkipCategory> skip_category;
  std::optional<bool> beyond_limit;  // despite intervals and drift: one figure is wrong
  std::string stand_in;              // replaces a device: its figures are not hardware's
  // Bandwidth of each way of a copy that goes both ways at once, by that way's median time.
  std::optional<double> bandwidth_forth_bytes_per_s;
  std::optional<double> bandwidth_back_bytes_per_s;
  std::string wrong_algorithms;            // of a library, found before the case ran and not used
  std::optional<std::int64_t> input_sets;  // sets of tensors that timed launches took in turns
  std::string output_hash;  // of the last judged launch: harness/execute/output_hash.h

  // Empty unless fraction_of_limit was measured in turns with the limit.
  std::optional<double> fraction_ci_low;  // 95% interval, this process
  std::optional<double> fraction_ci_high;
  std::optional<std::int64_t> turns_with_limit;
  std::string rank_times_s;  // "1.2e-05;1.3e-05": median of each rank of a collective, in order

  // Empty unless rows of the output were computed again in smaller batches.
  std::optional<bool> batch_invariant;
  std::string other_bits_at_rows;  // "1;16": numbers of rows in whose batch a row had other bits

  // Empty unless --energy asked for them and the device tells them.
  std::optional<double> energy_per_launch_j;
  std::optional<double> energy_ci_low_j;  // 95% interval, this process
  std::optional<double> energy_ci_high_j;
  std::optional<double> energy_by_power_per_launch_j;
  std::optional<double> energy_per_flop_j;
  std::optional<double> idle_power_w;
  std::optional<double> energy_resolution_s;

  std::optional<bool> second_take;  // of a timed row: its first times were disturbed
  std::string timed_seed;           // of the inputs of timed launches, which nothing foretold
  std::optional<double>
      untold_share;  // of the samples' time, in which a clock could not be checked
  std::optional<std::int64_t> void_samples;  // taken again: launches may have waited for the host
  std::optional<bool> power_capped;          // slowed to stay within its power limit
  std::optional<double> sm_clock_hz;         // median of the samples, read on the device

  /// True if neither right nor skipped, and not accepted as a known failure.
  bool is_bad() const;
};

/// Calls `visit(name, field)` for each field in the order of the columns of results.csv. The only
/// list of names, shared by the CSV, the JSON and the worker protocol. New fields go at the end.
template <class R, class Visitor>
// NOLINTNEXTLINE(readability-function-size): a table, a line for each column
void visit_fields(R& r, Visitor&& visit) requires std::same_as<std::remove_const_t<R>, Record> {
  visit("schema_version", r.schema_version);
  visit("run_id", r.run_id);
  visit("started_at", r.started_at);
  visit("host", r.host);
  visit("suite", r.suite);
  visit("case_id", r.case_id);
  visit("op", r.op);
  visit("dtype", r.dtype);
  visit("params", r.params);
  visit("device", r.device);
  visit("device_name", r.device_name);
  visit("device_uuid", r.device_uuid);
  visit("ranks", r.ranks);
  visit("transport", r.transport);
  visit("implementation", r.implementation);
  visit("timing", r.timing);
  visit("attempt", r.attempt);
  visit("repeat", r.repeat);
  visit("seed", r.seed);
  visit("status", r.status);
  visit("reason", r.reason);
  visit("oracle", r.oracle);
  visit("elements", r.elements);
  visit("mismatches", r.mismatches);
  visit("max_ulp", r.max_ulp);
  visit("max_abs_error", r.max_abs_error);
  visit("max_bound_ratio", r.max_bound_ratio);
  visit("effective_bits", r.effective_bits);
  visit("misrounded_fraction", r.misrounded_fraction);
  visit("repeatable", r.repeatable);
  visit("worst_index", r.worst_index);
  visit("worst_rank", r.worst_rank);
  visit("worst_expected", r.worst_expected);
  visit("worst_actual", r.worst_actual);
  visit("samples", r.samples);
  visit("stop_reason", r.stop_reason);
  visit("time_min_s", r.time_min_s);
  visit("time_q1_s", r.time_q1_s);
  visit("time_median_s", r.time_median_s);
  visit("time_q3_s", r.time_q3_s);
  visit("time_ci_low_s", r.time_ci_low_s);
  visit("time_ci_high_s", r.time_ci_high_s);
  visit("noise", r.noise);
  visit("flops", r.flops);
  visit("bytes", r.bytes);
  visit("flops_per_s", r.flops_per_s);
  visit("bandwidth_bytes_per_s", r.bandwidth_bytes_per_s);
  visit("algbw_bytes_per_s", r.algbw_bytes_per_s);
  visit("busbw_bytes_per_s", r.busbw_bytes_per_s);
  visit("fraction_of_limit", r.fraction_of_limit);
  visit("limit", r.limit);
  visit("clock_hz", r.clock_hz);
  visit("temperature_c", r.temperature_c);
  visit("power_w", r.power_w);
  visit("throttled", r.throttled);
  visit("contended", r.contended);
  visit("replay", r.replay);
  visit("expected_failure", r.expected_failure);
  visit("worst_ratio", r.worst_ratio);
  visit("launched_by", r.launched_by);
  visit("launches_per_sample", r.launches_per_sample);
  visit("empty_sample_s", r.empty_sample_s);
  visit("between_samples_s", r.between_samples_s);
  visit("worst_allowed", r.worst_allowed);
  visit("wall_s", r.wall_s);
  visit("caught_by", r.caught_by);
  visit("caught_on", r.caught_on);
  visit("skip_category", r.skip_category);
  visit("beyond_limit", r.beyond_limit);
  visit("stand_in", r.stand_in);
  visit("bandwidth_forth_bytes_per_s", r.bandwidth_forth_bytes_per_s);
  visit("bandwidth_back_bytes_per_s", r.bandwidth_back_bytes_per_s);
  visit("wrong_algorithms", r.wrong_algorithms);
  visit("input_sets", r.input_sets);
  visit("output_hash", r.output_hash);
  visit("fraction_ci_low", r.fraction_ci_low);
  visit("fraction_ci_high", r.fraction_ci_high);
  visit("turns_with_limit", r.turns_with_limit);
  visit("rank_times_s", r.rank_times_s);
  visit("batch_invariant", r.batch_invariant);
  visit("other_bits_at_rows", r.other_bits_at_rows);
  visit("energy_per_launch_j", r.energy_per_launch_j);
  visit("energy_ci_low_j", r.energy_ci_low_j);
  visit("energy_ci_high_j", r.energy_ci_high_j);
  visit("energy_by_power_per_launch_j", r.energy_by_power_per_launch_j);
  visit("energy_per_flop_j", r.energy_per_flop_j);
  visit("idle_power_w", r.idle_power_w);
  visit("energy_resolution_s", r.energy_resolution_s);
  visit("second_take", r.second_take);
  visit("timed_seed", r.timed_seed);
  visit("untold_share", r.untold_share);
  visit("void_samples", r.void_samples);
  visit("power_capped", r.power_capped);
  visit("sm_clock_hz", r.sm_clock_hz);
}

/// Number of references that a trial computed, and of those that it found stored.
struct ReferenceCount {
  std::int64_t computed = 0;
  std::int64_t shared = 0;
};

/// A finished trial: its row, the samples behind its times, and what its supervisor must know.
struct Result {
  Record record;
  std::vector<Sample> samples;
  ReferenceCount references;
  PhaseSeconds phases;
  std::optional<SoakWork> soak;  // of a trial that soaks, as far as it came
  /// True if the worker may be damaged (it wrote outside its outputs, or its device reported an
  /// error): the verdict of its next trial could not be trusted.
  bool leave_worker = false;
};

/// Receives a run as it happens: `begin` once, `result` for each trial as it ends, `end` once, also
/// when the run was cut short. `held` tells of a passed trial whose result comes only after a
/// second take. Throws if it cannot store a call's data.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin(const RunInfo& /*run*/) {}
  virtual void result(const Result& result) = 0;
  virtual void held(const Record& /*first_take*/) {}
  virtual void end(const RunInfo& /*run*/) {}
};

}  // namespace assay
