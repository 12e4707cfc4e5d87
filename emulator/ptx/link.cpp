#include "emulator/ptx/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "emulator/ptx/error.h"
#include "emulator/ptx/lexer.h"
#include "emulator/ptx/module.h"

namespace emulator::ptx {
namespace {

const std::string in_messages = "PTX";

enum class Linkage { local, external, weak, strong };

struct Symbol {
  std::string_view name, directive;  // `.weak`, if there is one
  Linkage linkage;
  bool is_kernel;  // which the host knows by its name
};

/// Text that takes the place of another.
struct Edit {
  std::string_view old;
  std::string replacement;
};

Linkage linkage_of(std::string_view directive) {
  if (directive == ".extern") return Linkage::external;
  if (directive == ".visible") return Linkage::strong;
  return directive == ".weak" || directive == ".common" ? Linkage::weak : Linkage::local;
}

/// What stands outside of bodies.
class Outline {
 public:
  explicit Outline(std::string_view text) : lexer_(text, 1, in_messages) {
    Token directive;
    for (Token token = lexer_.next(); token.kind != TokenKind::end; token = lexer_.next()) {
      if (linkage_of(token.text) != Linkage::local) {
        directive = token;
        continue;
      }
      if (token.is(".version") || token.is(".target") || token.is(".address_size")) {
        read_header(token);
      } else if (token.is(".func") || token.is(".entry")) {
        read_function(token, directive);
      } else if (token.is(".global") || token.is(".const") || token.is(".shared")) {
        for (const Variable& variable : read_variables(lexer_, Space::global))
          add(variable.name, directive, false);
      } else if (token.is("{")) {
        lexer_.skip_braces();  // of a section
      }
      directive = {};
    }
  }

  std::vector<Symbol> symbols;
  std::vector<std::string_view> headers;  // directives with their values
  std::pair<int, bool> target;            // and whether it is like sm_90a

 private:
  void read_header(const Token& begin) {
    Token end = lexer_.next();
    if (begin.is(".target") && end.text.starts_with("sm_")) {
      const char* const past_name = end.text.data() + end.text.size();
      int number = 0;
      const char* const rest = std::from_chars(end.text.data() + 3, past_name, number).ptr;
      target = {number, rest != past_name};
    }
    while (lexer_.take(",")) end = lexer_.next();
    const char* const past = end.text.data() + end.text.size();
    headers.emplace_back(begin.text.data(), static_cast<std::size_t>(past - begin.text.data()));
  }

  void read_function(const Token& token, const Token& directive) {
    if (lexer_.peek().is("(")) read_parameters(lexer_, nullptr);
    add(lexer_.next().text, directive, token.is(".entry"));
    for (Token next = lexer_.next(); !next.is(";"); next = lexer_.next()) {
      if (next.kind == TokenKind::end) lexer_.fail(next.line, "a function without end");
      if (!next.is("{")) continue;
      lexer_.skip_braces();
      return;
    }
  }

  void add(std::string_view name, const Token& directive, bool is_kernel) {
    symbols.push_back({name, directive.text, linkage_of(directive.text), is_kernel});
  }

  Lexer lexer_;
};

/// Which module has the definition that is left.
using Definitions = std::map<std::string_view, std::pair<Linkage, std::size_t>>;

Definitions definitions_of(const std::vector<Outline>& outlines) {
  Definitions found;
  for (std::size_t i = 0; i < outlines.size(); ++i) {
    for (const Symbol& symbol : outlines[i].symbols) {
      if (symbol.linkage != Linkage::weak && symbol.linkage != Linkage::strong) continue;
      const auto [known, is_new] = found.try_emplace(symbol.name, symbol.linkage, i);
      auto& [linkage, module] = known->second;
      if (is_new || module == i) continue;  // declared, and then defined
      if (linkage == Linkage::strong && symbol.linkage == Linkage::strong)
        throw Error(fmt::format("two modules define '{}'", symbol.name));
      if (symbol.linkage == Linkage::strong) known->second = {symbol.linkage, i};
    }
  }
  return found;
}

/// New names of what a module does not show, where another has the same name.
std::map<std::string_view, std::string> renamed(const std::vector<Outline>& outlines,
                                                std::size_t module) {
  std::map<std::string_view, std::string> names;
  for (const Symbol& symbol : outlines[module].symbols) {
    if (symbol.linkage != Linkage::local || symbol.is_kernel) continue;
    for (std::size_t other = 0; other < outlines.size(); ++other) {
      if (other != module && std::ranges::find(outlines[other].symbols, symbol.name,
                                               &Symbol::name) != outlines[other].symbols.end())
        names[symbol.name] = fmt::format("{}$module{}", symbol.name, module);
    }
  }
  return names;
}

/// Numbers of source files, by which .file and .loc name them, start anew in each module.
constexpr int files_per_module = 100'000;

void edit_files(std::string_view text, std::size_t module, std::vector<Edit>& edits) {
  const auto edit_number_behind = [&](std::string_view line, std::string_view word) {
    const std::size_t found = line.find(word);
    if (found == line.npos) return;
    const std::size_t begin = line.find_first_of("0123456789", found + word.size());
    if (begin == line.npos) return;
    const std::string_view digits =
        line.substr(begin, line.find_first_not_of("0123456789", begin) - begin);
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    edits.push_back({digits, std::to_string(number + static_cast<int>(module) * files_per_module)});
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) continue;
    for (const std::string_view directive : {".file", ".loc"}) {
      if (!line.substr(begin).starts_with(directive)) continue;
      edit_number_behind(line, directive);
      edit_number_behind(line, "inlined_at");
    }
  }
}

void edit_names(std::string_view text, const std::map<std::string_view, std::string>& names,
                std::vector<Edit>& edits) {
  if (names.empty()) return;
  Lexer lexer(text, 1, in_messages);
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
    const auto found = names.find(token.text);
    if (found != names.end() && token.kind == TokenKind::word)
      edits.push_back({token.text, found->second});
  }
}

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, [](const Edit& edit) { return edit.old.data(); });
  std::string result;
  const char* done = text.data();
  for (const Edit& edit : edits) {
    if (edit.old.data() < done) continue;  // the directive of several variables
    result.append(done, edit.old.data());
    result += edit.replacement;
    done = edit.old.data() + edit.old.size();
  }
  result.append(done, text.data() + text.size());
  return result + '\n';
}

}  // namespace

std::string link(const std::vector<std::string_view>& modules) {
  if (modules.size() == 1) return std::string(modules.front());
  const std::vector<Outline> outlines(modules.begin(), modules.end());
  const Definitions definitions = definitions_of(outlines);
  const auto newest = std::ranges::max_element(outlines, {}, &Outline::target) - outlines.begin();
  std::string linked;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::vector<Edit> edits;
    if (static_cast<std::ptrdiff_t>(i) != newest)
      for (const std::string_view header : outlines[i].headers) edits.push_back({header, ""});
    for (const Symbol& symbol : outlines[i].symbols) {
      // A declaration is what is left of the others.
      if (symbol.linkage == Linkage::weak && definitions.at(symbol.name).second != i)
        edits.push_back({symbol.directive, ".extern"});
    }
    edit_names(modules[i], renamed(outlines, i), edits);
    edit_files(modules[i], i, edits);
    linked += edited(modules[i], std::move(edits));
  }
  return linked;
}

}  // namespace emulator::ptx
