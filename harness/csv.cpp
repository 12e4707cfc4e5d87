#include "harness/csv.h"

#include <csv.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "kernels/base/status.h"

namespace assay {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
/// The bytes that libcsv acts upon. Each is fed alone, so that its callbacks tell where they are.
constexpr std::string_view special = ",\"\r\n";

/// Drives libcsv, which splits and unquotes, and keeps the positions, which it does not tell.
class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name) {
    if (csv_init(&csv_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    csv_set_space_func(&csv_, [](unsigned char) { return 0; });  // spaces are part of a field
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { csv_free(&csv_); }

  std::vector<CsvRow> parse() {
    while (at_ < text_.size()) {
      const bool line_end = text_[at_] == '\r' || text_[at_] == '\n';
      if (!in_row_ && !line_end) begin_row();
      feed(special.find(text_[at_]) == std::string_view::npos
               ? std::min(text_.find_first_of(special, at_), text_.size()) - at_
               : 1);
    }
    if (csv_fini(&csv_, on_field, on_row, this) != 0) {
      fail(field_line_, field_start_, "the quoted field that begins here is never closed");
    }
    return std::move(rows_);
  }

 private:
  void begin_row() {
    in_row_ = true;
    row_.line = line_;
    row_start_ = at_;
    begin_field(at_);
  }

  void begin_field(std::size_t start) {
    field_start_ = start;
    field_line_ = line_;
  }

  void feed(std::size_t length) {
    const std::size_t taken = csv_parse(&csv_, text_.data() + at_, length, on_field, on_row, this);
    if (taken != length) {
      if (csv_error(&csv_) != CSV_EPARSE) throw std::bad_alloc();
      at_ += taken;
      fail(line_, at_,
           text_[at_] == '"' ? "a quote inside a field that is not quoted"
                             : "text after the closing quote of a field");
    }
    const bool pair = text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
    if (length == 1 && (text_[at_] == '\n' || (text_[at_] == '\r' && !pair))) ++line_;
    at_ += length;
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
    auto& parser = *static_cast<Parser*>(self);
    parser.rows_.push_back(std::exchange(parser.row_, {}));
    parser.in_row_ = false;
  }

  std::string_view text_;
  std::string_view name_;
  csv_parser csv_{};
  std::vector<CsvRow> rows_;
  CsvRow row_;
  bool in_row_ = false;
  std::size_t at_ = 0;  // offset of what is fed next
  std::size_t line_ = 1;
  std::size_t row_start_ = 0;
  std::size_t field_start_ = 0;
  std::size_t field_line_ = 1;
};

}  // namespace

std::vector<CsvRow> read_csv(std::istream& text, std::string_view name) {
  const std::string all{std::istreambuf_iterator<char>(text), {}};
  std::string_view body = all;
  if (body.starts_with(byte_order_mark)) body.remove_prefix(byte_order_mark.size());
  return Parser(body, name).parse();
}

std::string csv_line(std::span<const std::string> fields) {
  // One empty field is quoted, since an empty line is no record.
  if (fields.size() == 1 && fields[0].empty()) return "\"\"";
  std::string line;
  for (const std::string& field : fields) {
    if (&field != fields.data()) line += ',';
    if (field.find_first_of(special) == std::string::npos) {
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
