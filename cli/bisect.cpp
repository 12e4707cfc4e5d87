#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "harness/records/csv.h"
#include "harness/records/paired.h"
#include "harness/records/replay.h"
#include "kernels/core/choice_file.h"
#include "kernels/core/status.h"
#include "reports/files/output_file.h"
#include "reports/files/results_reader.h"
#include "reports/files/table_file.h"
#include "reports/text/text_table.h"
#include "session/bisect/halving.h"
#include "session/console/stderr_message.h"
#include "session/console/terminal.h"
#include "session/process/exit_code.h"
#include "session/process/library_path.h"
#include "session/process/own_run.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct BisectOptions {
  std::vector<std::string> versions;
  std::string variable = "LD_LIBRARY_PATH";
  std::string what = "wrong";
  fs::path csv;
  std::vector<std::string> selection;
};

/// Answer of one version.
struct Asked {
  std::string version;
  std::string verdict;         // "good", "wrong", "slower", "other bits", "another algorithm", ...
  std::string case_id;         // the first that shows it
  std::string implementation;  // of that case, or of the first one
  int exit_code = 0;
};

const std::vector<std::string> bisect_columns{"version", "verdict", "case_id", "implementation",
                                              "exit_code"};

/// Bits that a trial left, and the algorithms of those that times chose.
struct Left {
  std::string hash;
  std::set<std::string> chosen;
};
using Bits = std::map<std::pair<std::string, std::string>, Left>;  // by case and device

/// Whether an implementation is of an algorithm: "algorithm 6, split-K 2" is not of "algorithm 6",
/// nor is what was left out.
bool is_of(std::string_view implementation, std::string_view algorithm) {
  for (std::size_t at = 0; (at = implementation.find(algorithm, at)) != std::string_view::npos;) {
    at += algorithm.size();
    const std::string_view rest = implementation.substr(at);
    if (rest.empty() || rest.front() == ';') return true;
  }
  return false;
}

class Bisection {
 public:
  explicit Bisection(const BisectOptions& options) : options_(options) {}

  Shown ask(std::size_t index) {
    const std::string& version = options_.versions[index];
    Asked asked{.version = version};
    const Shown shown = options_.what == "slower" ? compare(version, asked) : run(version, asked);
    say("{}: {}{}\n", version, asked.verdict, asked.case_id.empty() ? "" : ", " + asked.case_id);
    asked_.push_back(std::move(asked));
    return shown;
  }
  const std::vector<Asked>& asked() const { return asked_; }
  const Asked& of(std::size_t index) const {
    return *std::ranges::find(asked_, options_.versions[index], &Asked::version);
  }

 private:
  std::pair<std::string, std::string> variable(const std::string& version) const {
    const char* inherited = std::getenv(options_.variable.c_str());
    const bool is_path = options_.variable.ends_with("PATH");
    return {options_.variable, version + (is_path && inherited != nullptr && *inherited != 0
                                              ? ":" + std::string(inherited)
                                              : "")};
  }

  static Shown end(Asked& asked, Shown shown, std::string verdict) {
    asked.verdict = std::move(verdict);
    return shown;
  }

  Shown run(const std::string& version, Asked& asked) {
    const TemporaryFolder folder;
    // Choices are shared: of one version of a library, all take the same algorithms.
    std::vector<std::string> arguments{"run",
                                       "--quiet",
                                       "--check-only",
                                       "--choices",
                                       (kept_.path() / choices_name).string(),
                                       "--out",
                                       (folder.path() / "run").string()};
    arguments.insert(arguments.end(), options_.selection.begin(), options_.selection.end());
    asked.exit_code = run_self(std::move(arguments), with_library_path({variable(version)}));
    const fs::path results = folder.path() / "run/results.csv";
    if (asked.exit_code == usage) throw refused(version);
    if (!fs::exists(results)) return end(asked, Shown::nothing, "cannot be told");
    const std::vector<Record> rows = read_results_file(results);
    if (!rows.empty()) asked.implementation = rows.front().implementation;
    const auto bad = std::ranges::find_if(rows, [](const Record& row) {
      return class_of(row.status) == StatusClass::wrong && row.expected_failure.empty();
    });
    if (options_.what == "wrong") {
      if (bad != rows.end()) return show(asked, *bad, "wrong");
      return asked.exit_code == ok ? end(asked, Shown::good, "good")
                                   : end(asked, Shown::nothing, "cannot be told");
    }
    return compare_bits(rows, ChoiceFile(folder.path() / "run" / choices_name).read(), asked);
  }

