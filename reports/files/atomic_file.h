#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace assay {

class AppendFile;

/// New content of a file, under another name beside it until it is whole: a reader sees the old
/// content or the new, never a part. Throws std::system_error that names the file; then the old one
/// stays, with nothing beside it.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view text);

  /// Replaces the existing file, with its permissions.
  void commit();

 private:
  std::filesystem::path path_;
  std::unique_ptr<AppendFile> part_;  // null once it is committed
};

/// Writes the whole file at once.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace assay
