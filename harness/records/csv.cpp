#include "harness/records/csv.h"

#include <csv.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "harness/records/formula_guard.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr bool is_special(char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; }

/// No table of Assay's comes near them; beyond, a file is an accident or an attack. A row is never
/// longer than the line by which a worker answers.
constexpr std::size_t most_fields = 1000;
constexpr std::size_t longest_row = std::size_t{64} << 20;

/// How many bytes stand before the first special one.
std::size_t plain_length(std::string_view text) {
  static constexpr auto special = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {',', '"', '\r', '\n'}) table.at(c) = true;
    return table;
  }();
  const auto* const end =
      std::ranges::find_if(text, [](char c) { return special[static_cast<unsigned char>(c)]; });
  return static_cast<std::size_t>(end - text.data());
}

/// The content of a field in quotes at the start of the text that holds no quote and no line break,
/// where the text goes on behind it with the end of a field. Nothing where that is not so.
std::optional<std::string_view> simple_quoted(std::string_view text) {
  const std::size_t close = text.find('"', 1);
  if (close == std::string_view::npos || close + 1 == text.size()) return std::nullopt;
  const char next = text[close + 1];
  const std::string_view content = text.substr(1, close - 1);
  const bool ends = next == ',' || next == '\n' || next == '\r';
  const bool on_one_line =
      content.find('\n') == std::string_view::npos && content.find('\r') == std::string_view::npos;
  return ends && on_one_line ? std::optional(content) : std::nullopt;
}

