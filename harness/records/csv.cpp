#include "harness/records/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "harness/records/formula_guard.h"

namespace assay {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr bool is_special(char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; }

/// Limits far beyond any table of Assay's; a larger file is an accident or an attack. A row is
/// never longer than a worker's answer line.
constexpr std::size_t max_fields = 1000;
constexpr std::size_t max_row_bytes = std::size_t{64} << 20;

/// Number of line ends; CR LF counts once.
std::size_t line_ends(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_both = text[i] == '\n' && i > 0 && text[i - 1] == '\r';
    if ((text[i] == '\n' || text[i] == '\r') && !ends_both) ++count;
  }
  return count;
}

/// Parses text with libcsv and tracks the positions of rows and fields, which libcsv does not.
class Parser {
 public:
  Parser(std::string_view name, const std::function<void(const CsvRow&)>& visit)
      : name_(name), visit_(visit) {
    // Empty lines are reported too, so that they can be counted.
    if (csv_init(&csv_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0) throw std::bad_alloc();
    // Grows in large steps: with libcsv's 128 bytes a long field would be copied a million times.
    csv_set_blk_size(&csv_, std::size_t{1} << 20);
    csv_set_space_func(&csv_, [](unsigned char) { return 0; });  // spaces are part of a field
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { csv_free(&csv_); }

  /// Counts bytes before the first part.
  void skip(std::size_t bytes) { part_start_ = row_start_ = field_start_ = bytes; }

  /// Parses the next part of the text; parts may be cut anywhere.
  void take(std::string_view part) {
    if (part_start_ - row_start_ > max_row_bytes) fail(row_start_, "a row of more than 64 MiB");
    part_ = part;
    const std::size_t taken = csv_parse(&csv_, part.data(), part.size(), on_field, on_row, this);
    if (thrown_) std::rethrow_exception(thrown_);
    if (taken < part.size()) {
      if (csv_error(&csv_) != CSV_EPARSE) throw std::bad_alloc();
      fail(part_start_ + taken, part[taken] == '"' ? "a quote inside a field that is not quoted"
                                                   : "text after the closing quote of a field");
    }
    is_quoted_ = is_quoted();
    part_start_ += part.size();
    part_ = {};
  }

  void end() {
    if (csv_fini(&csv_, on_field, on_row, this) != 0) {
      fail(field_start_, "the quoted field that begins here is never closed");
    }
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  /// True if the last field is quoted; it may have begun in an earlier part.
  bool is_quoted() const {
    if (field_start_ < part_start_) return is_quoted_;
    const std::size_t at = field_start_ - part_start_;
    return at < part_.size() && part_[at] == '"';
  }

  /// Reuses the strings of earlier rows and their memory.
  void take_field(std::string_view text) {
    if (fields_ == max_fields) {
      fail(field_start_, "a row of more than " + std::to_string(max_fields) + " fields");
    }
    if (fields_ == row_.fields.size()) {
      row_.fields.emplace_back();
      row_.columns.emplace_back();
    }
    if (fields_ == 0) row_.line = line_;
    row_.fields[fields_] = text.starts_with('\'') ? unguarded(text) : text;
    row_.columns[fields_] = field_start_ - row_start_ + 1;
    ++fields_;
    if (is_quoted()) {
      // Adds the two enclosing quotes, and each inner quote twice.
      field_start_ += 2 + static_cast<std::size_t>(std::ranges::count(text, '"'));
      line_ += line_ends(text);
    }
    field_start_ += text.size() + 1;  // with the comma or line end behind it
  }

  /// `end` is the byte of a line end, or negative at the end of the text.
  void take_row_end(int end) {
    const bool is_empty = fields_ == 0;
    if (!is_empty) {
      row_.fields.resize(fields_);
      row_.columns.resize(fields_);
      row_.begin = row_start_;
      row_.end = field_start_ - 1;
      visit_(row_);
      fields_ = 0;
    } else {
      ++field_start_;
    }
    row_start_ = field_start_;
    if (end != '\n' || !is_empty || !after_return_) ++line_;  // CR LF is one line end
    after_return_ = end == '\r';
  }

  [[noreturn]] void fail(std::size_t offset, std::string_view why) const {
    throw csv_error(name_, line_, offset - row_start_ + 1, why);
  }

  /// Keeps the first exception of `step`: none may pass through libcsv.
  template <class Step>
  void guard(Step&& step) {
    if (thrown_) return;
    try {
      step();
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }

  static void on_field(void* data, std::size_t length, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.guard([&] { parser.take_field({static_cast<const char*>(data), length}); });
  }

  static void on_row(int end, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.guard([&] { parser.take_row_end(end); });
  }

  std::string_view name_;
  const std::function<void(const CsvRow&)>& visit_;
  csv_parser csv_{};
  std::exception_ptr thrown_;
  CsvRow row_;
  std::size_t fields_ = 0;  // complete fields of the row
  std::size_t line_ = 1;
  bool after_return_ = false;
  // Offsets in the text, and the state of a field that began in an earlier part.
  std::string_view part_;
  std::size_t part_start_ = 0;
  std::size_t row_start_ = 0;
  std::size_t field_start_ = 0;
  bool is_quoted_ = false;
};

}  // namespace

void each_csv_row(std::istream& text, std::string_view name,
                  const std::function<void(const CsvRow&)>& visit) {
  Parser parser(name, visit);
  std::vector<char> block(std::size_t{1} << 16);
  for (bool first = true; text; first = false) {
    text.read(block.data(), static_cast<std::streamsize>(block.size()));
    std::string_view part(block.data(), static_cast<std::size_t>(text.gcount()));
    if (first && part.starts_with(byte_order_mark)) {
      part.remove_prefix(byte_order_mark.size());
      parser.skip(byte_order_mark.size());
    }
    parser.take(part);
  }
  // A failing disk, or a folder, which opens like a file.
  if (text.bad()) throw UsageError(std::string(name) + ": cannot be read");
  parser.end();
}

std::vector<CsvRow> read_csv(std::istream& text, std::string_view name) {
  std::vector<CsvRow> rows;
  each_csv_row(text, name, [&](const CsvRow& row) { rows.push_back(row); });
  return rows;
}

UsageError csv_error(std::string_view name, std::size_t line, std::size_t column,
                     std::string_view why) {
  return UsageError(fmt::format("{}:{}:{}: {}", name, line, column, why));
}

UsageError wrong_width(std::string_view name, const CsvRow& row, std::size_t width) {
  return csv_error(name, row.line, row.columns.back(),
                   fmt::format("{} fields where the header has {}", row.fields.size(), width));
}

std::string csv_line(std::span<const std::string> fields) {
  // Quotes a single empty field, since an empty line is no record.
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
