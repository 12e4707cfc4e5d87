#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

// Ops that choose among their operands: their results are elements, never rounded.
namespace assay::reference {
namespace {

bool is_nan(double x) { return std::isnan(x); }

template <class T>
bool before(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    return wide(a) < wide(b);
  }
}

template <class T>
bool not_a_number(T x) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return is_nan(wide(x));
  }
}

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    if (not_a_number(a)) return a;
    if (not_a_number(b)) return b;
    return before(b, a) ? b : a;
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    if (not_a_number(a)) return a;
    if (not_a_number(b)) return b;
    return before(a, b) ? b : a;
  }
};

struct Less {
  template <class T>
  std::uint8_t operator()(T a, T b) const {
    return before(a, b) ? 1 : 0;
  }
};

struct Equal {
  template <class T>
  std::uint8_t operator()(T a, T b) const {
    return !not_a_number(a) && !not_a_number(b) && !before(a, b) && !before(b, a) ? 1 : 0;
  }
};

struct Relu {
  template <class T>
  T operator()(T x) const {
    return not_a_number(x) || before(T{}, x) ? x : T{};
  }
};

/// y[i] = f(x[i], ...) of elements as they are; f says of what type.
template <class F, int Inputs>
Reference chosen(const OpInstance& op) {
  return visit_dtype(op.dtype, []<class T>(std::type_identity<T>) {
    return Reference{.bits = [](const Problem& p, std::span<const double>, std::int64_t first,
                                std::span<std::byte> out) {
      const T* a = p.input<T>(0).data() + first;
      if constexpr (Inputs == 1) {
        for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) store(out, i, F{}(a[i]));
      } else {
        const T* b = p.input<T>(1).data() + first;
        using Y = decltype(F{}(T{}, T{}));
        for (std::size_t i = 0; i < out.size() / sizeof(Y); ++i) store(out, i, F{}(a[i], b[i]));
      }
    }};
  });
}

/// Whole elements, by their size alone.
std::span<const std::byte> element(const Problem& p, std::size_t input, std::size_t i) {
  const std::size_t bytes = size_bytes(p.op.dtype);
  return p.ranks[0][input].bytes().subspan(i * bytes, bytes);
}

template <class Choose>
void move_elements(const Problem& p, std::span<std::byte> out, const Choose& choose) {
  const std::size_t bytes = size_bytes(p.op.dtype);
  for (std::size_t i = 0; i < out.size() / bytes; ++i) {
    const auto from = choose(i);
    std::copy(from.begin(), from.end(), out.begin() + static_cast<std::ptrdiff_t>(i * bytes));
  }
}

void where_bits(const Problem& p, std::span<const double>, std::int64_t first,
                std::span<std::byte> out) {
  const auto mask = p.input<std::uint8_t>(0);
  move_elements(p, out, [&](std::size_t i) {
    const std::size_t at = static_cast<std::size_t>(first) + i;
    return element(p, mask[at] != 0 ? 1 : 2, at);
  });
}

void fill_bits(const Problem& p, std::span<const double>, std::int64_t, std::span<std::byte> out) {
  move_elements(p, out, [&](std::size_t) { return element(p, 0, 0); });
}

void copy_bits(const Problem& p, std::span<const double>, std::int64_t first,
               std::span<std::byte> out) {
  move_elements(p, out,
                [&](std::size_t i) { return element(p, 0, static_cast<std::size_t>(first) + i); });
}

Reference where(const OpInstance&) { return {.bits = where_bits}; }
Reference fill(const OpInstance&) { return {.bits = fill_bits}; }
Reference copy(const OpInstance&) { return {.bits = copy_bits}; }

constexpr ReferenceRow rows[] = {
    {"min", chosen<Minimum, 2>},
    {"max", chosen<Maximum, 2>},
    {"less", chosen<Less, 2>},
    {"equal", chosen<Equal, 2>},
    {"relu", chosen<Relu, 1>},
    {"where", where},
    {"fill", fill},
    {"copy", copy},
};

}  // namespace

std::span<const ReferenceRow> comparison_references() { return rows; }

}  // namespace assay::reference