/// Cuts text into fields, and keeps their positions. Plain fields end at the next special byte, and
/// most of those in quotes are as simple; libcsv, which takes several times as long, gets the rest.
class Parser {
 public:
  Parser(std::string_view name, const std::function<void(const CsvRow&)>& visit)
      : name_(name), visit_(visit) {
    if (csv_init(&csv_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    // Grows by as much: by its 128 bytes a long field would be copied a million times.
    csv_set_blk_size(&csv_, std::size_t{1} << 20);
    csv_set_space_func(&csv_, [](unsigned char) { return 0; });  // spaces are part of a field
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { csv_free(&csv_); }

  /// The next part of the text, wherever it was cut.
  void take(std::string_view part) {
    if (state_ != State::between_rows && at_ - row_start_ > longest_row) {
      fail(row_.line, row_start_, "a row of more than 64 MiB");
    }
    while (!part.empty()) {
      if (state_ == State::plain) take_plain(part);
      if (state_ == State::quoted) take_quoted(part);
      if (!part.empty()) take_special(part);
    }
  }

  void end() {
    if (state_ == State::quoted && csv_fini(&csv_, on_field, nullptr, this) != 0) {
      fail(field_line_, field_start_, "the quoted field that begins here is never closed");
    }
    if (state_ != State::between_rows) end_row();
  }

 private:
  enum class State { between_rows, plain, quoted };

  /// Simple fields, as many as follow each other: the loop that a file's time is spent in. Stops
  /// before a line end and before a quote that takes libcsv.
  void take_plain(std::string_view& part) {
    while (true) {
      const std::size_t length = plain_length(part);
      if (length > 0) field_->append(part, 0, length);
      at_ += length;
      part.remove_prefix(length);
      if (!part.empty() && part.front() == '"' && at_ == field_start_) take_simple_quoted(part);
      if (part.empty() || part.front() != ',') return;
      ++at_;
      part.remove_prefix(1);
      begin_field();
    }
  }

  void take_simple_quoted(std::string_view& part) {
    const auto content = simple_quoted(part);
    if (!content) return;
    field_->assign(*content);
    at_ += content->size() + 2;
    part.remove_prefix(content->size() + 2);
  }

  /// Up to the next special byte.
  void take_quoted(std::string_view& part) {
    const std::size_t length = plain_length(part);
    if (length == 0) return;
    unquote(part.substr(0, length));
    at_ += length;
    after_return_ = false;
    part.remove_prefix(length);
  }

  /// What ends fields and rows, and quotes. Between rows also what begins one.
  void take_special(std::string_view& part) {
    const char c = part.front();
    const bool ends_row = c == '\r' || c == '\n';
    if (state_ == State::between_rows && !ends_row) return begin_row();
    if (state_ == State::plain && c == '"') {
      if (at_ != field_start_) fail(line_, at_, "a quote inside a field that is not quoted");
      state_ = State::quoted;
    }
    if (state_ == State::quoted) unquote(part.substr(0, 1));
    if (c == '\r' || (c == '\n' && !after_return_)) ++line_;  // CR LF is one line end
    after_return_ = c == '\r';
    ++at_;
    part.remove_prefix(1);
    if (state_ != State::plain) return;
    if (c == ',') begin_field();
    if (ends_row) end_row();
  }

  /// To libcsv, which ends the field (and is back at the start of one) at a special byte outside
  /// quotes.
  void unquote(std::string_view part) {
    const std::size_t taken = csv_parse(&csv_, part.data(), part.size(), on_field, nullptr, this);
    if (taken == part.size()) return;
    if (csv_error(&csv_) != CSV_EPARSE) throw std::bad_alloc();
    fail(line_, at_ + taken, "text after the closing quote of a field");
  }

  void begin_row() {
    row_.line = line_;
    row_start_ = at_;
    fields_ = 0;
    after_return_ = false;
    begin_field();
  }

  /// Strings of earlier rows are used again, with the memory that they have.
  void begin_field() {
    state_ = State::plain;
    if (fields_ == row_.fields.size()) widen();
    field_ = &row_.fields[fields_];
    field_->clear();
    row_.columns[fields_] = at_ - row_start_ + 1;
    ++fields_;
    field_start_ = at_;
    field_line_ = line_;
  }

  void widen() {
    if (fields_ == most_fields) {
      fail(line_, at_, "a row of more than " + std::to_string(most_fields) + " fields");
    }
    row_.fields.emplace_back();
    row_.columns.emplace_back();
  }

  /// Not from within libcsv: an exception of the visitor could not pass through it.
  void end_row() {
    state_ = State::between_rows;
    row_.fields.resize(fields_);
    row_.columns.resize(fields_);
    for (std::string& field : row_.fields) {
      if (field.starts_with('\'')) field.erase(0, field.size() - unguarded(field).size());
    }
    visit_(row_);
  }

  [[noreturn]] void fail(std::size_t line, std::size_t offset, std::string_view why) const {
    throw UsageError(std::string(name_) + ":" + std::to_string(line) + ": column " +
                     std::to_string(offset - row_start_ + 1) + ": " + std::string(why));
  }

  static void on_field(void* data, std::size_t length, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    if (length > 0) parser.field_->assign(static_cast<const char*>(data), length);
    parser.state_ = State::plain;
  }

  std::string_view name_;
  const std::function<void(const CsvRow&)>& visit_;
  csv_parser csv_{};
  CsvRow row_;
  std::size_t fields_ = 0;        // of the row, that have begun
  std::string* field_ = nullptr;  // the last of them
  State state_ = State::between_rows;
  bool after_return_ = false;
  std::size_t at_ = 0;  // offset of what comes next
  std::size_t line_ = 1;
  std::size_t row_start_ = 0;
  std::size_t field_start_ = 0;
  std::size_t field_line_ = 1;
};

}  // namespace

void each_csv_row(std::istream& text, std::string_view name,
                  const std::function<void(const CsvRow&)>& visit) {
  Parser parser(name, visit);
  std::vector<char> block(std::size_t{1} << 16);
  for (bool first = true; text; first = false) {
    text.read(block.data(), static_cast<std::streamsize>(block.size()));
    std::string_view part(block.data(), static_cast<std::size_t>(text.gcount()));
    if (first && part.starts_with(byte_order_mark)) part.remove_prefix(byte_order_mark.size());
    parser.take(part);
  }
  // A disk that fails, or a folder: it opens like a file.
  if (text.bad()) throw UsageError(std::string(name) + ": cannot be read");
  parser.end();
}

std::vector<CsvRow> read_csv(std::istream& text, std::string_view name) {
  std::vector<CsvRow> rows;
  each_csv_row(text, name, [&](const CsvRow& row) { rows.push_back(row); });
  return rows;
}

std::string csv_line(std::span<const std::string> fields) {
  // One empty field is quoted, since an empty line is no record.
  if (fields.size() == 1 && fields[0].empty()) return "\"\"";
  std::string line;
  for (const std::string& text : fields) {
    if (&text != fields.data()) line += ',';
    const std::string field = guarded(text);
    if (std::ranges::none_of(field, is_special)) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return line;
}

}  // namespace assay
