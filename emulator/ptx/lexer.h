#pragma once

#include <string>
#include <string_view>

namespace emulator::ptx {

enum class TokenKind { word, number, string, punctuation, end };

/// A word keeps its dots: `ld.global.L2::128B.u32`, `%tid.x` and `.reg` are one token each.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int line = 0;
  bool is(std::string_view other) const { return text == other && kind != TokenKind::string; }
};

/// Cuts PTX text into tokens, skipping comments and the line directives of debuggers (.loc, .file).
class Lexer {
 public:
  Lexer(std::string_view text, int first_line, const std::string& file)
      : text_(text), line_(first_line), file_(&file) {}

  Token next();
  Token peek();
  /// Takes the next token, which has to be `text`.
  Token expect(std::string_view text);
  bool take(std::string_view text);
  /// Skips to the brace that closes the one just taken; returns the text between.
  std::string_view skip_braces();
  std::size_t position() const { return position_; }
  int line() const { return line_; }
  /// Throws Error that names file and line.
  [[noreturn]] void fail(int line, const std::string& text) const;

 private:
  void skip_blank();
  void skip_line();

  std::string_view text_;
  std::size_t position_ = 0;
  int line_;
  const std::string* file_;
};

}  // namespace emulator::ptx
