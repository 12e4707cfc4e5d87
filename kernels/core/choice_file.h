#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Choices that times decided, such as that of an algorithm: another process would choose otherwise,
// and leave other bits. A file hands those of the first process on.
namespace assay {

/// Name of the file in a run directory.
inline constexpr std::string_view choices_name = "choices.tsv";

/// Names the file that this process's backends use: modules find it in the environment. Empty: each
/// process chooses for itself.
void use_choices(const std::filesystem::path& file);

/// A choice. The first three fields are its key.
struct StoredChoice {
  std::string device;   // UUID
  std::string library;  // with its version
  std::string plan;     // what was chosen for
  std::string chosen;   // the library's own bytes, as hexadecimal digits
  std::string name;     // of what was chosen, for people
  std::string left_out;
  std::vector<std::string> wrong;

  bool has_key_of(const StoredChoice& other) const {
    return device == other.device && library == other.library && plan == other.plan;
  }
  bool operator==(const StoredChoice&) const = default;
};

/// File of choices, one a line, which several processes may use at once. The last line of a key
/// counts. A line that a killed process has not ended is none.
class ChoiceFile {
 public:
  explicit ChoiceFile(std::filesystem::path path) : path_(std::move(path)) {}
  /// The file that use_choices() named.
  static ChoiceFile of_process();

  /// Returns the choices in the order of the lines, superseded ones included; none without a file.
  /// Throws UsageError(`FILE:LINE: why`) for one that is no file of choices.
  std::vector<StoredChoice> read() const;
  std::optional<StoredChoice> find(const StoredChoice& key) const;
  /// Stores a choice unless another process was first, with another one than `refused`. Returns the
  /// choice that holds. Throws UsageError if the file cannot be written.
  StoredChoice keep(const StoredChoice& choice, const std::optional<StoredChoice>& refused) const;
  /// Makes the file if there is none. Throws as read() and keep() do.
  void make() const;

 private:
  std::filesystem::path path_;  // empty: nothing is stored
};

}  // namespace assay
