#include "reports/files/github.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "harness/records/printable.h"
#include "kernels/core/utf8.h"
#include "reports/files/append_file.h"
#include "reports/files/summary.h"
#include "reports/text/outcomes.h"
#include "reports/text/si.h"

namespace assay {
namespace {

/// GitHub shows ten annotations of a kind for each step, and drops the others without a word.
constexpr std::size_t shown_of_each_kind = 10;
/// The runner cuts a message at 4096 characters; what is escaped, and the replay, must fit too.
constexpr std::size_t reason_limit_bytes = 1000;
/// GitHub drops the whole summary of a step beyond 1 MiB, and the runner counts some bytes of its
/// own: https://github.com/actions/runner/issues/4337
constexpr std::uintmax_t summary_limit_bytes = (1U << 20U) - 1024;

/// Escapes a command's message, or with `property` a value before it, as @actions/core does; the
/// runner reverses it. The runner shows lines unchanged, so control characters are escaped first.
std::string escaped(std::string_view text, bool property) {
  std::string result;
  for (const char c : printable_lines(text)) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special) {
      result += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result;
}

std::string command(std::string_view kind, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}\n", kind, escaped(title, true), escaped(message, false));
}

std::string annotation(std::string_view kind, const Record& trial) {
  const std::string title =
      fmt::format("{}: {} on {}", name(trial.status), trial.case_id, trial.device);
  const std::string reason = printable_lines(trial.reason);
  std::string message(cut_utf8(reason, reason_limit_bytes));
  if (message.size() < reason.size()) message += "…";
  if (message.empty()) message = "no reason given";
  if (!trial.replay.empty()) message += "\nreplay: " + trial.replay;
  return command(kind, title, message);
}

/// Returns "3 more errors", or nothing if all are shown.
std::string more(std::size_t count, std::string_view what) {
  if (count <= shown_of_each_kind) return {};
  const std::size_t hidden = count - shown_of_each_kind;
  return counted(static_cast<std::int64_t>(hidden), fmt::format("more {}", what));
}

std::string annotations(std::string_view kind, std::span<const Record* const> trials) {
  std::string text;
  for (const Record* trial : trials.first(std::min(trials.size(), shown_of_each_kind))) {
    text += annotation(kind, *trial);
  }
  return text;
}

/// Returns the text, or as many of its lines as fit with a note that says so; nothing if there is
/// no room for either.
std::string fit(std::string text, std::uintmax_t room, const std::filesystem::path& directory) {
  if (text.size() <= room) return text;
  const std::string note =
      fmt::format("\nThe rest is too long for GitHub; the whole summary is in `{}`.\n",
                  (directory / "summary.md").string());
  if (room < note.size()) return {};
  text.resize(room - note.size());
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0: not one line fits
  return text + note;
}

void append_summary(const std::filesystem::path& file, const RunInfo& run,
                    const Outcomes& outcomes) {
  AppendFile summary(file, AppendFile::Mode::append);
  std::error_code no_size;  // a device has none
  const std::uintmax_t size = std::filesystem::file_size(file, no_size);
  const std::uintmax_t there = no_size ? 0 : size;
  // An earlier command of the step may have left a line without its end.
  const std::string text = (there > 0 ? "\n\n" : "") + summary_markdown(run, outcomes);
  const std::uintmax_t room = there < summary_limit_bytes ? summary_limit_bytes - there : 0;
  const std::string fitting = fit(text, room, run.directory);
  if (fitting.empty()) {
    throw std::runtime_error(
        fmt::format("'{}' holds {} bytes, and GitHub takes 1 MiB in all", file.string(), there));
  }
  summary.write(fitting);
}

}  // namespace

std::string github_annotations(const RunInfo& run, const Outcomes& outcomes) {
  const std::vector<Record> trials = outcomes.trials();
  std::vector<const Record*> errors;
  std::vector<const Record*> warnings;
  for (const Record& trial : trials) {
    if (!trial.is_bad()) continue;
    (trial.status == Status::flaky ? warnings : errors).push_back(&trial);
  }
  // Wrong results come before missing ones: they tell more.
  std::stable_partition(errors.begin(), errors.end(), [](const Record* trial) {
    return class_of(trial->status) == StatusClass::wrong;
  });

  std::string text = annotations("error", errors) + annotations("warning", warnings);
  const RunVerdict verdict = run_verdict(run, outcomes.tally());
  // Flaky results are warnings, but may be the reason why the run failed.
  if (!verdict.passed && (errors.empty() || !verdict.shown_by_a_result)) {
    text = command("error", "assay: " + verdict.word, verdict.why) + text;
  }
  for (const std::string& note : run.notes) text += command("notice", "assay", note);
  const std::string hidden_errors = more(errors.size(), "error");
  const std::string hidden_warnings = more(warnings.size(), "warning");
  if (!hidden_errors.empty() || !hidden_warnings.empty()) {
    const bool both = !hidden_errors.empty() && !hidden_warnings.empty();
    text += command("notice", "assay",
                    fmt::format("{}{}{} in {}", hidden_errors, both ? " and " : "", hidden_warnings,
                                (run.directory / "results.csv").string()));
  }
  return text;
}

void GithubReport::end(const RunInfo& run) {
  std::string text = github_annotations(run, outcomes_);
  try {
    if (!summary_file_.empty()) append_summary(summary_file_, run, outcomes_);
  } catch (const std::exception& error) {
    text += command("warning", "assay", std::string("no job summary: ") + error.what());
  }
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

std::unique_ptr<Sink> github_report_if_there(const Outcomes& outcomes) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (variable("GITHUB_ACTIONS") != "true") return nullptr;
  return std::make_unique<GithubReport>(variable("GITHUB_STEP_SUMMARY"), outcomes);
}

}  // namespace assay
