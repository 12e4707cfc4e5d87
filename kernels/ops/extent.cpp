#include "kernels/ops/extent.h"

#include <cctype>
#include <charconv>
#include <string>

#include "kernels/core/status.h"

namespace assay {
namespace {

/// Reads an expression from left to right. Each rule takes what belongs to it.
class Reader {
 public:
  Reader(std::string_view text, const Params& params) : text_(text), params_(params) {}

  std::int64_t all() {
    const std::int64_t value = sum();
    skip_spaces();
    if (at_ != text_.size()) throw wrong("it goes on after its end");
    if (value < 0) throw not_applicable("is below 0");
    return value;
  }

 private:
  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      if (takes("+")) {
        value = checked(__builtin_add_overflow(value, product(), &result_));
      } else if (takes("-")) {
        value = checked(__builtin_sub_overflow(value, product(), &result_));
      } else {
        return value;
      }
    }
  }

  std::int64_t product() {
    std::int64_t value = factor();
    for (;;) {
      if (takes("//")) {
        const std::int64_t divisor = factor();
        if (divisor == 0 || value % divisor != 0) throw not_applicable("leaves a rest");
        value /= divisor;
      } else if (takes("*")) {
        value = checked(__builtin_mul_overflow(value, factor(), &result_));
      } else {
        return value;
      }
    }
  }

  std::int64_t factor() {
    skip_spaces();
    if (takes("(")) {
      const std::int64_t value = sum();
      if (!takes(")")) throw wrong("a parenthesis is not closed");
      return value;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) throw wrong("a number or a name is missing");
    if (std::isdigit(static_cast<unsigned char>(word.front())) == 0) return value_of(word);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) throw wrong("no number");
    return number;
  }

  std::int64_t value_of(std::string_view name) const {
    const ParamValue* value = params_.find(name);
    const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    if (number == nullptr) throw wrong("there is no parameter '" + std::string(name) + "'");
    return *number;
  }

  bool takes(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  std::int64_t checked(bool overflows) const {
    if (overflows) throw not_applicable("is beyond 2^63");
    return result_;
  }
  NotApplicable not_applicable(const std::string& why) const {
    return NotApplicable{"the extent '" + std::string(text_) + "' " + why + " at " +
                         params_.text()};
  }
  UsageError wrong(const std::string& why) const {
    return UsageError{"the extent '" + std::string(text_) + "': " + why};
  }

  std::string_view text_;
  const Params& params_;
  std::size_t at_ = 0;
  std::int64_t result_ = 0;
};

}  // namespace

std::int64_t evaluate_extent(std::string_view text, const Params& params) {
  return Reader(text, params).all();
}

}  // namespace assay
