#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "emulator/ptx/constants.h"
#include "emulator/ptx/lexer.h"
#include "emulator/ptx/module.h"

namespace emulator::ptx {
namespace {

constexpr int no_instruction = -1;

/// `%r<8>` declares %r0 to %r7.
struct Family {
  int first, count;
};

/// Names between braces. Inline assembly opens scopes of its own.
struct Scope {
  int parent;
  std::unordered_map<std::string_view, int> registers{};
  std::unordered_map<std::string_view, Family> families{};
  std::unordered_map<std::string_view, int> labels{};
};

class BodyParser {
 public:
  BodyParser(const Module& module, const Function& function)
      : lexer_(function.body, function.body_line, module.file) {
    scopes_.push_back({-1});
  }

  Body parse() {
    for (Token token = lexer_.next(); token.kind != TokenKind::end; token = lexer_.next())
      statement(token);
    resolve_labels();
    return std::move(body_);
  }

 private:
  void statement(const Token& token) {
    if (token.is("{")) {
      scopes_.push_back({scope_});
      scope_ = static_cast<int>(scopes_.size()) - 1;
    } else if (token.is("}")) {
      scope_ = scopes_[static_cast<std::size_t>(scope_)].parent;
      if (scope_ < 0) lexer_.fail(token.line, "'}' closes nothing");
    } else if (token.is("@")) {
      guarded();
    } else if (token.is(";")) {
    } else if (token.text.starts_with('.')) {
      directive(token);
    } else if (lexer_.take(":")) {
      label(token);
    } else if (token.kind == TokenKind::word) {
      instruction(token, -1, false);
    } else {
      lexer_.fail(token.line, fmt::format("'{}' is not known here", token.text));
    }
  }

  Scope& scope() { return scopes_[static_cast<std::size_t>(scope_)]; }

  void directive(const Token& token) {
    if (token.is(".reg")) {
      registers(lexer_.next());
    } else if (token.text.starts_with(".reg.")) {
      registers({token.kind, token.text.substr(4), token.line});
    } else if (token.is(".local") || token.is(".shared") || token.is(".param")) {
      const Space space = *space_named(token.text.substr(1));
      for (Variable& variable : read_variables(lexer_, space))
        body_.variables.push_back(std::move(variable));
    } else if (token.is(".pragma")) {
      pragma(lexer_.next().text);
      lexer_.expect(";");
    } else {
      lexer_.fail(token.line, fmt::format("the directive '{}' is not known", token.text));
    }
  }

  /// Of the next instruction: which bytes of a load that was widened the program reads.
  void pragma(std::string_view text) {
    constexpr std::string_view name = "used_bytes_mask ";
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + name.size());
    std::uint16_t mask = 0;
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (is_hexadecimal) text.remove_prefix(2);
    const auto read =
        std::from_chars(text.data(), text.data() + text.size(), mask, is_hexadecimal ? 16 : 10);
    if (read.ec == std::errc{}) used_bytes_ = mask;
  }

  void registers(const Token& type_token) {
    const auto type =
        type_named(type_token.text.substr(std::min<std::size_t>(1, type_token.text.size())));
    if (!type)
      lexer_.fail(type_token.line, fmt::format("'{}' registers are not known", type_token.text));
    do {
      const Token name = lexer_.next();
      const int first = static_cast<int>(body_.registers.size());
      if (lexer_.take("<")) {
        const int count = static_cast<int>(read_integer(lexer_));
        lexer_.expect(">");
        scope().families[name.text] = {first, count};
        body_.registers.insert(body_.registers.end(), static_cast<std::size_t>(count),
                               {name.text, *type});
      } else {
        scope().registers[name.text] = first;
        body_.registers.push_back({name.text, *type});
      }
    } while (lexer_.take(","));
    lexer_.expect(";");
  }

