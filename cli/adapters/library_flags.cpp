#include "cli/adapters/library_flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay::cli {
namespace {

std::string any(std::string_view /*value*/) { return {}; }

template <class Number>
bool reads_as(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

std::string integer(std::string_view value) {
  return reads_as<std::int32_t>(value) ? "" : "must be a whole number";
}

std::string at_least_one(std::string_view value) {
  const bool right = reads_as<std::int32_t>(value) && value.front() != '-' && value != "0";
  return right ? "" : "must be a whole number from 1";
}

std::string number(std::string_view value) {
  return reads_as<double>(value) ? "" : "must be a number";
}

std::string one_of(std::string_view value, std::span<const std::string> valid) {
  return std::ranges::find(valid, value) != valid.end() ? ""
                                                        : "must be one of " + join(valid, ", ");
}

const std::vector<std::string> off_words{"0", "f", "false", "n", "no", "off"};

std::string boolean(std::string_view value) {
  std::vector<std::string> valid{"1", "t", "true", "y", "yes", "on"};
  valid.insert(valid.end(), off_words.begin(), off_words.end());
  return one_of(value, valid);
}

/// GoogleTest takes all but 0, f and F for true: not "off", nor "no".
std::string gtest_boolean(std::string_view value) {
  return one_of(value, std::array<std::string, 4>{"0", "1", "false", "true"});
}

std::string gtest_output(std::string_view value) {
  const std::string_view format = value.substr(0, value.find(':'));
  return format == "xml" || format == "json" ? "" : "must be xml[:PATH] or json[:PATH]";
}

std::string gtest_color(std::string_view value) {
  return one_of(value, std::array<std::string, 3>{"yes", "no", "auto"});
}

std::string gbench_color(std::string_view value) { return value == "auto" ? "" : boolean(value); }

std::string gbench_format(std::string_view value) {
  return one_of(value, std::array<std::string, 3>{"console", "json", "csv"});
}

std::string time_unit(std::string_view value) {
  return one_of(value, std::array<std::string, 4>{"ns", "us", "ms", "s"});
}

/// As the library reads it, which takes what it cannot compile for a filter that matches nothing.
std::string gbench_filter(std::string_view value) {
  if (value.starts_with('-')) value.remove_prefix(1);
  try {
    const std::regex compiled(value.begin(), value.end(), std::regex_constants::extended);
    return {};
  } catch (const std::regex_error&) {
    return "must be a POSIX extended regular expression";
  }
}

std::string_view name_of(std::string_view word) { return word.substr(0, word.find('=')); }

}  // namespace

// Not --gtest_flagfile: flags in a file would come past this table.
std::span<const LibraryFlag> gtest_flags() {
  static constexpr std::array flags{
      LibraryFlag{"--gtest_filter", any},
      LibraryFlag{"--gtest_list_tests", gtest_boolean, true},
      LibraryFlag{"--gtest_output", gtest_output},
      LibraryFlag{"--gtest_repeat", integer},
      LibraryFlag{"--gtest_shuffle", gtest_boolean, true},
      LibraryFlag{"--gtest_random_seed", integer},
      LibraryFlag{"--gtest_fail_fast", gtest_boolean, true},
      LibraryFlag{"--gtest_brief", gtest_boolean, true},
      LibraryFlag{"--gtest_print_time", gtest_boolean, true},
      LibraryFlag{"--gtest_color", gtest_color},
      LibraryFlag{"--gtest_also_run_disabled_tests", gtest_boolean, true},
      LibraryFlag{"--gtest_recreate_environments_when_repeating", gtest_boolean, true},
      LibraryFlag{"--gtest_stream_result_to", any},
      LibraryFlag{"--gtest_break_on_failure", gtest_boolean, true},
      LibraryFlag{"--gtest_throw_on_failure", gtest_boolean, true},
      LibraryFlag{"--gtest_catch_exceptions", gtest_boolean, true},
  };
  return flags;
}

std::span<const LibraryFlag> gbench_flags() {
  static constexpr std::array flags{
      LibraryFlag{"--benchmark_filter", gbench_filter},
      LibraryFlag{"--benchmark_list_tests", boolean, true},
      LibraryFlag{"--benchmark_format", gbench_format},
      LibraryFlag{"--benchmark_out", any},
      LibraryFlag{"--benchmark_out_format", gbench_format},
      LibraryFlag{"--benchmark_repetitions", at_least_one},
      LibraryFlag{"--benchmark_enable_random_interleaving", boolean, true},
      LibraryFlag{"--benchmark_report_aggregates_only", boolean, true},
      LibraryFlag{"--benchmark_display_aggregates_only", boolean, true},
      LibraryFlag{"--benchmark_color", gbench_color},
      LibraryFlag{"--benchmark_counters_tabular", boolean, true},
      LibraryFlag{"--benchmark_context", any},
      LibraryFlag{"--benchmark_time_unit", time_unit},
      LibraryFlag{"--benchmark_min_time", number},
      LibraryFlag{"--benchmark_min_warmup_time", number},
  };
  return flags;
}

SplitCommandLine split_command_line(const std::vector<std::string>& words, std::string_view prefix,
                                    std::span<const LibraryFlag> flags) {
  SplitCommandLine split;
  for (const LibraryFlag& flag : flags) split.known.emplace_back(flag.name);
  for (const std::string& word : words) {
    if (!word.starts_with(prefix)) {
      split.assay.push_back(word);
      continue;
    }
    const auto flag = std::ranges::find(flags, name_of(word), &LibraryFlag::name);
    if (flag == flags.end()) throw UsageError(unknown_name("option", name_of(word), split.known));
    const bool has_value = flag->name.size() < word.size();
    if (!has_value && !flag->may_stand_alone) {
      throw UsageError(word + ": expected " + word + "=VALUE");
    }
    if (has_value) {
      const std::string_view value = std::string_view(word).substr(flag->name.size() + 1);
      const std::string why = flag->refuse(value);
      if (!why.empty()) {
        throw UsageError(std::string(flag->name) + " " + why + ", not '" + std::string(value) +
                         "'");
      }
    }
    split.library.push_back(word);
  }
  return split;
}

std::string value_of(const SplitCommandLine& words, std::string_view flag) {
  std::string value;
  for (const std::string& word : words.library) {
    if (name_of(word) != flag) continue;
    value = word.size() > flag.size() ? word.substr(flag.size() + 1) : "";
  }
  return value;
}

bool is_on(const SplitCommandLine& words, std::string_view flag) {
  const bool is_given = std::ranges::any_of(
      words.library, [&](const std::string& word) { return name_of(word) == flag; });
  return is_given && std::ranges::find(off_words, value_of(words, flag)) == off_words.end();
}

void check_writable(std::string_view flag, const std::filesystem::path& file) {
  if (std::ofstream(file, std::ios::app)) return;
  throw std::runtime_error(std::string(flag) + ": cannot write " + file.string());
}

bool is_whole(std::string_view format, const std::filesystem::path& file) {
  const std::string_view end = format == "xml" ? "</testsuites>" : format == "json" ? "\n}" : "";
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  const bool is_other = std::filesystem::exists(std::filesystem::file_status(kind)) &&
                        kind != std::filesystem::file_type::regular;
  if (end.empty() || is_other) return true;
  constexpr std::streamoff tail = 32;  // the end, and a line end that may follow
  std::ifstream report(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = report.tellg();
  if (size <= 0) return false;
  report.seekg(std::max<std::streamoff>(0, size - tail));
  std::string text{std::istreambuf_iterator<char>(report), {}};
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.ends_with(end);
}

}  // namespace assay::cli
