#include "reports/files/metrics.h"

#include <fmt/format.h>

#include <ctime>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/text/rate.h"

// Format: https://prometheus.io/docs/specs/om/open_metrics_spec/, section "Text format". Node
// exporters read it as the older Prometheus text format, to which its last line is a comment.
namespace assay {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\' || c == '"') safe += '\\';
    if (c == '\n') {
      safe += "\\n";
    } else {
      safe += c;
    }
  }
  return safe;
}

class Text {
 public:
  /// Begins a family of gauges, whose samples follow. One without samples is left out.
  void family(std::string_view name, std::string_view help) {
    name_ = name;
    head_ = fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
  }
  void sample(const Labels& labels, double value) {
    std::string names;
    for (const auto& [name, text] : labels) {
      names += fmt::format("{}{}=\"{}\"", names.empty() ? "" : ",", name, escaped(text));
    }
    text_ += std::exchange(head_, {});
    text_ += name_ + (names.empty() ? "" : "{" + names + "}") + fmt::format(" {}\n", value);
  }
  std::string take() { return std::move(text_) + "# EOF\n"; }

 private:
  std::string name_;
  std::string head_;  // of the family, until it has a sample
  std::string text_;
};

/// Seconds since 1970 of "2026-11-25T02:05:23.897Z".
std::optional<double> unix_s(const std::string& utc) {
  std::tm time{};
  std::istringstream stream(utc);
  if (!(stream >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S"))) return std::nullopt;
  return static_cast<double>(timegm(&time));
}

void add_run(Text& text, const RunInfo& run, const Outcomes& outcomes) {
  text.family("assay_run_info", "What ran, as labels.");
  text.sample({{"version", run.version},
               {"revision", run.git_revision},
               {"profile", run.profile},
               {"run_id", run.run_id}},
              1);
  text.family("assay_run_passed", "1 if the run is complete and everything in it is right.");
  text.sample({}, run_verdict(run, outcomes.tally()).passed ? 1 : 0);
  text.family("assay_run_ended",
              "1 if the run has ended; 0 while it goes on, or if it was killed.");
  text.sample({}, run.ended_at.empty() ? 0 : 1);
  if (const auto begin = unix_s(run.started_at)) {
    text.family("assay_run_start_time_seconds", "When the run began, in seconds since 1970.");
    text.sample({}, *begin);
  }
  if (const auto end = unix_s(run.ended_at)) {
    text.family("assay_run_end_time_seconds", "When the run ended, in seconds since 1970.");
    text.sample({}, *end);
  }
  text.family("assay_run_planned_trials", "Trials that were planned.");
  text.sample({}, static_cast<double>(run.planned));
}

void add_outcomes(Text& text, const std::vector<Record>& trials) {
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  for (const Record& trial : trials) {
    const bool is_known = !trial.expected_failure.empty();
    ++counts[{trial.device, is_known ? "expected failure" : std::string(name(trial.status))}];
  }
  text.family("assay_trials", "Trials by device and outcome.");
  for (const auto& [key, count] : counts) {
    text.sample({{"device", key.first}, {"outcome", key.second}}, static_cast<double>(count));
  }
}

void add_rates(Text& text, const std::vector<Record>& trials) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, const Record*> largest;
  for (const Record& trial : trials) {
    if (!rate(trial)) continue;
    const Record*& known =
        largest[{trial.suite, trial.op, trial.dtype, trial.device, trial.timing}];
    if (known == nullptr || tells_more(trial, *known)) known = &trial;
  }
  const auto add = [&](RateKind kind, std::string_view name, std::string_view help) {
    text.family(name, help);
    for (const auto& [key, trial] : largest) {
      const Rate found = *rate(*trial);
      if (found.kind != kind) continue;
      text.sample({{"suite", trial->suite},
                   {"op", trial->op},
                   {"dtype", trial->dtype},
                   {"params", trial->params},
                   {"device", trial->device},
                   {"timing", trial->timing}},
                  found.per_s);
    }
  };
  add(RateKind::arithmetic, "assay_flops_per_second", "Arithmetic at the largest case of an op.");
  add(RateKind::data, "assay_bytes_per_second", "Data moved at the largest case of an op.");
}

}  // namespace

std::string metrics_text(const RunInfo& run, const Outcomes& outcomes) {
  const std::vector<Record> trials = outcomes.trials();
  Text text;
  add_run(text, run, outcomes);
  add_outcomes(text, trials);
  add_rates(text, trials);
  return text.take();
}

}  // namespace assay
