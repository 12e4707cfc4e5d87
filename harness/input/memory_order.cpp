#include "harness/input/memory_order.h"

#include <algorithm>

#include "kernels/core/strides.h"

namespace assay::input {

MemoryOrder::MemoryOrder(const TensorSpec& spec) : run_elements_(spec.elements()) {
  if (spec.is_dense() || spec.elements() == 0) return;
  const Strides dense = strides_of_rows(spec.shape, spec.row_elements());
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.strides[i] != 0) outer_.push_back({spec.shape[i], spec.strides[i], dense[i]});
  }
  run_elements_ = 1;
  while (!outer_.empty() && outer_.back().stride == run_elements_ &&
         outer_.back().dense_stride == run_elements_) {
    run_elements_ *= outer_.back().count;
    outer_.pop_back();
  }
  std::ranges::stable_sort(outer_, std::ranges::greater{}, &Extent::stride);
  runs_ = spec.distinct_elements() / run_elements_;
}

MemoryOrder::Run MemoryOrder::run(std::int64_t place) const {
  Run at;
  for (std::size_t i = outer_.size(); i-- > 0; place /= outer_[i].count) {
    const std::int64_t index = place % outer_[i].count;
    at.element += index * outer_[i].dense_stride;
    at.offset += index * outer_[i].stride;
  }
  return at;
}

void MemoryOrder::list(std::int64_t first, std::span<Run> to) const {
  const Extent inner = outer_.empty() ? Extent{1, 0, 0} : outer_.back();
  for (std::size_t i = 0; i < to.size();) {
    const std::int64_t place = first + static_cast<std::int64_t>(i);
    Run at = run(place);
    const auto rest = static_cast<std::size_t>(inner.count - place % inner.count);
    const std::size_t end = std::min(to.size(), i + rest);
    for (; i < end; ++i) {
      to[i] = at;
      at.element += inner.dense_stride;
      at.offset += inner.stride;
    }
  }
}

}  // namespace assay::input
