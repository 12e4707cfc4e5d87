#include "reports/files/stored_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "harness/records/input_file.h"
#include "harness/statistics/order_statistics.h"
#include "kernels/core/status.h"
#include "reports/files/results_columns.h"
#include "reports/text/trial_fold.h"

namespace assay {
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
  for (std::uint32_t place = 0; place < rows.size(); ++place) {
    order[begins[rows[place].trial]++] = place;
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

/// Takes what a comparison needs from the rows of one file. The strings are used for every row.
class RowReader {
 public:
  explicit RowReader(const ResultsColumns& columns) : columns_(columns) {}

  /// Reads all but the trial's index and the row's strings.
  Row read(const CsvRow& csv) {
    Row row;
    row.line = csv.line;
    take(csv, case_id_, case_id);
    take(csv, suite_, group.suite);
    take(csv, op_, group.op);
    take(csv, dtype_, group.dtype);
    take(csv, device_, group.device);
    take(csv, timing_, group.timing);
    take(csv, attempt_, row.attempt);
    take(csv, repeat_, row.repeat);
    take(csv, status_, row.status);
    take(csv, expected_failure_, expected_failure);
    row.accepted = !expected_failure.empty();
    reason.clear();
    if (row.status != Status::pass) take(csv, reason_, reason);
    row.median_s = seconds(csv, median_).value_or(0);
    const std::optional<double> low = seconds(csv, low_);
    const std::optional<double> high = seconds(csv, high_);
    columns_.check_interval(csv, low, high);
    if (low && high) {
      row.low_s = *low;
      row.high_s = *high;
    }
    row.contended = flag(csv, contended_);
    row.throttled = flag(csv, throttled_);
    take(csv, stand_in_, stand_in);
    row.is_stand_in = !stand_in.empty();
    take(csv, device_name_, device_name);
    if (row.status == Status::pass) row.output_hash = hash(csv);
    implementation.clear();
    if (row.output_hash != 0) take(csv, implementation_, implementation);
    return row;
  }

  std::string case_id;
  TrialGroup group;
  std::string reason;
  std::string expected_failure;
  std::string stand_in;
  std::string device_name;
  std::string implementation;  // of a row with a hash

 private:
  struct Column {
    Column(const ResultsColumns& columns, std::string_view of)
        : name(of), place(columns.place(of)) {}
    std::string_view name;
    std::size_t place;
  };

  template <class T>
  void take(const CsvRow& csv, const Column& column, T& field) const {
    columns_.read(csv, column.name, column.place, field);
  }

  std::optional<double> seconds(const CsvRow& csv, const Column& column) const {
    std::optional<double> value;
    take(csv, column, value);
    return value;
  }

  bool flag(const CsvRow& csv, const Column& column) const {
    std::optional<bool> value;
    take(csv, column, value);
    return value.value_or(false);
  }

  std::uint64_t hash(const CsvRow& csv) {
    output_hash_text_.clear();
    take(csv, output_hash_, output_hash_text_);
    std::uint64_t value = 0;
    const char* const end = output_hash_text_.data() + output_hash_text_.size();
    const auto [stop, error] = std::from_chars(output_hash_text_.data(), end, value, 16);
    if (!output_hash_text_.empty() && (stop != end || error != std::errc())) {
      throw columns_.error(csv, output_hash_.place, "output_hash: must be a hexadecimal number");
    }
    return value;
  }

  const ResultsColumns& columns_;
  std::string output_hash_text_;
  Column case_id_{columns_, "case_id"};
  Column suite_{columns_, "suite"};
  Column op_{columns_, "op"};
  Column dtype_{columns_, "dtype"};
  Column device_{columns_, "device"};
  Column timing_{columns_, "timing"};
  Column attempt_{columns_, "attempt"};
  Column repeat_{columns_, "repeat"};
  Column status_{columns_, "status"};
  Column expected_failure_{columns_, "expected_failure"};
  Column reason_{columns_, "reason"};
  Column median_{columns_, "time_median_s"};
  Column low_{columns_, "time_ci_low_s"};
  Column high_{columns_, "time_ci_high_s"};
  Column contended_{columns_, "contended"};
  Column throttled_{columns_, "throttled"};
  Column stand_in_{columns_, "stand_in"};
  Column device_name_{columns_, "device_name"};
  Column output_hash_{columns_, "output_hash"};
  Column implementation_{columns_, "implementation"};
};

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
  const auto place = static_cast<std::uint32_t>(trials_.size());
  StoredTrial& added = trials_.emplace_back();
  added.case_id = case_id;
  const bool is_like_the_last = place > 0 && *trials_[place - 1].group == group;
  added.group = is_like_the_last ? trials_[place - 1].group : &*groups_.insert(group).first;
  index_.emplace(Key(added.case_id, added.group->device, added.group->timing), place);
  return place;
}

void StoredTrials::read(std::istream& text, std::string_view name) {
  Rows rows;
  std::optional<RowReader> reader;
  each_results_row(text, name, [&](const ResultsColumns& columns, const CsvRow& csv) {
    if (!reader) reader.emplace(columns);
    Row row = reader->read(csv);
    row.trial = find(reader->case_id, reader->group.device, reader->group.timing);
    if (row.trial == absent) row.trial = add(reader->case_id, reader->group);
    row.reason = reader->reason;
    if (row.output_hash != 0) {
      row.implementation = &*implementations_.insert(reader->implementation).first;
    }
    std::string& product = products_[reader->group.device];
    if (product.empty()) product = reader->device_name;
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
}

}  // namespace assay
