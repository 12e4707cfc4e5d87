#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// A flag of the library whose runner Assay's trials appear in. Kept in a table of ours, since the
/// libraries end with exit code 0 on some flags that they do not understand.
struct LibraryFlag {
  std::string_view name;  // "--gtest_filter"
  /// What is wrong with a value: "must be a whole number". Empty when nothing is.
  std::string (*refuse)(std::string_view value);
  bool may_stand_alone = false;  // without "=VALUE"
};

std::span<const LibraryFlag> gtest_flags();
std::span<const LibraryFlag> gbench_flags();

/// A command line in two: what the library takes, and what is Assay's.
struct SplitCommandLine {
  std::vector<std::string> library;
  std::vector<std::string> assay;
  std::vector<std::string> known;  // the names of all of the library's flags
};

/// `words` are without the program's name. Throws UsageError for a flag that begins with `prefix`
/// ("--gtest_") and is none, and for one whose value is malformed or missing.
SplitCommandLine split_command_line(const std::vector<std::string>& words, std::string_view prefix,
                                    std::span<const LibraryFlag> flags);

/// The value of a flag that was given, that of the last if repeatedly; "" when it stood alone or
/// was not given.
std::string value_of(const SplitCommandLine& words, std::string_view flag);

/// Whether a flag that may stand alone is on, by its last mention.
bool is_on(const SplitCommandLine& words, std::string_view flag);

/// Throws where the file that a flag names cannot be written: the libraries find that out by ending
/// the program, one with the exit code of a wrong result and one when everything has run.
void check_writable(std::string_view flag, const std::filesystem::path& file);

/// Whether a report in "xml" or "json" ends as one does. On a full disk the libraries leave a torn
/// one, and say nothing. True where that cannot be told: for other formats, and for pipes.
bool is_whole(std::string_view format, const std::filesystem::path& file);

}  // namespace assay::cli
