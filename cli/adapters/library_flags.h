#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// A command line in two parts: the library's words, which begin as its flags do, and Assay's.
struct SplitCommandLine {
  std::vector<std::string> library;
  std::vector<std::string> assay;
};

/// `words` lack the program's name. `prefix` begins the library's flags: "--gtest_".
SplitCommandLine split_command_line(const std::vector<std::string>& words, std::string_view prefix);

/// Passes the library its words through its `initialize`, which leaves those that it does not
/// understand. Throws UsageError for these: the libraries would end with exit code 0 on some.
/// `program` is argv[0], which they keep.
void initialize_library(std::string_view library, char* program, std::vector<std::string> words,
                        const std::function<void(int* argc, char** argv)>& initialize);

/// Returns the value of a flag, the last one if it was given repeatedly; "" if it stood alone or
/// was not given.
std::string value_of(const SplitCommandLine& words, std::string_view flag);

/// Returns whether a flag that may stand alone is on, by its last mention.
bool is_on(const SplitCommandLine& words, std::string_view flag);

/// Throws if the file that a flag names cannot be written. The libraries would end the program: one
/// with the exit code of a wrong result, and one only after everything has run.
void check_writable(std::string_view flag, const std::filesystem::path& file);

/// Returns whether a report in "xml" or "json" has its end. On a full disk the libraries leave a
/// torn one, and say nothing. True if that is unknown: for other formats, and for pipes.
bool is_whole(std::string_view format, const std::filesystem::path& file);

}  // namespace assay::cli
