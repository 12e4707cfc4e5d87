#include "emulator/ptx/constants.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

namespace emulator::ptx {

Constant read_number(const Token& token, const Lexer& lexer) {
  std::string_view text = token.text;
  const auto digits = [&](std::string_view number, int base) {
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), value, base);
    if (number.empty() || error != std::errc() || end != number.data() + number.size())
      lexer.fail(token.line, fmt::format("'{}' is no number", token.text));
    return value;
  };
  if (token.kind != TokenKind::number)
    lexer.fail(token.line, fmt::format("'{}' instead of a number", text));
  if (text.size() > 2 && text[0] == '0' && text.find('.') == text.npos) {
    const std::string_view rest = text.substr(2);
    if ((text[1] == 'f' || text[1] == 'F') && rest.size() == 8)
      return {ConstantKind::f32, digits(rest, 16)};
    if ((text[1] == 'd' || text[1] == 'D') && rest.size() == 16)
      return {ConstantKind::f64, digits(rest, 16)};
  }
  if (text.find('.') != text.npos) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      lexer.fail(token.line, fmt::format("'{}' is no number", token.text));
    return {ConstantKind::f64, std::bit_cast<std::uint64_t>(value)};
  }
  if (text.back() == 'U') text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const bool hexadecimal = text[1] == 'x' || text[1] == 'X';
    const bool binary = text[1] == 'b' || text[1] == 'B';
    base = hexadecimal ? 16 : binary ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  return {ConstantKind::integer, digits(text, base)};
}

Constant read_constant(Lexer& lexer) {
  const bool negative = lexer.take("-");
  Constant constant = read_number(lexer.next(), lexer);
  if (!negative) return constant;
  if (constant.kind == ConstantKind::integer) constant.bits = ~constant.bits + 1;
  if (constant.kind == ConstantKind::f32) constant.bits ^= 0x80000000u;
  if (constant.kind == ConstantKind::f64) constant.bits ^= std::uint64_t{1} << 63;
  return constant;
}

std::int64_t read_integer(Lexer& lexer) {
  const int line = lexer.peek().line;
  const Constant constant = read_constant(lexer);
  if (constant.kind != ConstantKind::integer) lexer.fail(line, "a whole number is needed here");
  return static_cast<std::int64_t>(constant.bits);
}

}  // namespace emulator::ptx