  /// Compares with the first version. Another algorithm may add in another order: where times chose
  /// one, other bits show nothing of the version.
  Shown compare_bits(const std::vector<Record>& rows, const std::vector<StoredChoice>& choices,
                     Asked& asked) {
    const Bits bits = bits_of(rows, choices);
    if (bits.empty()) return end(asked, Shown::nothing, "cannot be told");
    if (!first_) first_ = bits;
    const Record* other_choice = nullptr;
    for (const Record& row : rows) {
      const auto before = first_->find({row.case_id, row.device});
      const auto now = bits.find({row.case_id, row.device});
      if (before == first_->end() || now == bits.end()) continue;
      if (before->second.hash == now->second.hash) continue;
      if (before->second.chosen == now->second.chosen) return show(asked, row, "other bits");
      if (other_choice == nullptr) other_choice = &row;
    }
    if (other_choice != nullptr) {
      show(asked, *other_choice, "another algorithm");
      return Shown::nothing;
    }
    return bits.size() < first_->size() ? end(asked, Shown::nothing, "cannot be told")
                                        : end(asked, Shown::good, "good");
  }

  /// By the rule of `assay ab`, against the first version.
  Shown compare(const std::string& version, Asked& asked) {
    const TemporaryFolder folder;
    const std::string& first = options_.versions.front();
    if (version == first) return end(asked, Shown::good, "good");  // by definition
    const auto setting = [&](const std::string& of) {
      const auto [name, value] = variable(of);
      return name + "=" + value;
    };
    std::vector<std::string> arguments{
        "ab",         "--quiet",        "--base-env", setting(first),
        "--cand-env", setting(version), "--out",      (folder.path() / "ab").string()};
    arguments.insert(arguments.end(), options_.selection.begin(), options_.selection.end());
    asked.exit_code = run_self(std::move(arguments), {});
    if (asked.exit_code == usage) throw refused(version);
    const std::vector<PairedCase> cases = read_table_file<PairedCase>(folder.path() / "ab/ab.csv");
    const auto slower = std::ranges::find(cases, PairedVerdict::regressed, &PairedCase::verdict);
    if (!cases.empty()) {
      const PairedCase& shown = slower != cases.end() ? *slower : cases.front();
      asked.implementation = shown.cand_implementation;
      asked_.front().implementation = shown.base_implementation;
    }
    if (asked.exit_code == regression && slower != cases.end()) {
      asked.case_id = slower->case_id;
      return end(asked, Shown::bad, "slower");
    }
    return asked.exit_code == ok ? end(asked, Shown::good, "good")
                                 : end(asked, Shown::nothing, "cannot be told");
  }

  UsageError refused(const std::string& version) const {
    std::string words;
    for (const std::string& word : options_.selection) words += " " + shell_word(word);
    return UsageError(
        fmt::format("assay bisect: the selection is refused with {}={}; see why: assay {}{}",
                    options_.variable, version, options_.what == "slower" ? "ab" : "run", words));
  }

  static Shown show(Asked& asked, const Record& row, std::string verdict) {
    asked.case_id = row.case_id;
    asked.implementation = row.implementation;
    return end(asked, Shown::bad, std::move(verdict));
  }

  /// Wrong results have a hash only where the last pass was judged right.
  static Bits bits_of(const std::vector<Record>& rows, const std::vector<StoredChoice>& choices) {
    Bits bits;
    for (const Record& row : rows) {
      if (row.output_hash.empty()) continue;
      Left& left = bits[{row.case_id, row.device}];
      left.hash = row.output_hash;
      for (const StoredChoice& choice : choices) {
        if (is_of(row.implementation, choice.library + " " + choice.name)) {
          left.chosen.insert(choice.name);
        }
      }
    }
    return bits;
  }