  void label(const Token& token) {
    if (lexer_.peek().is(".branchtargets")) {
      lexer_.next();
      std::vector<std::string_view> names;
      do {
        names.push_back(lexer_.next().text);
      } while (lexer_.take(","));
      lexer_.expect(";");
      body_.branch_target_index[token.text] = pending_targets_.size();
      pending_targets_.push_back({scope_, token.line, std::move(names)});
      return;
    }
    if (lexer_.peek().is(".callprototype")) {
      lexer_.next();
      Prototype prototype;
      if (lexer_.peek().is("(")) prototype.results = read_parameters(lexer_, nullptr);
      lexer_.expect("_");
      if (lexer_.peek().is("(")) prototype.parameters = read_parameters(lexer_, nullptr);
      while (!lexer_.take(";")) lexer_.next();
      body_.prototypes[token.text] = std::move(prototype);
      return;
    }
    if (!scope().labels.emplace(token.text, next_index()).second)
      lexer_.fail(token.line, fmt::format("the label '{}' stands twice", token.text));
  }

  int next_index() const { return static_cast<int>(body_.instructions.size()); }

  void guarded() {
    const bool negated = lexer_.take("!");
    const Token predicate = lexer_.next();
    const int guard = find_register(predicate.text);
    if (guard < 0) lexer_.fail(predicate.line, fmt::format("'{}' is no predicate", predicate.text));
    instruction(lexer_.next(), guard, negated);
  }

  void instruction(const Token& token, int guard, bool guard_negated) {
    Instruction instruction;
    instruction.line = token.line;
    instruction.guard = guard;
    instruction.guard_negated = guard_negated;
    instruction.used_bytes = std::exchange(used_bytes_, std::uint16_t{0xffff});
    split_opcode(token.text, instruction);
    if (!lexer_.take(";")) {
      do {
        instruction.operands.push_back(operand());
      } while (lexer_.take(","));
      lexer_.expect(";");
    }
    if (instruction.opcode == "bra" && instruction.operands.size() == 1)
      branch_scopes_.emplace_back(next_index(), scope_);
    body_.instructions.push_back(std::move(instruction));
  }

  /// Splits at dots, but `L2::128B` stays in one piece.
  static void split_opcode(std::string_view text, Instruction& instruction) {
    std::size_t dot = text.find('.');
    instruction.opcode = text.substr(0, dot);
    while (dot != text.npos) {
      text.remove_prefix(dot + 1);
      dot = text.find('.');
      instruction.modifiers.push_back(text.substr(0, dot));
    }
  }

  Operand operand() {
    const Token token = lexer_.next();
    if (token.is("!")) {
      Operand negated = operand();
      negated.negated = true;
      return negated;
    }
    if (token.is("{") || token.is("(")) {
      Operand all;
      all.kind = token.is("{") ? OperandKind::vector : OperandKind::list;
      const std::string_view close = token.is("{") ? "}" : ")";
      if (lexer_.take(close)) return all;
      do {
        all.elements.push_back(operand());
      } while (lexer_.take(","));
      lexer_.expect(close);
      if (lexer_.take("|")) second(all);
      return all;
    }
    if (token.is("[")) return address();
    if (token.is("-")) {
      Operand value = number(lexer_.next());
      if (value.kind == OperandKind::integer) value.bits = ~value.bits + 1;
      if (value.kind == OperandKind::f32) value.bits ^= 0x80000000u;
      if (value.kind == OperandKind::f64) value.bits ^= std::uint64_t{1} << 63;
      return value;
    }
    if (token.kind == TokenKind::number) return number(token);
    if (token.kind != TokenKind::word)
      lexer_.fail(token.line, fmt::format("'{}' as an operand is not known", token.text));
    return named(token);
  }

  Operand number(const Token& token) {
    const Constant constant = read_number(token, lexer_);
    Operand operand;
    operand.kind = constant.kind == ConstantKind::integer ? OperandKind::integer
                   : constant.kind == ConstantKind::f32   ? OperandKind::f32
                                                          : OperandKind::f64;
    operand.bits = constant.bits;
    return operand;
  }

