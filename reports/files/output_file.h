#pragma once

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reports/files/atomic_file.h"

namespace assay {

/// A file that a user named for output. "-" is standard output; a link is followed, and stays; what
/// is no regular file (a pipe, a device) is written to as it is. A regular file appears whole, with
/// `close`.
class OutputFile {
 public:
  /// To be made before the work. Throws UsageError that names `option` where nothing can or may be
  /// written: a folder, another program's file, a file of a run directory. `begin` is how a file
  /// begins that Assay wrote before: such a one is replaced. Empty: none is.
  OutputFile(std::string_view option, const std::filesystem::path& path, std::string begin = "");

  /// Throws std::system_error that names the file. Standard output is checked by the program's end.
  void write(std::string_view text);

  /// Throws as the constructor does where another file has come to stand there.
  void close();

  /// Then nothing else can be shown there.
  bool is_standard_output() const { return target_ == standard_output(); }

  /// "standard output", or the name as it was given.
  std::string name() const;

  /// Where it leads, through all links.
  const std::filesystem::path& target() const { return target_; }

 private:
  static std::filesystem::path standard_output();
  void check_regular() const;
  [[noreturn]] void refuse(const std::string& why) const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string option_;
  std::filesystem::path path_;
  std::string begin_;
  std::filesystem::path target_;
  std::unique_ptr<std::FILE, Close> stream_;  // of what is no regular file
  std::unique_ptr<AtomicFile> file_;          // once something is written to a regular one
};

/// How a CSV file with these columns begins, by this version or another: columns are only added at
/// the end, and nobody else has the same five in front.
std::string first_columns(std::span<const std::string> columns);

/// Throws UsageError where two of them lead to the same place.
void check_distinct(std::initializer_list<const std::optional<OutputFile>*> files);

}  // namespace assay
