#include "harness/csv.h"

#include <csv.h>

#include <algorithm>
#include <new>

#include "kernels/base/status.h"

namespace assay {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
/// The bytes that libcsv acts upon. Each is fed alone, so that its callbacks tell where they are.
constexpr bool is_special(char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; }

/// Drives libcsv, which splits and unquotes, and keeps the positions, which it does not tell.
class Parser {
 public:
  Parser(std::string_view name, const std::function<void(const CsvRow&)>& visit)
      : name_(name), visit_(visit) {
    if (csv_init(&csv_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    csv_set_space_func(&csv_, [](unsigned char) { return 0; });  // spaces are part of a field
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { csv_free(&csv_); }

  /// The next part of the text, wherever it was cut.
  void take(std::string_view part) {
    while (!part.empty()) {
      const char c = part.front();
      if (state_ == State::between_rows && c != '\r' && c != '\n') begin_row();
      std::size_t length = 1;
      if (!is_special(c)) {
        while (length < part.size() && !is_special(part[length])) ++length;
      }
      feed(part.substr(0, length));
      part.remove_prefix(length);
    }
  }

  void end() {
    if (csv_fini(&csv_, on_field, on_row, this) != 0) {
      fail(field_line_, field_start_, "the quoted field that begins here is never closed");
    }
    hand_over();
  }

 private:
  enum class State { between_rows, in_row, row_complete };

  void begin_row() {
    state_ = State::in_row;
    row_.line = line_;
    row_.fields.clear();
    row_.columns.clear();
    row_start_ = at_;
    begin_field(at_);
  }

  void begin_field(std::size_t start) {
    field_start_ = start;
    field_line_ = line_;
  }

  void feed(std::string_view part) {
    const char c = part.front();
    const std::size_t taken = csv_parse(&csv_, part.data(), part.size(), on_field, on_row, this);
    if (taken != part.size()) {
      if (csv_error(&csv_) != CSV_EPARSE) throw std::bad_alloc();
      fail(line_, at_ + taken,
           part[taken] == '"' ? "a quote inside a field that is not quoted"
                              : "text after the closing quote of a field");
    }
    if (c == '\r' || (c == '\n' && !after_return_)) ++line_;  // CR LF is one line end
    after_return_ = c == '\r';
    at_ += part.size();
    hand_over();
  }

  /// Not from within libcsv: an exception could not pass through it.
  void hand_over() {
    if (state_ != State::row_complete) return;
    state_ = State::between_rows;
    visit_(row_);
  }

  [[noreturn]] void fail(std::size_t line, std::size_t offset, std::string_view why) const {
    throw UsageError(std::string(name_) + ":" + std::to_string(line) + ": column " +
                     std::to_string(offset - row_start_ + 1) + ": " + std::string(why));
  }

  static void on_field(void* data, std::size_t length, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.row_.fields.emplace_back();
    if (length > 0) parser.row_.fields.back().assign(static_cast<const char*>(data), length);
    parser.row_.columns.push_back(parser.field_start_ - parser.row_start_ + 1);
    parser.begin_field(parser.at_ + 1);
  }

  static void on_row(int /*line_end*/, void* self) {
    static_cast<Parser*>(self)->state_ = State::row_complete;
  }

  std::string_view name_;
  const std::function<void(const CsvRow&)>& visit_;
  csv_parser csv_{};
  CsvRow row_;
  State state_ = State::between_rows;
  bool after_return_ = false;
  std::size_t at_ = 0;  // offset of what is fed next
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
  for (const std::string& field : fields) {
    if (&field != fields.data()) line += ',';
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
