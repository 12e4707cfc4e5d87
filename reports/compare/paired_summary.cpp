#include "reports/compare/paired_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <vector>

#include "reports/compare/visible_change.h"
#include "reports/text/markdown.h"
#include "reports/text/si.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

/// Limit above which equivalent cases are left out.
constexpr std::size_t few_cases = 40;

const std::vector<std::string> headings{"verdict", "case", "device", "cand/base", "95% interval",
                                        "base",    "cand", "rounds", "note"};

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

/// Order of the rows: the most urgent verdict first.
int urgency(PairedVerdict verdict) {
  constexpr std::array order{
      PairedVerdict::wrong,     PairedVerdict::missing,      PairedVerdict::broken,
      PairedVerdict::regressed, PairedVerdict::inconclusive, PairedVerdict::improved,
      PairedVerdict::added,     PairedVerdict::skipped,      PairedVerdict::equivalent};
  return static_cast<int>(std::ranges::find(order, verdict) - order.begin());
}

std::string note(const PairedCase& one) {
  std::string text = one.reason;
  const std::int64_t disturbed = one.disturbed_rounds.value_or(0);
  if (disturbed > 0) {
    text += fmt::format("{}{} rounds disturbed", text.empty() ? "" : "; ", disturbed);
  }
  return text;
}

std::vector<std::string> line_of(const PairedCase& one) {
  std::vector<std::string> line(headings.size());
  line[0] = upper(name(one.verdict));
  line[1] = one.case_id + (one.timing == batch_timing ? "" : " " + one.timing);
  line[2] = one.device;
  if (one.ratio && one.ratio_low && one.ratio_high) {
    line[3] = ratio_text(*one.ratio);
    line[4] = ratio_text(*one.ratio_low) + " to " + ratio_text(*one.ratio_high);
  }
  if (one.base_median_s) line[5] = si(*one.base_median_s, "s");
  if (one.cand_median_s) line[6] = si(*one.cand_median_s, "s");
  if (one.rounds) line[7] = std::to_string(*one.rounds);
  line[8] = note(one);
  return line;
}

/// Lines of the table, and the notes below it.
struct Lines {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> below;
};

Lines table_lines(std::span<const PairedCase> cases) {
  std::vector<const PairedCase*> order;
  for (const PairedCase& one : cases) order.push_back(&one);
  std::ranges::stable_sort(order, [](const PairedCase* a, const PairedCase* b) {
    return std::pair(urgency(a->verdict), -a->ratio.value_or(0)) <
           std::pair(urgency(b->verdict), -b->ratio.value_or(0));
  });
  Lines table;
  std::int64_t left_out = 0;
  double log_sum = 0;
  std::int64_t compared = 0;
  for (const PairedCase* one : order) {
    if (one->ratio) {
      log_sum += std::log(*one->ratio);
      ++compared;
    }
    if (one->verdict == PairedVerdict::equivalent && cases.size() > few_cases) {
      ++left_out;
    } else {
      table.lines.push_back(line_of(*one));
    }
  }
  if (left_out > 0) table.below.push_back(fmt::format("and {} equivalent, in ab.csv", left_out));
  if (compared > 1) {
    table.below.push_back(
        fmt::format("geometric mean of {} ratios: {}", compared,
                    ratio_text(std::exp(log_sum / static_cast<double>(compared)))));
  }
  return table;
}

std::string side_text(const PairedSide& side) {
  std::string text =
      markdown_code(side.program.string()) + ", build " + markdown_code(side.build_id);
  for (const auto& [name, value] : side.environment)
    text += ", " + markdown_code(name + "=" + value);
  if (!side.kernels.empty()) {
    text += ", kernels of " + markdown_code(side.kernels);
    text += ", " + markdown_code(side.kernels_name);
  }
  for (const std::string& fault : side.sim_faults)
    text += ", with the fault " + markdown_code(fault);
  return text;
}

}  // namespace

