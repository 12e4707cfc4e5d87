#include "emulator/ptx/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/ptx/constants.h"

namespace emulator::ptx {
namespace {

/// The modifiers before the name: `.align 8 .b8`, `.v4 .f32`.
struct Head {
  Type type = Type::b8;
  std::size_t alignment = 0, elements = 1;
  bool is_register = false;
  bool is_managed = false;
};

Head read_head(Lexer& lexer) {
  Head head;
  bool typed = false;
  while (!typed) {
    const Token token = lexer.next();
    if (token.is(".align")) {
      head.alignment = static_cast<std::size_t>(read_integer(lexer));
    } else if (token.is(".v2") || token.is(".v4")) {
      head.elements = token.is(".v2") ? 2 : 4;
    } else if (token.is(".attribute")) {
      lexer.expect("(");
      do {
        head.is_managed |= lexer.next().is(".managed");
      } while (!lexer.take(")"));
    } else if (token.is(".param")) {
    } else if (token.is(".reg")) {
      head.is_register = true;
    } else if (const auto type =
                   type_named(token.text.substr(std::min<std::size_t>(1, token.text.size())))) {
      head.type = *type;
      typed = true;
    } else {
      lexer.fail(token.line, fmt::format("'{}' in a declaration is not known", token.text));
    }
  }
  // `.param .u64 .ptr .global .align 8 name`: what a pointer points to.
  if (lexer.take(".ptr")) {
    while (lexer.peek().text.starts_with('.'))
      if (lexer.next().is(".align")) read_integer(lexer);
  }
  if (head.alignment == 0)
    head.alignment = std::max<std::size_t>(1, bytes_of(head.type)) * head.elements;
  return head;
}

/// Reads `[4][8]`; returns the number of elements, 0 for `[]`.
std::size_t read_extent(Lexer& lexer) {
  std::size_t extent = 1;
  while (lexer.take("[")) {
    if (lexer.take("]")) return 0;
    extent *= static_cast<std::size_t>(read_integer(lexer));
    lexer.expect("]");
  }
  return extent;
}

InitialValue read_initial_value(Lexer& lexer, std::size_t offset, Type type) {
  InitialValue value{offset, bytes_of(type)};
  const Token token = lexer.peek();
  if (token.kind == TokenKind::number || token.is("-")) {
    const Constant constant = read_constant(lexer);
    if (lexer.take("(")) {
      value.mask = constant.bits;
      value.symbol = lexer.next().text;
      lexer.expect(")");
      return value;
    }
    if (type == Type::f32 && constant.kind == ConstantKind::f64) {
      double wide;
      std::memcpy(&wide, &constant.bits, 8);
      const float narrow = static_cast<float>(wide);
      std::memcpy(&value.bits, &narrow, 4);
    } else {
      value.bits = constant.bits;
    }
    return value;
  }
  lexer.next();
  if (token.is("generic")) {
    value.generic = true;
    lexer.expect("(");
    value.symbol = lexer.next().text;
    lexer.expect(")");
  } else if (token.kind == TokenKind::word) {
    value.symbol = token.text;
  } else {
    lexer.fail(token.line, fmt::format("'{}' as an initial value is not known", token.text));
  }
  if (lexer.take("+")) value.addend = read_integer(lexer);
  return value;
}

/// Nested braces only structure: the values lie one behind the other.
void read_initial_values(Lexer& lexer, Variable& variable, std::size_t& offset) {
  if (!lexer.take("{")) {
    variable.initial.push_back(read_initial_value(lexer, offset, variable.type));
    offset += bytes_of(variable.type);
    return;
  }
  if (lexer.take("}")) return;
  do {
    read_initial_values(lexer, variable, offset);
  } while (lexer.take(","));
  lexer.expect("}");
}

}  // namespace

std::vector<Variable> read_variables(Lexer& lexer, Space space) {
  const Head head = read_head(lexer);
  std::vector<Variable> variables;
  do {
    const Token name = lexer.next();
    if (name.kind != TokenKind::word)
      lexer.fail(name.line, fmt::format("'{}' instead of a variable's name", name.text));
    Variable variable;
    variable.name = name.text;
    variable.space = space;
    variable.type = head.type;
    variable.alignment = head.alignment;
    variable.is_managed = head.is_managed;
    variable.line = name.line;
    variable.bytes = read_extent(lexer) * head.elements * bytes_of(head.type);
    if (lexer.take("=")) {
      std::size_t offset = 0;
      read_initial_values(lexer, variable, offset);
      variable.bytes = std::max(variable.bytes, offset);
    }
    variables.push_back(std::move(variable));
  } while (lexer.take(","));
  lexer.expect(";");
  return variables;
}

std::vector<Parameter> read_parameters(Lexer& lexer, std::size_t* total_bytes) {
  std::vector<Parameter> parameters;
  std::size_t end = 0;
  lexer.expect("(");
  if (lexer.take(")")) {
    if (total_bytes != nullptr) *total_bytes = 0;
    return parameters;
  }
  do {
    const Head head = read_head(lexer);
    Parameter parameter;
    parameter.name = lexer.next().text;
    parameter.type = head.type;
    parameter.alignment = head.alignment;
    parameter.is_register = head.is_register;
    parameter.bytes = read_extent(lexer) * head.elements * bytes_of(head.type);
    parameter.offset = align_up(end, head.alignment);
    end = parameter.offset + parameter.bytes;
    parameters.push_back(parameter);
  } while (lexer.take(","));
  lexer.expect(")");
  if (total_bytes != nullptr) *total_bytes = end;
  return parameters;
}

}  // namespace emulator::ptx