  Operand named(const Token& token) {
    Operand operand;
    operand.name = token.text;
    if (token.is("_")) {
      operand.kind = OperandKind::sink;
    } else if (const int index = find_register(token.text); index >= 0) {
      operand.kind = OperandKind::reg;
      operand.index = index;
    } else if (token.text.starts_with('%')) {
      operand.kind = OperandKind::special;
      return operand;
    } else {
      operand.kind = OperandKind::symbol;
      if (lexer_.take("+")) operand.offset = read_integer(lexer_);
      return operand;
    }
    if (lexer_.take("|")) second(operand);
    return operand;
  }

  void second(Operand& operand) {
    const Token token = lexer_.next();
    operand.second = token.is("_") ? -2 : find_register(token.text);
    if (operand.second == -1)
      lexer_.fail(token.line, fmt::format("'{}' is no register", token.text));
  }

  Operand address() {
    Operand result;
    result.kind = OperandKind::address;
    result.elements.push_back(operand());
    result.offset = result.elements[0].offset;
    result.elements[0].offset = 0;
    if (lexer_.take("+"))
      result.offset += read_integer(lexer_);
    else if (lexer_.peek().is("-"))
      result.offset += read_integer(lexer_);
    while (lexer_.take(",")) result.elements.push_back(operand());
    lexer_.expect("]");
    return result;
  }

  int find_register(std::string_view name) {
    for (int at = scope_; at >= 0; at = scopes_[static_cast<std::size_t>(at)].parent) {
      const Scope& inside = scopes_[static_cast<std::size_t>(at)];
      if (const auto found = inside.registers.find(name); found != inside.registers.end())
        return found->second;
      const std::size_t stem = name.find_last_not_of("0123456789") + 1;
      if (stem == 0 || stem == name.size()) continue;
      const auto found = inside.families.find(name.substr(0, stem));
      if (found == inside.families.end()) continue;
      int number = 0;
      std::from_chars(name.data() + stem, name.data() + name.size(), number);
      if (number < found->second.count) return found->second.first + number;
    }
    return -1;
  }

  int find_label(std::string_view name, int at) const {
    for (; at >= 0; at = scopes_[static_cast<std::size_t>(at)].parent) {
      const auto& labels = scopes_[static_cast<std::size_t>(at)].labels;
      if (const auto found = labels.find(name); found != labels.end()) return found->second;
    }
    return no_instruction;
  }

  /// Branches look forward, so their labels are found when all are known, in the scope of the
  /// branch.
  void resolve_labels() {
    for (const auto& [scope, line, names] : pending_targets_) {
      BranchTargets targets;
      for (const std::string_view name : names) targets.push_back(known_label(name, scope, line));
      body_.branch_targets.push_back(std::move(targets));
    }
    for (const auto& [index, scope] : branch_scopes_) {
      Instruction& instruction = body_.instructions[static_cast<std::size_t>(index)];
      Operand& target = instruction.operands.front();
      target.index = known_label(target.name, scope, instruction.line);
      target.kind = OperandKind::label;
    }
  }

  int known_label(std::string_view name, int scope, int line) const {
    const int index = find_label(name, scope);
    if (index == no_instruction) lexer_.fail(line, fmt::format("no label is called '{}'", name));
    return index;
  }

  struct PendingTargets {
    int scope, line;
    std::vector<std::string_view> names;
  };

  Lexer lexer_;
  Body body_;
  std::vector<Scope> scopes_;
  int scope_ = 0;
  std::uint16_t used_bytes_ = 0xffff;
  std::vector<PendingTargets> pending_targets_;
  std::vector<std::pair<int, int>> branch_scopes_;
};

}  // namespace

Body parse_body(const Module& module, const Function& function) {
  return BodyParser(module, function).parse();
}

}  // namespace emulator::ptx
