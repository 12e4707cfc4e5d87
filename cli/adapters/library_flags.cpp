#include "cli/adapters/library_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "kernels/core/status.h"

namespace assay::cli {
namespace {

std::string_view name_of(std::string_view word) { return word.substr(0, word.find('=')); }

}  // namespace

SplitCommandLine split_command_line(const std::vector<std::string>& words,
                                    std::string_view prefix) {
  SplitCommandLine split;
  for (const std::string& word : words) {
    (word.starts_with(prefix) ? split.library : split.assay).push_back(word);
  }
  return split;
}

void initialize_library(std::string_view library, char* program, std::vector<std::string> words,
                        const std::function<void(int* argc, char** argv)>& initialize) {
  std::vector<char*> argv{program};
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  initialize(&argc, argv.data());
  if (argc > 1) throw UsageError(fmt::format("{} does not understand '{}'", library, argv[1]));
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
  static constexpr std::array off{"0", "f", "false", "n", "no", "off"};
  return is_given && std::ranges::find(off, value_of(words, flag)) == off.end();
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
