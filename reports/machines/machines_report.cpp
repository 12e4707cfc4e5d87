#include "reports/machines/machines_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "harness/statistics/robust_z.h"
#include "kernels/core/names.h"
#include "reports/text/si.h"

namespace assay {
namespace {

/// Cuts the rows of a section, and says where the rest is.
void cut(Section& section, std::size_t longest_list, std::string_view option) {
  if (section.rows.size() <= longest_list) return;
  section.left_out += section.rows.size() - longest_list;
  section.rows.resize(longest_list);
  section.left_out_are_in = fmt::format("--all lists them, {} FILE has every one", option);
}

std::string times_text(double speed) { return ratio_text(speed) + "×"; }

std::string interval_text(const FleetSpeed& speed) {
  if (!speed.interval) return "";
  return fmt::format("{} to {}", ratio_text(speed.interval->low), ratio_text(speed.interval->high));
}

std::string case_text(const FleetCase& test) {
  std::string text = test.case_id;
  if (!test.timing.empty()) text += " " + test.timing;
  if (!test.lane.empty()) text += " " + test.lane;
  return text;
}

std::string group_text(const std::string& suite, const std::string& dtype) {
  return dtype.empty() ? suite : suite + " " + dtype;
}

Section machines_section(const MachinesFacts& facts) {
  const Fleet& fleet = facts.fleet;
  Section section{.title = fmt::format("Machines: {}", fleet.machines.size())};
  section.header = {"machine", "hosts", "devices", "runs", "right", "not right", "skipped"};
  section.alignment = "<>>>>>>";
  for (const FleetColumn& column : facts.columns) {
    FleetMachine all;
    std::size_t devices = 0;
    for (const std::uint32_t m : column.machines) {
      const FleetMachine& machine = fleet.machines[m];
      devices += machine.units.size();
      all.runs += machine.runs;
      all.passed += machine.passed;
      all.wrong += machine.wrong;
      all.broken += machine.broken;
      all.skipped += machine.skipped;
    }
    section.rows.push_back(
        {column.name, fmt::format("{}", column.machines.size()), fmt::format("{}", devices),
         fmt::format("{}", all.runs), fmt::format("{}", all.passed),
         fmt::format("{}", all.wrong + all.broken), fmt::format("{}", all.skipped)});
  }
  cut(section, facts.longest_list, "--csv");
  if (fleet.builds.size() > 1) {
    const std::vector<std::string> builds(fleet.builds.begin(), fleet.builds.end());
    section.lines.push_back(fmt::format(
        "The runs are of {} builds, which may differ in speed and in bits: {}", builds.size(),
        join(std::span(builds).first(std::min<std::size_t>(builds.size(), 3)), "; ")));
  }
  if (fleet.left_out_stand_ins > 0) {
    section.lines.push_back(
        fmt::format("{} trials on stand-ins are left out: their times are no hardware's",
                    fleet.left_out_stand_ins));
  }
  return section;
}

Section passed_over_section(const MachinesFacts& facts) {
  Section section{.title = fmt::format("Runs left out: {}", facts.passed_over.size())};
  const std::size_t shown = std::min(facts.passed_over.size(), facts.longest_list);
  section.lines.assign(facts.passed_over.begin(),
                       facts.passed_over.begin() + static_cast<std::ptrdiff_t>(shown));
  section.left_out = facts.passed_over.size() - shown;
  section.left_out_are_in = "standard error lists them";
  return section;
}

Section failures_section(const MachinesFacts& facts) {
  const auto failed = static_cast<std::size_t>(facts.fleet.failed_trials());
  Section section{.title = fmt::format("Not right: {}", failed)};
  section.header = {"case", "machine", "device", "status", "reason"};
  section.alignment = "<<<<<";
  for (const FailedTrial& failure : facts.fleet.failures) {
    const FleetMachine& machine = facts.fleet.machines[failure.machine];
    section.rows.push_back({failure.case_id, machine.product + " in " + machine.host, failure.lane,
                            std::string(name(failure.status)), failure.reason});
  }
  const std::size_t shown = std::min(section.rows.size(), facts.longest_list);
  section.rows.resize(shown);
  section.left_out = failed - shown;
  section.left_out_are_in = "the results.csv of each run has its own";
  return section;
}

Section speeds_section(const MachinesFacts& facts) {
  const FleetSpeeds& speeds = facts.speeds;
  Section section{.title = "Speed of each machine over " + facts.columns[speeds.baseline].name};
  const std::vector<std::string> headlines = machines_headlines(facts);
  const std::size_t shown = std::min(headlines.size(), facts.longest_list);
  section.lines.assign(headlines.begin(), headlines.begin() + static_cast<std::ptrdiff_t>(shown));
  if (speeds.common.size() < speeds.timed_cases) {
    section.lines.push_back(fmt::format(
        "{} of {} timed cases are common to all; fewest has {}, with {}", speeds.common.size(),
        speeds.timed_cases, facts.columns[speeds.min_cases_column].name, speeds.min_cases));
  }
  for (const std::size_t column : speeds.untimed) {
    if (section.lines.size() > 2 * facts.longest_list) break;
    section.lines.push_back(facts.columns[column].name + " has no times, and is left out here");
  }
  section.header = {"machine", "speed", "95% over cases", "slower in", "least", "in the case"};
  section.alignment = "<>>>><";
  for (const FleetSpeed& speed : speeds.all) {
    section.rows.push_back({facts.columns[speed.column].name, times_text(speed.speed),
                            interval_text(speed), fmt::format("{}", speed.slower),
                            times_text(speed.least),
                            case_text(facts.fleet.cases[speed.slowest_case])});
  }
  cut(section, facts.longest_list, "--csv");
  return section;
}

/// Has a row for each suite and dtype: machines in the order of their speed.
Section ranking_section(const MachinesFacts& facts) {
  constexpr std::size_t max_named = 5;
  Section section{.title = "Ranking by suite and dtype, the fastest first"};
  section.header = {"suite", "dtype", "cases", "ranking"};
  section.alignment = "<<><";
  const std::vector<FleetSpeed>& speeds = facts.speeds.of_each_group;
  for (std::size_t begin = 0; begin < speeds.size();) {
    const FleetSpeed& first = speeds[begin];
    std::vector<std::string> names;
    std::size_t end = begin;
    for (; end < speeds.size(); ++end) {
      const FleetSpeed& speed = speeds[end];
      if (speed.suite != first.suite || speed.dtype != first.dtype) break;
      if (names.size() == max_named) continue;
      names.push_back(fmt::format("{}. {} {}", speed.rank, facts.columns[speed.column].name,
                                  times_text(speed.speed)));
    }
    std::string ranking = join(names, ", ");
    const std::size_t left_out = end - begin - names.size();
    if (left_out > 0) ranking += fmt::format(", and {} more", left_out);
    section.rows.push_back(
        {first.suite, first.dtype, fmt::format("{}", first.cases), std::move(ranking)});
    begin = end;
  }
  return section;
}

Section slower_section(const MachinesFacts& facts) {
  const FleetSpeeds& speeds = facts.speeds;
  Section section{.title = "Slower than " + facts.columns[speeds.baseline].name};
  section.header = {"case", "machine", "speed"};
  section.alignment = "<<>";
  std::vector<std::tuple<double, std::uint32_t, std::size_t>> found;  // speed, case, column
  std::size_t slower = 0;
  for (const FleetSpeed& speed : speeds.all) {
    slower += speed.slower;
    for (const auto& [test, ratio] : speed.slowest) found.emplace_back(ratio, test, speed.column);
  }
  std::ranges::sort(found);
  found.resize(std::min(found.size(), facts.longest_list));
  for (const auto& [ratio, test, column] : found) {
    section.rows.push_back(
        {case_text(facts.fleet.cases[test]), facts.columns[column].name, times_text(ratio)});
  }
  section.title += fmt::format(": {}", slower);
  section.left_out = slower - section.rows.size();
  section.left_out_are_in = "assay compare --hardware has all of two machines";
  return section;
}

/// An outlier in all of its groups.
struct OutlierUnit {
  const OutlierTest* test;  // with the least p
  std::size_t groups;
};

std::vector<OutlierUnit> outlier_units(const ProductOutliers& product) {
  std::vector<OutlierUnit> units;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> indices;
  for (const OutlierTest& test : product.tests) {
    if (!test.is_outlier) continue;
    const auto [entry, is_new] = indices.emplace(std::pair(test.machine, test.lane), units.size());
    if (is_new) units.push_back({.test = &test, .groups = 0});
    ++units[entry->second].groups;
  }
  return units;
}

Section outliers_section(const MachinesFacts& facts, const ProductOutliers& product) {
  const std::vector<OutlierUnit> units = outlier_units(product);
  Section section{.title = fmt::format("Outliers among {} of {}",
                                       counted(static_cast<std::int64_t>(product.units), "device"),
                                       product.product)};
  if (product.tests.empty()) {
    section.title += ": too few to tell";
    section.lines.push_back(fmt::format("It takes {} with a case in common",
                                        counted(statistics::min_for_outliers, "device")));
    return section;
  }
  section.title += fmt::format(": {}", units.size());
  if (units.empty()) return section;
  section.lines.push_back(fmt::format(
      "by suite and dtype: median time over that of all devices, beyond {:.3g}% and with p at most "
      "{:g} after Holm over {} tests",
      100 * facts.rule.margin, facts.rule.level, product.tests.size()));
  section.header = {"machine",  "device", "time",          "z",
                    "p (Holm)", "in",     "shown best by", "time there"};
  section.alignment = "<<>>><<>";
  for (const OutlierUnit& unit : units) {
    const OutlierTest& test = *unit.test;
    const FleetCase& shown = facts.fleet.cases[test.shown_by];
    section.rows.push_back(
        {facts.fleet.machines[test.machine].host, test.lane, change_text(test.time_ratio),
         std::isinf(test.z) ? "all others agree" : fmt::format("{:+.1f}", test.z),
         fmt::format("{:.1g}", test.p_holm),
         group_text(test.suite, test.dtype) +
             (unit.groups > 1 ? fmt::format(", and {} more", unit.groups - 1) : ""),
         shown.case_id + " " + shown.timing, change_text(test.shown_ratio)});
  }
  cut(section, facts.longest_list, "--outliers");
  return section;
}

std::string outputs_text(const OutputBits& bits) {
  const auto others = bits.trials - static_cast<std::int64_t>(bits.examples.size());
  return join(bits.examples, ", ") + (others > 0 ? ", ..." : "");
}

Section bits_section(const MachinesFacts& facts) {
  const Fleet& fleet = facts.fleet;
  Section section{.title = fmt::format("Bits that differ where all pass: {}",
                                       counted(std::ssize(fleet.differences), "case"))};
  section.lines.push_back(
      fmt::format("{} left the same bits everywhere",
                  counted(static_cast<std::int64_t>(fleet.cases_with_same_bits), "case")));
  const auto within = std::ranges::count_if(fleet.differences, &BitDifference::within_product);
  if (within > 0) {
    section.lines.push_back(fmt::format(
        "{} differ by one implementation on devices of one product; these are first", within));
  }
  section.header = {"case", "product", "output hash", "trials", "on", "by"};
  section.alignment = "<<<><<";
  std::size_t all = 0;
  for (const BitDifference& difference : fleet.differences) {
    all += difference.outputs.size();
    if (section.rows.size() >= facts.longest_list) continue;
    for (const OutputBits& bits : difference.outputs) {
      section.rows.push_back({difference.case_id, bits.product, fmt::format("{:016x}", bits.hash),
                              fmt::format("{}", bits.trials), outputs_text(bits),
                              bits.implementation});
    }
  }
  section.left_out = all - section.rows.size();
  section.left_out_are_in = "--all lists them, --bits FILE has every one";
  return section;
}

}  // namespace

std::vector<std::string> machines_headlines(const MachinesFacts& facts) {
  std::vector<std::string> lines;
  const FleetSpeeds& speeds = facts.speeds;
  for (const FleetSpeed& speed : speeds.all) {
    if (speed.column == speeds.baseline) continue;
    lines.push_back(fmt::format(
        "{} is {}{} as fast as {} over {}; slower in {}", facts.columns[speed.column].name,
        times_text(speed.speed), speed.interval ? fmt::format(" ({})", interval_text(speed)) : "",
        facts.columns[speeds.baseline].name,
        counted(static_cast<std::int64_t>(speed.cases), "case"), speed.slower));
  }
  return lines;
}

std::vector<Section> machines_sections(const MachinesFacts& facts) {
  std::vector<Section> sections{machines_section(facts)};
  if (!facts.passed_over.empty()) sections.push_back(passed_over_section(facts));
  if (facts.fleet.failed_trials() > 0) sections.push_back(failures_section(facts));
  if (!facts.speeds.all.empty()) {
    sections.push_back(speeds_section(facts));
    sections.push_back(ranking_section(facts));
    const bool any_slower = std::ranges::any_of(
        facts.speeds.all, [](const FleetSpeed& speed) { return speed.slower > 0; });
    if (any_slower) sections.push_back(slower_section(facts));
  }
  for (const ProductOutliers& product : facts.outliers) {
    if (product.units > 1) sections.push_back(outliers_section(facts, product));
  }
  if (!facts.fleet.differences.empty()) sections.push_back(bits_section(facts));
  return sections;
}

std::string machines_summary(const MachinesFacts& facts) {
  std::int64_t outliers = 0;
  for (const ProductOutliers& product : facts.outliers) {
    outliers += std::ssize(outlier_units(product));
  }
  return fmt::format("machines: {}, {} of {}, {} in common, {} not right, {}, {} with other bits",
                     counted(static_cast<std::int64_t>(facts.fleet.runs), "run"),
                     counted(std::ssize(facts.fleet.machines), "machine"),
                     counted(std::ssize(facts.outliers), "product"),
                     counted(std::ssize(facts.speeds.common), "case"), facts.fleet.failed_trials(),
                     counted(outliers, "outlier"),
                     counted(std::ssize(facts.fleet.differences), "case"));
}

}  // namespace assay
