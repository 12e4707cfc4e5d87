#include "emulator/ptx/lexer.h"

#include <fmt/format.h>

#include "emulator/ptx/error.h"

namespace emulator::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

}  // namespace

void fail(const std::string& file, int line, const std::string& text) {
  throw Error(fmt::format("{}:{}: {}", file, line, text));
}

void Lexer::fail(int line, const std::string& text) const { ptx::fail(*file_, line, text); }

void Lexer::skip_line() { position_ = std::min(text_.find('\n', position_), text_.size()); }

void Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      skip_line();
    } else if (text_.substr(position_, 2) == "/*") {
      const std::size_t close = text_.find("*/", position_ + 2);
      if (close == std::string_view::npos) fail(line_, "a comment without end");
      for (; position_ < close; ++position_) line_ += text_[position_] == '\n';
      position_ = close + 2;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_blank();
  Token token{TokenKind::end, {}, line_};
  if (position_ >= text_.size()) return token;
  const std::size_t begin = position_;
  const char c = text_[position_++];
  if (c == '"') {
    const std::size_t close = text_.find('"', position_);
    if (close == std::string_view::npos) fail(line_, "a string without end");
    position_ = close + 1;
    return {TokenKind::string, text_.substr(begin + 1, close - begin - 1), line_};
  }
  if (!is_word(c)) return {TokenKind::punctuation, text_.substr(begin, 1), line_};
  while (position_ < text_.size()) {
    if (is_word(text_[position_]))
      ++position_;
    else if (text_.substr(position_, 2) == "::")
      position_ += 2;
    else
      break;
  }
  token.kind = is_digit(c) ? TokenKind::number : TokenKind::word;
  token.text = text_.substr(begin, position_ - begin);
  if (token.is(".loc") || token.is(".file")) {
    skip_line();
    return next();
  }
  return token;
}

Token Lexer::peek() {
  const std::size_t position = position_;
  const int line = line_;
  const Token token = next();
  position_ = position;
  line_ = line;
  return token;
}

Token Lexer::expect(std::string_view text) {
  const Token token = next();
  if (!token.is(text)) fail(token.line, fmt::format("'{}' instead of '{}'", token.text, text));
  return token;
}

bool Lexer::take(std::string_view text) {
  if (!peek().is(text)) return false;
  next();
  return true;
}

std::string_view Lexer::skip_braces() {
  const std::size_t begin = position_;
  int depth = 1;
  for (; position_ < text_.size(); ++position_) {
    switch (text_[position_]) {
      case '\n':
        ++line_;
        break;
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) return text_.substr(begin, position_++ - begin);
        break;
      case '"':
        position_ = std::min(text_.find('"', position_ + 1), text_.size() - 1);
        break;
      case '/':
        if (text_.substr(position_, 2) == "//") {
          skip_line();
          --position_;
        } else if (text_.substr(position_, 2) == "/*") {
          const std::size_t close = std::min(text_.find("*/", position_ + 2), text_.size() - 2);
          for (; position_ < close; ++position_) line_ += text_[position_] == '\n';
          ++position_;
        }
        break;
      default:
        break;
    }
  }
  fail(line_, "a body without end");
}

}  // namespace emulator::ptx
