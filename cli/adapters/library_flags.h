#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// A command line in two: the library's words, which begin as its flags do, and Assay's.
struct SplitCommandLine {
  std::vector<std::string> library;
  std::vector<std::string> assay;
};

/// `words` are without the program's name; `prefix` is that of the library's flags: "--gtest_".
SplitCommandLine split_command_line(const std::vector<std::string>& words, std::string_view prefix);

/// Hands the library its words, as its `initialize` takes them, which leaves those that it does not
/// understand. Throws UsageError for these: the libraries would end with exit code 0 on some.
/// `program` is argv[0], which they keep.
void initialize_library(std::string_view library, char* program, std::vector<std::string> words,
                        const std::function<void(int* argc, char** argv)>& initialize);

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
