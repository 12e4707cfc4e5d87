#include "kernels/core/choice_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "kernels/core/file_descriptor.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

/// Variable that names the file to modules, which have no variable of the program.
constexpr const char* variable = "ASSAY_CHOICES";
constexpr std::string_view header = "device\tlibrary\tplan\tchosen\tname\tleft_out\twrong";
constexpr std::size_t columns = 7;
constexpr std::string_view between_wrong = "; ";

/// Keeps a cell within its cell: texts of libraries may hold anything.
std::string cell(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string line_of(const StoredChoice& c) {
  const std::array<std::string, columns> cells{cell(c.device),
                                               cell(c.library),
                                               cell(c.plan),
                                               cell(c.chosen),
                                               cell(c.name),
                                               cell(c.left_out),
                                               cell(join(c.wrong, between_wrong))};
  return join(cells, "\t") + "\n";
}

std::vector<std::string> wrong_of(std::string_view text) {
  std::vector<std::string> wrong;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between_wrong), text.size());
    wrong.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + between_wrong.size(), text.size()));
  }
  return wrong;
}

UsageError failed(const std::filesystem::path& path, const char* what) {
  const std::error_code error(errno, std::generic_category());
  return UsageError("choices '" + path.string() + "': cannot " + what + ": " + error.message());
}

FileDescriptor opened(const std::filesystem::path& path, int flags) {
  return FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC, 0666));
}

/// Some network file systems have no locks: two processes may then store a choice each, of which
/// the last counts.
void lock(const FileDescriptor& file, int how) {
  while (::flock(file.get(), how) != 0 && errno == EINTR) {
  }
}

std::string text_of(const FileDescriptor& file, const std::filesystem::path& path) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t count =
        ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw failed(path, "be read");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// Length of the whole lines.
std::size_t whole_bytes(std::string_view text) { return text.rfind('\n') + 1; }

std::vector<StoredChoice> parsed(std::string_view text, const std::filesystem::path& path) {
  text = text.substr(0, whole_bytes(text));
  std::vector<StoredChoice> choices;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    const std::string_view own = text.substr(0, end);
    text.remove_prefix(end + 1);
    const auto refuse = [&](const std::string& why) {
      return UsageError(path.string() + ":" + std::to_string(line) + ": " + why);
    };
    if (line == 1) {
      if (own != header) throw refuse("no file of choices: its first line is another");
      continue;
    }
    std::vector<std::string> cells = split(own, '\t');
    if (cells.size() != columns) {
      throw refuse("a choice has " + std::to_string(columns) + " cells, not " +
                   std::to_string(cells.size()));
    }
    choices.push_back(
        {cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], wrong_of(cells[6])});
  }
  return choices;
}

std::optional<StoredChoice> last_of(const std::vector<StoredChoice>& choices,
                                    const StoredChoice& key) {
  const auto found = std::find_if(choices.rbegin(), choices.rend(),
                                  [&](const StoredChoice& one) { return one.has_key_of(key); });
  return found == choices.rend() ? std::nullopt : std::optional(*found);
}

void append(const FileDescriptor& file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw failed(path, "be written");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void use_choices(const std::filesystem::path& file) { ::setenv(variable, file.c_str(), 1); }

ChoiceFile ChoiceFile::of_process() {
  const char* path = std::getenv(variable);
  return ChoiceFile(path == nullptr ? "" : path);
}

std::vector<StoredChoice> ChoiceFile::read() const {
  if (path_.empty()) return {};
  const FileDescriptor file = opened(path_, O_RDONLY);
  if (file.get() < 0 && errno == ENOENT) return {};
  if (file.get() < 0) throw failed(path_, "be read");
  lock(file, LOCK_SH);
  return parsed(text_of(file, path_), path_);
}

std::optional<StoredChoice> ChoiceFile::find(const StoredChoice& key) const {
  return last_of(read(), key);
}

StoredChoice ChoiceFile::keep(const StoredChoice& choice,
                              const std::optional<StoredChoice>& refused) const {
  if (path_.empty()) return choice;
  const FileDescriptor file = opened(path_, O_RDWR | O_CREAT | O_APPEND);
  if (file.get() < 0) throw failed(path_, "be written");
  lock(file, LOCK_EX);
  const std::string text = text_of(file, path_);
  const auto held = last_of(parsed(text, path_), choice);
  if (held && (!refused || held->chosen != refused->chosen)) return *held;
  // Cuts off the line that a killed process has not ended.
  const std::size_t whole = whole_bytes(text);
  if (whole < text.size() && ::ftruncate(file.get(), static_cast<off_t>(whole)) != 0) {
    throw failed(path_, "be written");
  }
  append(file, (whole == 0 ? std::string(header) + "\n" : "") + line_of(choice), path_);
  return choice;
}

void ChoiceFile::make() const {
  const FileDescriptor file = opened(path_, O_RDWR | O_CREAT | O_APPEND);
  if (file.get() < 0) throw failed(path_, "be written");
  lock(file, LOCK_EX);
  const std::string text = text_of(file, path_);
  parsed(text, path_);
  if (text.empty()) append(file, std::string(header) + "\n", path_);
}

}  // namespace assay
