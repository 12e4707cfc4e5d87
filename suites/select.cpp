#include "suites/select.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "harness/records/input_file.h"
#include "kernels/core/fnv1a.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "suites/axes.h"
#include "suites/case_file.h"
#include "suites/filter.h"

namespace assay {
namespace {

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : all_suites()) names.emplace_back(suite.name);
  return names;
}

std::vector<const Suite*> chosen_suites(const Selection& selection) {
  std::vector<const Suite*> chosen;
  for (const std::string& name : selection.suites) {
    const Suite* suite = find_suite(name);
    if (suite == nullptr) throw UsageError(unknown_name("suite", name, suite_names()));
    chosen.push_back(suite);
  }
  if (selection.suites.empty()) {
    for (const Suite& suite : all_suites()) chosen.push_back(&suite);
  }
  return chosen;
}

Case literal_case(const std::string& id) {
  Case test = parse_case_id(id);
  const Suite* suite = find_suite(test.suite);
  if (suite == nullptr) {
    throw UsageError("case '" + id + "': " + unknown_name("suite", test.suite, suite_names()));
  }
  if (!suite->has_op(test.op.op->name)) {
    throw UsageError("case '" + id + "': suite " + test.suite + " has no op '" +
                     std::string(test.op.op->name) + "'");
  }
  return test;
}

std::vector<Case> cases_of_file(const std::filesystem::path& path) {
  InputFile file(path);
  return read_case_file(file, path.string());
}

struct Shard {
  std::uint64_t index = 1;
  std::uint64_t count = 1;

  /// Hashes the id, so that a case stays in its shard when cases are added.
  bool has(std::string_view id) const { return fnv1a(id) % count == index - 1; }
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  const bool has_slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  const auto second = has_slash ? std::from_chars(first.ptr + 1, end, shard.count) : first;
  if (!has_slash || second.ec != std::errc() || second.ptr != end || shard.index < 1 ||
      shard.index > shard.count) {
    throw UsageError("--shard '" + text + "': expected I/N with 1 <= I <= N");
  }
  return shard;
}

/// Says if the user names each case; such cases do not grow.
bool is_literal(const Selection& selection) {
  return !selection.cases.empty() || !selection.case_file.empty();
}

UsageError empty_selection() {
  return UsageError(
      "the selection is empty: no case is left by --suite, --filter, --axis and --shard; see "
      "'assay list'");
}

/// Returns the cases that suites, profile and filters choose, some perhaps twice.
std::vector<Case> candidates(const Selection& selection) {
  const Filter filter(selection.filter);
  const Shard shard = parse_shard(selection.shard);
  const auto wanted = [&](const std::string& id) { return filter.matches(id) && shard.has(id); };

  std::vector<AxisOverride> overrides;
  for (const std::string& text : selection.axes) overrides.push_back(parse_axis(text));
  if (!is_literal(selection)) {
    const std::vector<const Suite*> suites = chosen_suites(selection);
    return expand(suites, find_profile(selection.profile).level, overrides, selection.growth,
                  wanted);
  }
  if (!overrides.empty()) {
    throw UsageError(
        "--axis does not go with --case or --cases: it changes the cases of a profile");
  }
  std::vector<Case> cases;
  for (const std::string& id : selection.cases) cases.push_back(literal_case(id));
  if (!selection.case_file.empty()) {
    auto more = cases_of_file(selection.case_file);
    std::ranges::move(more, std::back_inserter(cases));
  }
  if (!selection.suites.empty()) {
    const std::vector<const Suite*> suites = chosen_suites(selection);
    std::erase_if(cases, [&](const Case& test) {
      return std::ranges::none_of(suites,
                                  [&](const Suite* suite) { return suite->name == test.suite; });
    });
  }
  std::erase_if(cases, [&](const Case& test) { return !wanted(test.id()); });
  return cases;
}

}  // namespace

void check_selection(const Selection& selection) {
  find_profile(selection.profile);
  if (candidates(selection).empty() && is_literal(selection)) throw empty_selection();
}

std::vector<Case> select_cases(const Selection& selection) {
  const Profile& profile = find_profile(selection.profile);  // refuses a typo in an unused one too
  std::vector<Case> cases = candidates(selection);
  // What one of several grids says of a case counts.
  std::set<std::string> timed;
  std::set<std::string> of_each_pair;
  for (const Case& test : cases) {
    if (test.timed) timed.insert(test.id());
    if (test.on_each_pair) of_each_pair.insert(test.id());
  }
  std::set<std::string> seen;
  std::erase_if(cases, [&](const Case& test) { return !seen.insert(test.id()).second; });
  // Values that the user names are wanted everywhere.
  const bool takes_each_pair = !profile.thins_pairs || !selection.axes.empty();
  for (Case& test : cases) {
    test.timed = timed.contains(test.id());
    test.on_each_pair = takes_each_pair || of_each_pair.contains(test.id());
  }
  if (cases.empty()) throw empty_selection();
  return cases;
}

}  // namespace assay
