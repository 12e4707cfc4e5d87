#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "kernels/cpu/map.h"
#include "kernels/device/element_rows.h"

namespace assay::cpu {
namespace {

struct Extents {
  explicit Extents(const Shape& shape) : outer(shape[0]), n(shape[1]), inner(shape[2]) {}
  std::int64_t outer;
  std::int64_t n;
  std::int64_t inner;
};

/// Elements of the rows that are worked on at once: short ones would each be a loop of their own.
constexpr std::int64_t run_elements = 1024;

/// An operand of (outer, n, inner), or one of (outer, inner) that is repeated along n.
template <class X>
struct Operand {
  const X* elements;
  bool is_repeated;
};

/// Rows of an operand that follow each other, as a thread reads them.
template <class X>
class RowsOf {
 public:
  explicit RowsOf(Operand<X> operand) : operand_(operand) {}

  /// Before rows of matrix `outer`: lays out the repeated row as often as `rows` says.
  void begin(const Extents& extents, std::int64_t outer, std::int64_t rows) {
    if (!operand_.is_repeated) return;
    const X* const row = operand_.elements + outer * extents.inner;
    repeated_ = rows == 1 ? row : copies_.data();
    if (rows == 1) return;
    // Twice as many copies each time: single elements, of 16 bits above all, take long to store.
    std::copy_n(row, extents.inner, copies_.data());
    const std::int64_t all = rows * extents.inner;
    for (std::int64_t laid = extents.inner; laid < all; laid *= 2)
      std::copy_n(copies_.data(), std::min(laid, all - laid), copies_.data() + laid);
  }

  /// From this row of all on.
  const X* from(const Extents& extents, std::int64_t row) const {
    return operand_.is_repeated ? repeated_ : operand_.elements + row * extents.inner;
  }

 private:
  Operand<X> operand_;
  const X* repeated_ = nullptr;
  std::array<X, static_cast<std::size_t>(run_elements)> copies_;
};

template <class Y, class F, class... X>
void map_run(bool streams, F f, Y* y, std::int64_t n, const X*... x) {
  if (streams) {
    stream_row<Y>(f, y, n, x...);
  } else {
    map_row<Y>(f, y, n, x...);
  }
}

/// Runs f over the rows [first, first + count) of all, some of them at once.
template <class Y, class F, class... X>
void map_some(const Extents& extents, std::int64_t first, std::int64_t count, bool streams, F f,
              Y* y, Operand<X>... x) {
  const std::int64_t at_once = std::max<std::int64_t>(1, run_elements / extents.inner);
  std::tuple<RowsOf<X>...> operands(x...);
  for (std::int64_t row = first; row < first + count;) {
    const std::int64_t outer = row / extents.n;
    const std::int64_t end = std::min(first + count, (outer + 1) * extents.n);
    const std::int64_t most = std::min(at_once, end - row);
    std::apply([&](auto&... one) { (one.begin(extents, outer, most), ...); }, operands);
    while (row < end) {
      const std::int64_t some = std::min(at_once, end - row);
      std::apply(
          [&](const auto&... one) {
            map_run(streams, f, y + row * extents.inner, some * extents.inner,
                    one.from(extents, row)...);
          },
          operands);
      row += some;
    }
  }
}

/// Divides the elements of a long row among all threads.
template <class Y, class F, class... X>
void map_long_row(const Extents& extents, std::int64_t row, bool streams, F f, Y* y,
                  Operand<X>... x) {
  constexpr std::int64_t bytes = sizeof(Y) + (sizeof(X) + ...);
  const auto from = [=](const auto& operand) {
    const std::int64_t of_operand = operand.is_repeated ? row / extents.n : row;
    return operand.elements + of_operand * extents.inner;
  };
  parallel_blocks(extents.inner, bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
    map_run(streams, f, y + row * extents.inner + first, count, (from(x) + first)...);
    if (streams) end_streaming();
  });
}

template <class Y, class F, class... X>
void map_repeated(const Extents& extents, F f, Y* y, Operand<X>... x) {
  constexpr std::int64_t bytes = sizeof(Y) + (sizeof(X) + ...);
  const std::int64_t rows = extents.outer * extents.n;
  const std::int64_t row_bytes = extents.inner * bytes;
  const bool streams = exceeds_caches(rows * row_bytes);
  if (rows < 2 * omp_get_max_threads() && row_bytes > parallel_bytes) {
    for (std::int64_t row = 0; row < rows; ++row) map_long_row(extents, row, streams, f, y, x...);
    return;
  }
  parallel_blocks(rows, row_bytes, [=](std::int64_t, std::int64_t first, std::int64_t count) {
    map_some(extents, first, count, streams, f, y, x...);
    if (streams) end_streaming();
  });
}

struct BroadcastMapper : Mapper {
  template <class Y, class F, class... X>
  static std::unique_ptr<Kernel> kernel_of(F f, const OpInstance& op, const Binding& binding,
                                           const X*... x) {
    std::size_t input = 0;
    const auto operand = [&]<class T>(const T* elements) {
      return Operand<T>{elements, op.signature.inputs[input++].shape.size() == 2};
    };
    const std::tuple<Operand<X>...> operands{operand(x)...};
    return std::make_unique<FunctionKernel>(
        loop_text, [=, extents = Extents(op.signature.outputs[0].shape),
                    y = static_cast<Y*>(binding.outputs[0])] {
          std::apply([&](auto... one) { map_repeated(extents, f, y, one...); }, operands);
        });
  }
};

}  // namespace

std::span<const KernelRow> broadcast_kernels() { return broadcast_rows<BroadcastMapper>; }

}  // namespace assay::cpu
