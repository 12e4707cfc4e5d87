#pragma once

#include <filesystem>
#include <string_view>

namespace assay {

/// A file that only grows. What `write` was given is with the kernel when it returns, so that a
/// process killed later leaves it whole. Errors throw std::system_error that names the file.
class AppendFile {
 public:
  enum class Mode {
    create,  // a file that stands there is an error
    append,  // goes on where the file ends
  };

  explicit AppendFile(std::filesystem::path path, Mode mode = Mode::create);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// All or nothing: what was written of a text that did not fit is taken back. A file that was
  /// removed meanwhile is an error too.
  void write(std::string_view text);

  /// Waits until the disk has it.
  void sync();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace assay
