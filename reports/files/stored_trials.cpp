#include "reports/files/stored_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "harness/records/input_file.h"
#include "harness/statistics/order_statistics.h"
#include "kernels/core/status.h"
#include "reports/files/results_table.h"
#include "reports/text/trial_fold.h"

namespace assay {

/// Cells of a row that comparisons need.
struct ComparedCells {
  std::string case_id;
  TrialGroup group;
  std::int64_t attempt = 1;
  std::int64_t repeat = 1;
  Status status = Status::error;
  std::string expected_failure;
  std::string reason;
  std::optional<double> time_median_s;
  std::optional<double> time_ci_low_s;
  std::optional<double> time_ci_high_s;
  std::optional<bool> contended;
  std::optional<bool> throttled;
  std::string stand_in;
  std::string device_name;
  std::string output_hash;
  std::string implementation;
  Record rated;  // of its fields those that key figures need
};

template <class C, class Visitor>
void visit_fields(C& cells,
                  Visitor&& visit) requires std::same_as<std::remove_const_t<C>, ComparedCells> {
  visit("case_id", cells.case_id);
  visit("suite", cells.group.suite);
  visit("op", cells.group.op);
  visit("dtype", cells.group.dtype);
  visit("device", cells.group.device);
  visit("timing", cells.group.timing);
  visit("attempt", cells.attempt);
  visit("repeat", cells.repeat);
  visit("status", cells.status);
  visit("expected_failure", cells.expected_failure);
  visit("reason", cells.reason);
  visit("time_median_s", cells.time_median_s);
  visit("time_ci_low_s", cells.time_ci_low_s);
  visit("time_ci_high_s", cells.time_ci_high_s);
  visit("contended", cells.contended);
  visit("throttled", cells.throttled);
  visit("stand_in", cells.stand_in);
  visit("device_name", cells.device_name);
  visit("output_hash", cells.output_hash);
  visit("implementation", cells.implementation);
  visit("params", cells.rated.params);
  visit("flops", cells.rated.flops);
  visit("bytes", cells.rated.bytes);
  visit("flops_per_s", cells.rated.flops_per_s);
  visit("bandwidth_bytes_per_s", cells.rated.bandwidth_bytes_per_s);
  visit("algbw_bytes_per_s", cells.rated.algbw_bytes_per_s);
  visit("busbw_bytes_per_s", cells.rated.busbw_bytes_per_s);
  visit("fraction_of_limit", cells.rated.fraction_of_limit);
  visit("limit", cells.rated.limit);
}

namespace {

/// Values of one row that are kept until all rows are there.
struct Row {
  std::uint32_t trial = 0;
  Status status = Status::error;
  bool accepted = false;
  bool contended = false;
  bool throttled = false;
  bool is_stand_in = false;
  std::int64_t attempt = 1;
  std::int64_t repeat = 1;
  std::size_t line = 0;
  double median_s = 0;  // 0: not timed
  double low_s = 0;     // 0: no interval
  double high_s = 0;
  std::uint64_t output_hash = 0;  // 0: not known
  const std::string* implementation = nullptr;
  std::string reason;