  const BisectOptions& options_;
  const TemporaryFolder kept_;  // with the choices of all versions
  std::optional<Bits> first_;   // of the first version
  std::vector<Asked> asked_;
};

std::vector<std::string> cells_of_asked(const Asked& asked) {
  return {asked.version, asked.verdict, asked.case_id, asked.implementation,
          std::to_string(asked.exit_code)};
}

/// In the order of the versions.
std::vector<std::vector<std::string>> table_of_asked(const BisectOptions& options,
                                                     const Bisection& bisection) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& version : options.versions) {
    const auto found = std::ranges::find(bisection.asked(), version, &Asked::version);
    if (found != bisection.asked().end()) lines.push_back(cells_of_asked(*found));
  }
  return lines;
}

int execute(const BisectOptions& options) {
  if (options.versions.size() < 2) throw UsageError("assay bisect: give at least two --versions");
  if (options.selection.empty()) {
    throw UsageError(
        "assay bisect: nothing follows `--`: select cases, such as '-- --suite linear'");
  }
  for (const std::string& version : options.versions) {
    if (std::ranges::count(options.versions, version) > 1) {
      throw UsageError("assay bisect: version '" + version + "' is given twice");
    }
  }
  std::optional<OutputFile> csv;
  if (!options.csv.empty()) csv.emplace("--csv", options.csv);
  Bisection bisection(options);
  const Turn turn =
      find_turn(options.versions.size(), [&](std::size_t i) { return bisection.ask(i); });
  std::vector<std::vector<std::string>> lines = table_of_asked(options, bisection);
  if (csv) {
    std::string text = csv_line(bisect_columns) + "\n";
    for (const auto& line : lines) text += csv_line(line) + "\n";
    csv->write(text);
    csv->close();
  }
  lines.insert(lines.begin(), {"version", "verdict", "case", "implementation", "exit"});
  std::string text = text_table(lines, "<<<<<");
  int code = ok;
  switch (turn.found) {
    case Turn::Found::first_is_bad:
      text += fmt::format("the first version, {}, is not good: {}\n", options.versions.front(),
                          bisection.of(0).verdict);
      code = absent;
      break;
    case Turn::Found::last_is_good:
      text += fmt::format("nothing to find: the last version, {}: {}\n", options.versions.back(),
                          bisection.of(options.versions.size() - 1).verdict);
      code = absent;
      break;
    case Turn::Found::turn: {
      const std::size_t between = turn.bad - turn.good - 1;
      text +=
          fmt::format("first {}: {}, after {}{}\n", bisection.of(turn.bad).verdict,
                      options.versions[turn.bad], options.versions[turn.good],
                      between == 0 ? "" : fmt::format("; {} between them cannot be told", between));
      break;
    }
  }
  show_text(text);
  return code;
}

}  // namespace

Command add_bisect(CLI::App& program) {
  auto options = std::make_shared<BisectOptions>();
  CLI::App* app = program.add_subcommand(
      "bisect",
      "find the version of a library from which on a case is wrong, slower or has other bits");
  app->add_option("--versions", options->versions,
                  "folders of a library, the oldest first: the first is good, the last is not")
      ->required()
      ->type_name("DIR ...");
  app->add_option(
         "--variable", options->variable,
         "environment variable that selects a version; one that ends in PATH keeps what it has")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option(
         "--what", options->what,
         "wrong: a wrong result; slower: by the rule of `assay ab`, than the first version; "
         "bits: other bits than the first version's")
      ->check(CLI::IsMember({"wrong", "slower", "bits"}))
      ->capture_default_str();
  app->add_option("--csv", options->csv, "write a row for each version that was asked")
      ->type_name("FILE");
  app->footer(R"(Examples:
  assay bisect --versions /opt/onednn/*/lib -- --suite linear --device cpu
  assay bisect --variable ASSAY_CUDA_LIBS --versions cublas-12.6 cublas-12.8 cublas-13.0 \\
      --what slower -- --suite linear --device cuda

What follows `--` selects the cases: options of `assay run`, for slower of `assay ab`.

Exit codes: 0 the turn was found, 3 the first version is not good or the last is not bad,
2 a usage error.)");
  return {.app = app, .run = [options] { return execute(*options); }, .rest = &options->selection};
}

}  // namespace assay::cli
