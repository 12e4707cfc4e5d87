#pragma once

#include <filesystem>
#include <string_view>

namespace assay {

/// A file that only grows. `write` returns after the kernel has the text, so that a process killed
/// later leaves it whole. Errors throw std::system_error that names the file.
class AppendFile {
 public:
  enum class Mode {
    create,  // an existing file is an error
    append,  // goes on where the file ends
  };

  explicit AppendFile(std::filesystem::path path, Mode mode = Mode::create);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Writes all or nothing: takes back the part of a text that did not fit. A file that was removed
  /// meanwhile is an error too.
  void write(std::string_view text);

  /// Waits until the disk has it.
  void sync();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace assay