  auto key() const { return std::tie(repeat, attempt); }
  bool is_timed() const { return status == Status::pass && median_s > 0; }
};

int severity(const Row& row) { return assay::severity(row.status, row.accepted); }

using Rows = std::deque<Row>;  // grows without a second copy of what it holds

/// Returns the places of the rows, those of each trial together.
std::vector<std::uint32_t> by_trial(const Rows& rows, std::size_t trials) {
  std::vector<std::uint32_t> begins(trials + 1);
  for (const Row& row : rows) ++begins[row.trial + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> order(rows.size());
  for (std::uint32_t index = 0; index < rows.size(); ++index) {
    order[begins[rows[index].trial]++] = index;
  }
  return order;
}

/// Throws UsageError if a key is there twice.
void check_once(std::span<const Row> rows, const StoredTrial& trial, std::string_view name) {
  const auto twice = std::ranges::adjacent_find(rows, {}, &Row::key);
  if (twice == rows.end()) return;
  const auto [first, second] = std::minmax(twice->line, std::next(twice)->line);
  throw second_row(name, second, first,
                   {.case_id = std::string(trial.case_id),
                    .device = trial.group->device,
                    .timing = trial.group->timing,
                    .attempt = twice->attempt,
                    .repeat = twice->repeat});
}

/// Returns 0 for an empty cell.
std::uint64_t parse_hash(const std::string& text, const TableRow& row) {
  std::uint64_t hash = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, hash, 16);
  if (!text.empty() && (stop != end || error != std::errc())) {
    throw row.error("output_hash", "must be a hexadecimal number");
  }
  return hash;
}

/// Returns all but the indices into what the trials share.
Row compared_row(const ComparedCells& cells, const TableRow& csv) {
  const bool passed = cells.status == Status::pass;
  const bool has_interval = cells.time_ci_low_s && cells.time_ci_high_s;
  return {.status = cells.status,
          .accepted = !cells.expected_failure.empty(),
          .contended = cells.contended.value_or(false),
          .throttled = cells.throttled.value_or(false),
          .is_stand_in = !cells.stand_in.empty(),
          .attempt = cells.attempt,
          .repeat = cells.repeat,
          .line = csv.line(),
          .median_s = cells.time_median_s.value_or(0),
          .low_s = has_interval ? *cells.time_ci_low_s : 0,
          .high_s = has_interval ? *cells.time_ci_high_s : 0,
          .output_hash = passed ? parse_hash(cells.output_hash, csv) : 0,
          .reason = passed ? std::string() : cells.reason};
}

StoredTime time_of(const std::vector<Row>& timed) {
  StoredTime time;
  std::vector<double> medians;
  time.low_s = std::numeric_limits<double>::infinity();
  for (const Row& row : timed) {
    medians.push_back(row.median_s);
    // An interval of block medians need not enclose the median of all samples.
    time.low_s = std::min(time.low_s, std::min(row.low_s, row.median_s));  // 0 where one has none
    time.high_s = std::max({time.high_s, row.high_s, row.median_s});
    time.contended |= row.contended;
    time.throttled |= row.throttled;
  }
  time.median_s = statistics::median(std::move(medians));
  return time;
}

/// Folds the rows of one trial, in the order of their keys, into `trial`.
void fold(std::span<const Row> rows, StoredTrial& trial) {
  TrialFold<Row> fold;
  std::vector<Row> timed;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    fold.add(rows[at]);
    const bool is_last = at + 1 == rows.size() || rows[at + 1].repeat != rows[at].repeat;
    if (is_last && fold.current().is_timed()) timed.push_back(fold.current());
  }
  const Row outcome = fold.outcome();
  trial.repeats = fold.repeats();
  trial.status = outcome.status;
  trial.accepted = outcome.accepted;
  trial.is_stand_in = outcome.is_stand_in;
  trial.reason = outcome.reason;
  trial.output_hash = outcome.output_hash;
  trial.implementation = outcome.implementation;
  if (!timed.empty()) trial.time = time_of(timed);
}

}  // namespace

bool StoredTrial::is_bad() const { return severity(status, accepted) > worst_good; }

StoredTrials::StoredTrials(std::istream& text, std::string_view name) { read(text, name); }

StoredTrials::StoredTrials(const std::filesystem::path& path) {
  InputFile file(path);
  read(file, path.string());
}

std::uint32_t StoredTrials::find(std::string_view case_id, std::string_view device,
                                 std::string_view timing) const {
  const auto found = index_.find({case_id, device, timing});
  return found == index_.end() ? absent : found->second;
}