PairedTally tally(std::span<const PairedCase> cases) {
  PairedTally counts;
  for (const PairedCase& one : cases) ++counts[one.verdict];
  return counts;
}

std::string tally_text(const PairedTally& counts) {
  std::string text;
  for (const auto& [verdict, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(verdict));
  }
  return text.empty() ? "no case was judged" : text;
}

std::string_view paired_word(const PairedTally& counts) {
  for (const PairedVerdict against : {PairedVerdict::wrong, PairedVerdict::missing,
                                      PairedVerdict::broken, PairedVerdict::regressed}) {
    if (counts.contains(against)) return "FAILED";
  }
  const bool is_decided =
      counts.contains(PairedVerdict::improved) || counts.contains(PairedVerdict::equivalent);
  return is_decided ? "PASSED" : "INCOMPLETE";
}

bool is_undecided(const PairedTally& counts) {
  return counts.contains(PairedVerdict::inconclusive) && paired_word(counts) == "INCOMPLETE";
}

std::pair<std::string, std::string> paired_verdict_parts(const PairedInfo& info,
                                                         std::span<const PairedCase> cases) {
  const PairedTally counts = tally(cases);
  std::string_view word = paired_word(counts);
  if (word != "FAILED" && info.interrupted) word = "INCOMPLETE";
  if (word == "PASSED" && info.exit_code != 0) word = "FAILED";
  std::string why = tally_text(counts);
  if (info.interrupted) why += "; interrupted";
  why += fmt::format(" (margin {:.3g}%)", info.margin * 100);
  if (is_undecided(counts) && !info.interrupted) {
    why = "no case decided; " + why + ": " + visible_changes_text(cases);
  } else if (info.exit_code == 0) {
    why = "no confirmed regression; " + why;
  }
  return {std::string(word), why};
}

std::string paired_verdict(const PairedInfo& info, std::span<const PairedCase> cases) {
  const auto [word, why] = paired_verdict_parts(info, cases);
  return word + ": " + why;
}

std::string paired_table(std::span<const PairedCase> cases) {
  Lines table = table_lines(cases);
  table.lines.insert(table.lines.begin(), headings);
  std::string text = text_table(table.lines, "<<<><>>><");
  for (const std::string& line : table.below) text += line + "\n";
  return text;
}

std::string paired_markdown(const PairedInfo& info, std::span<const PairedCase> cases) {
  std::string text = fmt::format("# {}\n\n", markdown_text(paired_verdict(info, cases)));
  text += fmt::format("- base: {}\n- candidate: {}\n", side_text(info.base), side_text(info.cand));
  for (const DeviceInfo& device : info.cand.devices) {
    text += fmt::format("- {}: {}\n", device.device, markdown_text(device.name));
  }
  text += fmt::format(
      "- margin {:.3g}%: {}\n"
      "- {} rounds of all cases pick suspects (p < {}), {} fresh rounds of those decide (p < {}, "
      "Holm); {} samples of each side a round, each round in fresh processes\n"
      "- {} to {} on {}, {}\n",
      info.margin * 100, markdown_text(info.margin_reason), info.screen_rounds, info.screen_p,
      info.confirm_rounds, info.confirm_p, info.samples, info.started_at, info.ended_at,
      markdown_text(info.host), duration_text(info.wall_s));
  for (const std::string& note : info.notes) text += "- " + markdown_text(note) + "\n";
  const Lines table = table_lines(cases);
  text += "\n" + markdown_row(headings) +
          "\n| --- | --- | --- | ---: | --- | ---: | ---: | ---: | --- |\n";
  for (std::vector<std::string> line : table.lines) {
    line[1] = markdown_code(line[1]);
    line[8] = markdown_text(line[8]);
    text += markdown_row(line) + "\n";
  }
  for (const std::string& line : table.below) text += "\n" + line + "\n";
  return text;
}

}  // namespace assay
