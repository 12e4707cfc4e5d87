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

/// A file that a user named for output. "-" is standard output; a link is followed, and stays; a
/// pipe or a device is written to directly. A regular file appears whole, with `close`.
class OutputFile {
 public:
  /// Made before the work. Throws UsageError that names `option` if nothing can or may be written:
  /// a folder, another program's file, a file of a run directory. A file that begins with `begin`
  /// is Assay's and replaced. Empty: none is.
  OutputFile(std::string_view option, const std::filesystem::path& path, std::string begin = "");

  /// Throws std::system_error that names the file. Standard output is checked by the program's end.
  void write(std::string_view text);

  /// Throws as the constructor does if another file has appeared there.
  void close();

  /// Returns whether it is standard output, where nothing else may then be printed.
  bool is_standard_output() const { return target_ == standard_output(); }

  /// Returns "standard output", or the name as it was given.
  std::string name() const;

  /// Target of the name, through all links.
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
  std::unique_ptr<std::FILE, Close> stream_;  // for a pipe or a device
  std::unique_ptr<AtomicFile> file_;          // once something is written to a regular one
};

/// Returns the beginning of a CSV file with these columns, by any version: columns are only added
/// at the end, and no other program has the same five in front.
std::string first_columns(std::span<const std::string> columns);

/// Throws UsageError if two of them have the same target.
void check_distinct(std::initializer_list<const std::optional<OutputFile>*> files);

}  // namespace assay
