#include "reports/compare/comparison_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "harness/records/replay.h"
#include "kernels/core/names.h"
#include "reports/text/few_samples.h"
#include "reports/text/si.h"

namespace assay {
namespace {

using Trials = std::vector<const ComparedTrial*>;

template <class IsOne>
Trials those(const Comparison& comparison, IsOne is_one) {
  Trials trials;
  for (const ComparedTrial& trial : comparison.trials) {
    if (is_one(trial)) trials.push_back(&trial);
  }
  return trials;
}

std::string status_text(const StoredTrial& trial) {
  return std::string(name(trial.status)) + (trial.accepted ? " (known)" : "");
}

std::vector<std::string> run_row(const char* side, const StoredRun& run,
                                 const StoredTrials& trials) {
  std::int64_t finished = 0;
  for (const StoredTrial& trial : trials.trials()) finished += trial.repeats;
  std::string count = fmt::format("{}", finished);
  if (finished < run.planned) count += fmt::format(" of {}", run.planned);
  return {side,
          run.directory.string(),
          run.started_at.substr(0, 19) + "Z",
          run.host,
          fmt::format("{} {} {}", run.version, run.git_revision, run.build_type),
          count,
          fmt::format("{}", run.exit_code)};
}

Section what_is_compared(const ComparisonFacts& facts) {
  Section section{.title = "Compared"};
  section.header = {"", "run", "started", "host", "assay", "trials", "exit code"};
  section.alignment = "<<<<<>>";
  section.rows = {run_row("base", facts.base.run, facts.base_trials),
                  run_row("cand", facts.cand.run, facts.cand_trials)};
  for (const std::string& note : facts.base.run.notes) section.lines.push_back("base: " + note);
  for (const std::string& note : facts.cand.run.notes) section.lines.push_back("cand: " + note);
  return section;
}

Section environment(const ComparisonFacts& facts) {
  if (facts.differences.empty()) return {.title = "Environment: no differences"};
  Section section{.title = "Environment differences"};
  section.header = {"what", "base", "cand"};
  section.alignment = "<<<";
  for (const Difference& difference : facts.differences) {
    section.rows.push_back({difference.what, difference.base, difference.cand});
  }
  return section;
}

/// One line for each trial with this change, worse ones first.
Section changes(const ComparisonFacts& facts, Change change, std::string_view title,
                std::string_view why_of) {
  Trials trials =
      those(facts.comparison, [&](const ComparedTrial& trial) { return trial.change == change; });
  std::stable_partition(trials.begin(), trials.end(), std::mem_fn(&ComparedTrial::is_worse));
  Section section{.title = fmt::format("{}: {}", title, trials.size())};
  section.header = {"case", "on", "base", "cand", "why"};
  section.alignment = "<<<<<";
  add_rows(section, trials, facts, [&](const ComparedTrial& trial) -> std::vector<std::string> {
    const StoredTrial* const side = why_of == "base" ? trial.base : trial.cand;
    return {std::string(trial.either().case_id), trial_place(trial),
            trial.base != nullptr ? status_text(*trial.base) : "",
            trial.cand != nullptr ? status_text(*trial.cand) : "",
            side != nullptr ? std::string(side->reason) : ""};
  });
  return section;
}

std::ptrdiff_t count_of_other_bits(const ComparisonFacts& facts, bool by_another) {
  return std::ranges::count_if(facts.comparison.trials, [=](const ComparedTrial& trial) {
    return trial.left_other_bits(by_another);
  });
}

std::vector<std::string> speed_row(const ComparedTrial& trial) {
  return {std::string(trial.either().case_id),
          trial_place(trial),
          ratio_text(trial.ratio.value),
          ratio_text(trial.ratio.low) + " to " + ratio_text(trial.ratio.high),
          si(trial.base->time->median_s, "s"),
          si(trial.cand->time->median_s, "s"),
          disturbance(trial)};
}

/// Last value of an option in a command line; empty if there is none.
std::string value_of(const std::string& option, const std::vector<std::string>& command_line) {
  std::string value;
  for (std::size_t i = 1; i < command_line.size(); ++i) {
    const std::string& word = command_line[i];
    if (word == option && i + 1 < command_line.size()) value = command_line[i + 1];
    if (word.starts_with(option + "=")) value = word.substr(option.size() + 1);
  }
  return value;
}

/// Options by which the sides of `assay ab` have the kernels of the two runs.
std::string kernels_options(const ComparisonFacts& facts) {
  const auto given = [](const std::string& option, const EndedRun& of) {
    const std::string value = value_of("--" + option, of.run.command_line);
    return value.empty() ? value : fmt::format("{} {}", option, shell_word(value));
  };
  std::string options;
  const std::string base = given("kernels", facts.base);
  const std::string cand = given("kernels", facts.cand);
  if (base == cand) {
    if (!base.empty()) options += " --" + base;
  } else {
    if (!base.empty()) options += " --base-" + base;
    if (!cand.empty()) options += " --cand-" + cand;
  }
  for (const EndedRun* run : {&facts.cand, &facts.base}) {
    if (const std::string python = given("python", *run); !python.empty()) {
      return options + " --" + python;
    }
  }
  return options;
}

/// Commands that decide it by fresh, paired processes: one for each device and way of timing.
std::vector<std::string> confirming_commands(const Trials& suspects, const ComparisonFacts& facts) {
  std::map<std::pair<std::string, std::string>, std::string> cases;
  for (const ComparedTrial* trial : suspects) {
    const TrialGroup& group = *trial->cand->group;
    cases[{group.device, group.timing}] +=
        " --case " + shell_word(std::string(trial->cand->case_id));
  }
  std::vector<std::string> commands{
      "# to confirm, with the two programs in place of BASE_ASSAY and CAND_ASSAY:"};
  for (const auto& [key, of_cases] : cases) {
    const std::string timing = key.second == cold_timing ? " --timing cold" : "";
    commands.push_back(fmt::format("assay ab --base BASE_ASSAY --cand CAND_ASSAY{} --device {}{}{}",
                                   kernels_options(facts), shell_word(key.first), timing,
                                   of_cases));
  }
  return commands;
}

Section speeds(const ComparisonFacts& facts, Speed speed) {
  const bool is_slower = speed == Speed::slower;
  Trials trials =
      those(facts.comparison, [&](const ComparedTrial& trial) { return trial.speed == speed; });
  std::ranges::stable_sort(trials, [&](const ComparedTrial* a, const ComparedTrial* b) {
    return is_slower ? a->ratio.value > b->ratio.value : a->ratio.value < b->ratio.value;
  });
  Section section{
      .title = fmt::format("{}: {}", is_slower ? "Suspects, slower" : "Faster", trials.size())};
  section.lines.push_back(fmt::format(
      "time of cand / base: the whole interval is {} {}", is_slower ? "above" : "below",
      ratio_text(is_slower ? 1 + facts.options.margin : 1 / (1 + facts.options.margin))));
  if (is_slower) {
    section.lines.emplace_back(
        "Each side's interval is of one process, and processes of one and the same build differ "
        "too: these are suspects, no verdicts.");
  }
  section.header = {"case", "on", "ratio", "interval", "base", "cand", "disturbed"};
  section.alignment = "<<>>>><";
  add_rows(section, trials, facts, speed_row);
  if (is_slower) {
    trials.resize(section.rows.size());
    section.commands = confirming_commands(trials, facts);
  }
  return section;
}

/// One line for each op and dtype of which a case left other bits, by the same implementation or by
/// another one.
Section other_bits(const ComparisonFacts& facts, bool by_another) {
  struct Group {
    std::int64_t compared = 0;
    Trials others;
  };
  std::map<std::vector<std::string>, Group> groups;
  for (const ComparedTrial& trial : facts.comparison.trials) {
    if (!trial.same_implementation || *trial.same_implementation == by_another) continue;
    const TrialGroup& of = *trial.either().group;
    Group& group = groups[{of.suite + "/" + of.op, of.dtype, trial_place(trial)}];
    ++group.compared;
    if (trial.same_bits == false) group.others.push_back(&trial);
  }
  Section section;
  if (by_another) {
    section.title = fmt::format("Other bits by another implementation, both right: {}",
                                count_of_other_bits(facts, true));
    section.lines.emplace_back("Another library or algorithm may add in another order.");
  } else {
    section.title = fmt::format("Other bits, both right: {}", count_of_other_bits(facts, false));
  }
  section.header = {"op", "dtype", "on", "cases", "other bits", "such as"};
  section.alignment = "<<<>><";
  for (const auto& [names, group] : groups) {
    if (group.others.empty()) continue;
    section.rows.push_back({names[0], names[1], names[2], fmt::format("{}", group.compared),
                            fmt::format("{}", group.others.size()),
                            std::string(group.others.front()->either().case_id)});
  }
  return section;
}

std::string bits_summary(const ComparisonFacts& facts) {
  const auto by_another = count_of_other_bits(facts, true);
  const auto others = count_of_other_bits(facts, false) + by_another;
  const auto all = std::ranges::count_if(facts.comparison.trials, [](const ComparedTrial& trial) {
    return trial.same_bits.has_value();
  });
  std::string text;
  if (all > 0) text += fmt::format("; {} of {} left other bits", others, all);
  if (by_another > 0) text += fmt::format(", {} of them by another implementation", by_another);
  return text;
}

std::string speed_summary(const ComparisonFacts& facts) {
  const Comparison& comparison = facts.comparison;
  const auto timed = std::ranges::count_if(comparison.trials, &ComparedTrial::has_ratio);
  if (timed == 0) return "no times to compare";
  if (facts.options.hardware) return fmt::format("{} timed in both", timed);
  std::string text =
      fmt::format("{} timed in both: {} slower, {} faster, {} within {:g}%, {} unclear", timed,
                  comparison.count(Speed::slower), comparison.count(Speed::faster),
                  comparison.count(Speed::within), facts.options.margin * 100,
                  comparison.count(Speed::unclear));
  const auto without_interval =
      std::ranges::count_if(comparison.trials, [](const ComparedTrial& trial) {
        return trial.speed == Speed::unclear && !trial.has_interval();
      });
  if (without_interval > 0) {
    text += fmt::format(" ({} of them for {})", without_interval, too_few_samples);
  }
  return text;
}

}  // namespace

std::string trial_place(const ComparedTrial& trial) {
  const TrialGroup& group = *trial.either().group;
  std::string place = group.device;
  if (trial.base != nullptr && trial.cand != nullptr && trial.cand->group->device != group.device) {
    place += " / " + trial.cand->group->device;
  }
  return group.timing.empty() ? place : place + " " + group.timing;
}

std::string disturbance(const ComparedTrial& trial) {
  std::vector<std::string> parts;
  const auto add = [&](const char* side, const StoredTrial& of) {
    if (of.time && of.time->contended) parts.push_back(fmt::format("{} contended", side));
    if (of.time && of.time->throttled) parts.push_back(fmt::format("{} throttled", side));
  };
  if (trial.base != nullptr) add("base", *trial.base);
  if (trial.cand != nullptr) add("cand", *trial.cand);
  return join(parts, ", ");
}

std::vector<Section> comparison_sections(const ComparisonFacts& facts) {
  std::vector<Section> sections{what_is_compared(facts), environment(facts)};
  const auto add = [&](Section section) {
    if (!section.rows.empty()) sections.push_back(std::move(section));
  };
  add(changes(facts, Change::lost, "No longer passing", "cand"));
  add(changes(facts, Change::missing, "Missing in cand", "base"));
  add(changes(facts, Change::added, "New in cand", "cand"));
  add(changes(facts, Change::mended, "Mended", "base"));
  add(changes(facts, Change::unmended, "Passing in neither", "cand"));
  add(other_bits(facts, false));
  add(other_bits(facts, true));
  if (facts.options.hardware) {
    for (Section& section : hardware_sections(facts)) add(std::move(section));
  } else {
    add(speeds(facts, Speed::slower));
    add(speeds(facts, Speed::faster));
  }
  return sections;
}

std::string comparison_summary(const ComparisonFacts& facts) {
  const Comparison& comparison = facts.comparison;
  const auto bad = std::ranges::count_if(comparison.trials, [](const ComparedTrial& trial) {
    return trial.change == Change::added && trial.is_worse();
  });
  std::string text =
      fmt::format("compare: {} no longer pass, {} missing, {} new", comparison.count(Change::lost),
                  comparison.count(Change::missing), comparison.count(Change::added));
  if (bad > 0) text += fmt::format(" ({} of them bad)", bad);
  text +=
      fmt::format(", {} mended, {} pass in neither, {} unchanged", comparison.count(Change::mended),
                  comparison.count(Change::unmended), comparison.count(Change::unchanged));
  return text + bits_summary(facts) + "; " + speed_summary(facts);
}

}  // namespace assay
