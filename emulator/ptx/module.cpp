#include "emulator/ptx/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "emulator/ptx/constants.h"
#include "emulator/ptx/lexer.h"
#include "emulator/ptx/source_lines.h"

namespace emulator::ptx {
namespace {

void read_extents(Lexer& lexer, std::array<unsigned, 3>& extents) {
  extents = {1, 1, 1};
  for (unsigned& extent : extents) {
    extent = static_cast<unsigned>(read_integer(lexer));
    if (!lexer.take(",")) return;
  }
}

void skip_statement(Lexer& lexer) {
  while (!lexer.take(";"))
    if (lexer.next().kind == TokenKind::end) return;
}

Function read_function(Lexer& lexer, bool is_entry) {
  Function function;
  function.is_entry = is_entry;
  function.line = lexer.peek().line;
  if (lexer.peek().is("(")) function.results = read_parameters(lexer, nullptr);
  function.name = lexer.next().text;
  if (lexer.peek().is("(")) function.parameters = read_parameters(lexer, &function.parameter_bytes);
  for (;;) {
    const Token token = lexer.next();
    if (token.is(";")) return function;
    if (token.is("{")) {
      function.has_body = true;
      function.body_line = lexer.line();
      function.body = lexer.skip_braces();
      return function;
    }
    if (token.is(".maxntid")) {
      read_extents(lexer, function.max_threads);
    } else if (token.is(".reqntid")) {
      read_extents(lexer, function.required_threads);
    } else if (token.is(".reqnctapercluster")) {
      read_extents(lexer, function.cluster);
    } else if (token.is(".maxclusterrank")) {
      function.max_cluster_blocks = static_cast<unsigned>(read_integer(lexer));
    } else if (token.is(".explicitcluster")) {
      function.needs_cluster = true;
    } else if (token.is(".minnctapersm") || token.is(".maxnreg") || token.is(".maxnctapersm")) {
      read_integer(lexer);
    } else if (token.is(".pragma")) {
      skip_statement(lexer);
    } else if (!token.is(".noreturn")) {
      lexer.fail(token.line, fmt::format("the directive '{}' is not known", token.text));
    }
  }
}

}  // namespace

Module::Module(std::string ptx, std::string file_name)
    : text(std::move(ptx)), file(std::move(file_name)) {
  Lexer lexer(text, 1, file);
  bool is_extern = false;
  const auto add = [&](Space space) {
    for (Variable& variable : read_variables(lexer, space)) {
      variable.is_extern = is_extern;
      const Variable* known = this->variable(variable.name);
      if (is_extern && known != nullptr && !known->is_extern) continue;  // defined already
      variable_index_.insert_or_assign(variable.name, variables.size());
      variables.push_back(std::move(variable));
    }
    is_extern = false;
  };
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
    if (token.is(".entry") || token.is(".func")) {
      Function function = read_function(lexer, token.is(".entry"));
      function.has_body &= !is_extern;  // link.h: a definition that another module's replaces
      const auto [found, is_new] = function_index_.try_emplace(function.name, functions.size());
      if (is_new)
        functions.push_back(std::move(function));
      else if (function.has_body)
        functions[found->second] = std::move(function);
      is_extern = false;
    } else if (token.is(".global")) {
      add(Space::global);
    } else if (token.is(".const")) {
      add(Space::constant);
    } else if (token.is(".shared")) {
      add(Space::shared);
    } else if (token.is(".extern")) {
      is_extern = true;
    } else if (token.is(".visible") || token.is(".weak") || token.is(".common")) {
      is_extern = false;
    } else if (token.is(".version") || token.is(".address_size")) {
      lexer.next();
    } else if (token.is(".target")) {
      do {
        read_target(lexer.next().text);
      } while (lexer.take(","));
    } else if (token.is(".section")) {
      while (lexer.next().text != "{") {
      }
      lexer.skip_braces();
    } else if (token.is(".pragma")) {
      skip_statement(lexer);
    } else {
      lexer.fail(token.line, fmt::format("'{}' is not known here", token.text));
    }
  }
}

/// `.target` names an architecture, and perhaps texture modes.
void Module::read_target(std::string_view name) {
  if (!name.starts_with("sm_")) return;
  const char* const end = name.data() + name.size();
  const char* const rest = std::from_chars(name.data() + 3, end, target).ptr;
  is_target_specific = rest != end && *rest == 'a';
}

const Function* Module::function(std::string_view name) const {
  const auto found = function_index_.find(name);
  return found == function_index_.end() ? nullptr : &functions[found->second];
}

const Variable* Module::variable(std::string_view name) const {
  const auto found = variable_index_.find(name);
  return found == variable_index_.end() ? nullptr : &variables[found->second];
}

std::string_view Module::line(int number) const {
  std::string_view rest = text;
  for (int i = 1; i < number; ++i) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t begin = rest.find_first_not_of(" \t");
  return begin == rest.npos ? std::string_view() : rest.substr(begin);
}

std::string Module::place(int number) const {
  const std::string source = text_of(source_lines(text, number));
  return source.empty() ? fmt::format("line {}", number) : source;
}

}  // namespace emulator::ptx
