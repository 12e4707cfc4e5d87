#include "emulator/ptx/source_lines.h"

#include <fmt/format.h>

#include <charconv>
#include <compare>
#include <map>
#include <optional>

namespace emulator::ptx {
namespace {

struct Position {
  int file = 0, line = 0, column = 0;
  auto operator<=>(const Position&) const = default;
};

/// Reads words and numbers of one line.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(" \t,");
    if (begin == rest_.npos) return {};
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t,"));
    rest_.remove_prefix(word.size());
    return word;
  }
  int number() {
    const std::string_view word = next();
    int value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
  }
  Position position() {
    const int file = number(), line = number();
    return {file, line, number()};
  }

 private:
  std::string_view rest_;
};

class Places {
 public:
  Places(std::string_view ptx, int wanted) {
    std::optional<Position> now;
    for (int line = 1; !ptx.empty(); ++line) {
      const std::size_t end = ptx.find('\n');
      const std::string_view text = ptx.substr(0, end);
      ptx.remove_prefix(end == ptx.npos ? ptx.size() : end + 1);
      Words words(text);
      const std::string_view first = words.next();
      if (first == ".file") {
        const int number = words.number();
        const std::size_t open = text.find('"');
        files_[number] = text.substr(open + 1, text.find('"', open + 1) - open - 1);
      } else if (first == ".loc" && line < wanted) {
        now = words.position();
        inlined_at_.erase(*now);
        if (words.next() == "function_name" && !words.next().empty() &&
            words.next() == "inlined_at")
          inlined_at_[*now] = words.position();
      } else if (text.starts_with('}') && line < wanted) {
        now.reset();  // the end of a function
      }
    }
    found_ = now;
  }

  std::vector<SourceLine> lines() const {
    if (!found_) return {};
    std::vector<SourceLine> result;
    Position at = *found_;
    for (int depth = 0; depth < max_depth; ++depth) {
      const auto file = files_.find(at.file);
      if (file == files_.end()) return {};
      result.push_back({std::string(file->second), at.line});
      const auto caller = inlined_at_.find(at);
      if (caller == inlined_at_.end()) break;
      at = caller->second;
    }
    return result;
  }

 private:
  static constexpr int max_depth = 8;
  std::map<int, std::string_view> files_;
  std::map<Position, Position> inlined_at_;
  std::optional<Position> found_;
};

}  // namespace

std::vector<SourceLine> source_lines(std::string_view ptx, int line) {
  return Places(ptx, line).lines();
}

std::string text_of(const std::vector<SourceLine>& lines) {
  std::string text;
  for (const auto& [file, line] : lines)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", inlined at ", file, line);
  return text;
}

}  // namespace emulator::ptx
