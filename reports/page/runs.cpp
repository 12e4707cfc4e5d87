#include "reports/page/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "harness/records/replay.h"
#include "kernels/core/names.h"
#include "reports/page/cells.h"
#include "reports/page/differences.h"
#include "reports/page/findings.h"
#include "reports/page/run_names.h"
#include "reports/page/stand_ins.h"
#include "reports/page/tiles.h"
#include "reports/text/time_spent.h"

namespace assay::page {
namespace {

/// Shows the command as one would type it, without the path of the program.
std::string words(std::vector<std::string> command_line) {
  if (command_line.empty()) return {};
  command_line.front() = std::filesystem::path(command_line.front()).filename().string();
  for (std::string& word : command_line) word = shell_word(word);
  return join(command_line, " ");
}

std::string stand_ins_text(const RunSource& source) {
  std::map<std::string, int> stand_ins;
  for (const DeviceCells& cells : source.devices) {
    if (const std::string kind = stand_in_of(cells); !kind.empty()) ++stand_ins[kind];
  }
  std::vector<std::string> found;
  for (const auto& [kind, count] : stand_ins) {
    found.push_back(fmt::format("{} of {} devices {} {}: their figures are no hardware's", count,
                                source.devices.size(), count == 1 ? "is" : "are", kind));
  }
  return join(found, "; ");
}

}  // namespace

void leave_out_common_words(std::vector<std::string>& values) {
  std::map<std::string, std::set<std::size_t>> runs_of;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const std::string& word : split(values[i], ' ')) runs_of[word].insert(i);
  }
  for (std::string& value : values) {
    std::vector<std::string> kept = split(value, ' ');
    std::erase_if(kept, [&](const auto& word) { return runs_of[word].size() == values.size(); });
    value = kept.empty() ? "–" : join(kept, " ");
  }
}

Json facts_of_run(const Content& content, std::size_t number) {
  const RunSource& source = content.input.runs[number];
  const StoredRun& run = source.run;
  const std::size_t of = content.input.runs.size();
  Json facts = Json::array();
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) facts.push_back({{"name", name}, {"value", value}});
  };
  add("No hardware", stand_ins_text(source));
  add("Trials", fmt::format("{}; {} planned", source.tally.text(), run.planned));
  add("Host", run.host);
  add("Started", run.started_at);
  add("Program", fmt::format("assay {} {} {}", run.version, run.git_revision, run.build_type));
  add("Selection",
      fmt::format("profile {}, seed {}{}", run.profile.empty() ? "default" : run.profile, run.seed,
                  run.check_only ? ", checked only, not timed" : ""));
  add("Command", words(run.command_line));
  add("Exit code", run.ended() ? fmt::format("{}", run.exit_code) : "none: not ended");
  add("Took", took(run));
  add("Sessions", join(sessions(run), "; "));
  const Word word = word_of(source);
  return {{"name", of == 1 ? run.run_id : fmt::format("Run {}: {}", number + 1, run.run_id)},
          {"word", word.sign + " " + word.word},
          {"kind", word.kind},
          {"why", run_sentence(source)},
          {"facts", std::move(facts)}};
}

Json table_of_runs(const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  if (runs.size() < 2) return nullptr;
  Json rows = Json::array();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Word word = word_of(runs[r]);
    Json verdict = text_cell("");
    verdict["status"] = {{"sign", word.sign},
                         {"word", word.word},
                         {"kind", word.kind == "passed"   ? "right"
                                  : word.kind == "failed" ? "wrong"
                                                          : "skip"}};
    Json name = head_cell(fmt::format("{} · {}", r + 1, folder_of(runs[r])));
    name["below"] = runs[r].run.host;
    name["class"] = "short";
    Json cells = Json::array({std::move(name), std::move(verdict)});
    for (const Json& tile : tiles_of(content, r)) {
      const std::string unit = tile["unit"].get<std::string>();
      Json cell = text_cell(tile["figure"].get<std::string>() + (unit.empty() ? "" : " " + unit));
      if (const std::string figure_of = tile["of"].get<std::string>(); !figure_of.empty()) {
        cell["text"] = cell["text"].get<std::string>() + " " + figure_of;
      }
      // Right results need no remark in so narrow a place.
      cell["below"] = tile["kind"] == "good" ? Json("") : tile["note"];
      cell["link"] = tile["at"];
      cell["class"] = tile["kind"] == "good" ? "good short" : tile["kind"];
      cells.push_back(std::move(cell));
    }
    rows.push_back(std::move(cells));
  }
  return table("The runs side by side",
               {"Run", "Verdict", "Device", "Right", "Best bandwidth", "Best matrix rate",
                "Quality of times"},
               std::move(rows));
}

Json table_of_differences(const Content& content) {
  const std::vector<RunSource>& runs = content.input.runs;
  if (runs.size() < 2) return nullptr;
  const Properties settings = settings_of_runs(content);
  Json rows = Json::array();
  const auto add = [&](const Property& property, const std::string& prefix) {
    if (!property.differs) return;
    Json cells = Json::array({head_cell(prefix + property.name)});
    for (const std::string& value : property.values) cells.push_back(text_cell(value));
    rows.push_back(std::move(cells));
  };
  for (Property property : settings.rows) {
    if (property.name == "options") leave_out_common_words(property.values);
    add(property, "");
  }
  // Devices stand beside each other only if each run has as many.
  const Properties devices = devices_of(content);
  if (devices.columns.size() == runs.size()) {
    for (const Property& property : devices.rows) add(property, "device: ");
  }
  if (rows.empty()) return nullptr;
  std::vector<Heading> headings{"Differs"};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    headings.emplace_back(fmt::format("{} · {}", r + 1, folder_of(runs[r])));
  }
  return table("What differs between the runs", headings, std::move(rows));
}

}  // namespace assay::page
