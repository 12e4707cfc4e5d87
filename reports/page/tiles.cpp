#include "reports/page/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>

#include "kernels/core/names.h"
#include "reports/compare/paired_summary.h"
#include "reports/page/cells.h"
#include "reports/page/differences.h"
#include "reports/page/findings.h"
#include "reports/page/stand_ins.h"
#include "reports/text/quality.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

Json tile(std::string_view title, std::string_view figure, std::string_view note,
          std::string_view kind = "") {
  return {{"name", title}, {"figure", figure}, {"unit", ""},
          {"note", note},  {"kind", kind},     {"at", ""}};
}

std::string column_of(const DeviceCells& device, std::string_view column) {
  const auto found = device.find(column);
  return found == device.end() ? "" : found->second;
}

Json device_tile(const RunSource& run) {
  std::vector<std::string> names;  // of real devices
  std::map<std::string, std::int64_t> stand_ins;
  for (const DeviceCells& device : run.devices) {
    if (const std::string kind = stand_in_of(device); !kind.empty()) {
      ++stand_ins[kind];
    } else if (const std::string name = column_of(device, "name");
               std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  const bool is_one = run.devices.size() == 1;
  const DeviceCells& first = run.devices.front();
  std::vector<std::string> notes;
  if (is_one) {
    const std::string units = column_of(first, "compute_units");
    const std::string_view what = column_of(first, "backend") == "cpu" ? "cores" : "units";
    if (!units.empty()) notes.push_back(fmt::format("{} {}", units, what));
    notes.push_back(column_of(first, "architecture"));
  } else {
    notes = names;
  }
  for (const auto& [kind, count] : stand_ins) {
    notes.push_back(fmt::format("{} {}: no hardware", is_one ? "is" : with_commas(count), kind));
  }
  std::erase(notes, "");
  Json made = tile(is_one ? "Device" : "Devices",
                   is_one ? column_of(first, "name") : fmt::format("{}", run.devices.size()),
                   join(notes, " · "));
  made["is_name"] = is_one;
  return made;
}

Json right_tile(const RunSource& run) {
  const Word word = word_of(run);
  double worst = -1;
  for (const Record& trial : run.trials) {
    if (trial.status == Status::pass) worst = std::max(worst, trial.max_bound_ratio.value_or(0));
  }
  std::string note = not_right(run);
  if (const std::size_t colon = note.find(": "); colon != std::string::npos) {
    note = note.substr(colon + 2);
  } else if (worst > 0) {
    note = fmt::format("the worst error is {:.0f}% of what is allowed", 100 * worst);
  } else if (worst == 0) {
    note = "all are exact";
  }
  Json made = tile("Right", with_commas(run.tally.count(StatusClass::right)), note,
                   word.kind == "passed"   ? "good"
                   : word.kind == "failed" ? "bad"
                                           : "");
  made["of"] = fmt::format("of {}", with_commas(run.tally.total));
  return made;
}

/// The best rate of this kind: that of a large case within its limit before others, which caches or
/// a wrong figure may have helped.
Json best_tile(const Content& content, std::size_t run, std::string_view title, RateKind kind) {
  const TrialRow* best = nullptr;
  const auto rank = [](const Record& trial) {
    const double share = trial.fraction_of_limit.value_or(2);
    return std::pair(share <= 1.05 && !trial.beyond_limit.value_or(false), rate(trial)->per_s);
  };
  for (const GridOp& op : content.grid) {
    for (std::size_t c = 0; c < op.rates.size(); ++c) {
      const TrialRow& one = op.rates[c];
      if (one.trial == nullptr || content.columns[c].run != run || rate(*one.trial)->kind != kind) {
        continue;
      }
      if (best == nullptr || rank(*one.trial) > rank(*best->trial)) best = &one;
    }
  }
  if (best == nullptr) return tile(title, "–", "not measured");
  const Record& trial = *best->trial;
  std::string note = fmt::format("{} {}", trial.op, trial.dtype);
  if (trial.fraction_of_limit) {
    note += fmt::format(", {:.0f}% of its limit", 100 * *trial.fraction_of_limit);
  } else {
    note += ", no limit was measured";
  }
  const std::vector<std::string> figure = split(rate_figure(trial).value, ' ');  // "24.4 GB/s"
  Json made = tile(title, figure.front(), note);
  made["unit"] = figure.back();
  made["at"] = row_link(run, best->row);
  return made;
}

Json quality_tile(const RunSource& run) {
  const Quality quality = quality_of(run.trials);
  constexpr std::string_view title = "Quality of times";
  if (quality.timed == 0) return tile(title, "–", "no hardware was timed");
  if (quality.is_clean()) {
    Json made =
        tile(title, with_commas(quality.timed), "none contended, throttled or beyond its limit");
    made["of"] = "all quiet";
    return made;
  }
  std::string note = quality.rest();
  const bool is_busy = quality.contended > 0;
  if (is_busy) note += note.empty() ? "measure again when quiet" : "; measure again when quiet";
  Json made =
      tile(title, with_commas(is_busy ? quality.contended : quality.doubtful), note, "amber");
  made["of"] =
      fmt::format("of {} {}", with_commas(quality.timed), is_busy ? "contended" : "doubtful");
  return made;
}

/// Fills in what few tiles have.
Json whole(Json tiles) {
  for (Json& made : tiles) {
    if (!made.contains("of")) made["of"] = "";
    if (!made.contains("is_name")) made["is_name"] = false;
  }
  return tiles;
}

}  // namespace

Json tiles_of(const Content& content, std::size_t run) {
  const RunSource& source = content.input.runs[run];
  Json tiles = Json::array();
  tiles.push_back(device_tile(source));
  tiles.push_back(right_tile(source));
  tiles.push_back(best_tile(content, run, "Best bandwidth", RateKind::data));
  tiles.push_back(best_tile(content, run, "Best matrix rate", RateKind::arithmetic));
  tiles.push_back(quality_tile(source));
  return whole(std::move(tiles));
}

Json tiles_of(const PairedSource& source) {
  const PairedTally counts = tally(source.cases);
  const auto count = [&](std::initializer_list<PairedVerdict> verdicts) {
    std::int64_t sum = 0;
    for (const PairedVerdict verdict : verdicts) {
      const auto found = counts.find(verdict);
      sum += found == counts.end() ? 0 : found->second;
    }
    return sum;
  };
  using enum PairedVerdict;
  Json tiles = Json::array();
  const auto add = [&](std::string_view name, std::int64_t cases, std::string_view note,
                       std::string_view kind) {
    tiles.push_back(tile(name, with_commas(cases), note, cases > 0 ? kind : ""));
  };
  add("Slower", count({regressed}), "by more than the margin", "bad");
  add("Faster", count({improved}), "by more than the margin", "");
  add("Alike", count({equivalent}), "within the margin", "");
  add("Unclear", count({inconclusive}), "more rounds may tell", "amber");
  if (const auto untimed = count({wrong, broken, missing}); untimed > 0) {
    add("Wrong or broken", untimed, "so not timed", "bad");
  }
  Mean mean;
  for (const PairedCase& one : source.cases) {
    if (one.ratio.value_or(0) > 0) mean.add(*one.ratio);
  }
  if (mean.count > 0) {
    tiles.push_back(tile("Geometric mean", ratio_text(mean.value()),
                         fmt::format("candidate over base, {}: {}", counted(mean.count, "case"),
                                     speed_words(mean.value()))));
  }
  return whole(std::move(tiles));
}

}  // namespace assay::page