const std::string& StoredTrials::product(const std::string& device) const {
  static const std::string unknown;
  const auto found = products_.find(device);
  return found == products_.end() ? unknown : found->second;
}

std::uint32_t StoredTrials::add(std::string_view case_id, const TrialGroup& group) {
  const auto index = static_cast<std::uint32_t>(trials_.size());
  StoredTrial& added = trials_.emplace_back();
  added.case_id = case_id;
  const bool is_like_the_last = index > 0 && *trials_[index - 1].group == group;
  added.group = is_like_the_last ? trials_[index - 1].group : &*groups_.insert(group).first;
  index_.emplace(Key(added.case_id, added.group->device, added.group->timing), index);
  return index;
}

void StoredTrials::read(std::istream& text, std::string_view name) {
  Rows rows;
  RowReader<ComparedCells> reader;
  ComparedCells cells;  // its strings are used for every row
  each_table_row(text, name, results_rules(), [&](const TableRow& csv) {
    reader.read(csv, cells);
    check_times(cells, csv);
    Row row = compared_row(cells, csv);
    row.trial = find(cells.case_id, cells.group.device, cells.group.timing);
    if (row.trial == absent) row.trial = add(cells.case_id, cells.group);
    if (row.output_hash != 0) {
      row.implementation = &*implementations_.insert(cells.implementation).first;
    }
    std::string& product = products_[cells.group.device];
    if (product.empty()) product = cells.device_name;
    if (row.is_timed()) add_measures(cells, row.trial);
    rows.push_back(std::move(row));
  });
  const std::vector<std::uint32_t> order = by_trial(rows, trials_.size());
  std::vector<Row> own;
  for (std::size_t at = 0; at < order.size();) {
    StoredTrial& trial = trials_[rows[order[at]].trial];
    own.clear();
    const std::uint32_t of = rows[order[at]].trial;
    for (; at < order.size() && rows[order[at]].trial == of; ++at) own.push_back(rows[order[at]]);
    std::ranges::sort(own, {}, &Row::key);
    check_once(own, trial, name);
    fold(own, trial);
  }
  finish_measures();
}

void StoredTrials::add_measures(ComparedCells& cells, std::uint32_t trial) {
  const std::span<const KeyFigure> figures = key_figures();
  for (std::uint32_t figure = 0; figure < figures.size(); ++figure) {
    if (figures[figure].op != cells.group.op || figures[figure].dtype != cells.group.dtype)
      continue;
    Record& record = cells.rated;
    record.op = cells.group.op;
    record.dtype = cells.group.dtype;
    record.device = cells.group.device;
    record.timing = cells.group.timing;
    record.case_id = cells.case_id;
    record.status = cells.status;
    record.stand_in = cells.stand_in;
    record.time_median_s = cells.time_median_s;
    record.time_ci_low_s = cells.time_ci_low_s;
    record.time_ci_high_s = cells.time_ci_high_s;
    if (auto measure = measure_of(figures[figure], record)) {
      measures_.push_back({.trial = trial, .figure = figure, .measure = *std::move(measure)});
    }
  }
}

/// Keeps the median of the repeats of each trial that passed: of an even number the lower one.
void StoredTrials::finish_measures() {
  std::erase_if(measures_, [&](const TrialMeasure& one) { return !trials_[one.trial].passed(); });
  const auto key = [](const TrialMeasure& one) { return std::pair(one.trial, one.figure); };
  std::ranges::sort(measures_, {}, [&](const TrialMeasure& one) {
    return std::pair(key(one), one.measure.value);
  });
  std::vector<TrialMeasure> kept;
  for (std::size_t begin = 0; begin < measures_.size();) {
    std::size_t end = begin;
    while (end < measures_.size() && key(measures_[end]) == key(measures_[begin])) ++end;
    kept.push_back(std::move(measures_[begin + (end - begin - 1) / 2]));
    begin = end;
  }
  measures_ = std::move(kept);
}

}  // namespace assay
