#include "kernels/ops/borders.h"

#include <algorithm>

namespace assay {

std::vector<std::int64_t> borders(std::int64_t n) {
  /// Widths of vectors, cache lines, warps, tiles and blocks of threads.
  constexpr std::int64_t widths[] = {8, 16, 32, 64, 256, 1024};
  std::vector<std::int64_t> indices{0, 1, n - 2, n - 1};
  // Hardly anybody shares a short line among more than two threads.
  constexpr std::int64_t shared_by_many = 256;
  for (std::int64_t parts = 2; parts <= (n < shared_by_many ? 2 : 4); ++parts) {
    for (std::int64_t part = 1; part < parts; ++part) {
      indices.push_back(n * part / parts - 1);
      indices.push_back(n * part / parts);
    }
  }
  for (const std::int64_t width : widths) {
    for (const std::int64_t border : {width, n / width * width}) {
      indices.push_back(border - 1);
      indices.push_back(border);
    }
  }
  std::erase_if(indices, [&](std::int64_t index) { return index < 0 || index >= n; });
  std::ranges::sort(indices);
  // No std::ranges::unique: Clang 14, which builds the fuzz targets, does not take its subrange.
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

std::vector<std::int64_t> border_elements(const TensorSpec& spec) {
  const std::int64_t n = spec.elements();
  std::vector<std::int64_t> elements = borders(n);
  const std::int64_t row = spec.row_elements();
  if (row > 0 && row < n) {
    for (const std::int64_t column : borders(row)) {
      elements.push_back(column);
      elements.push_back(n - row + column);
    }
  }
  // Adds those of the first line and of the last.
  const std::int64_t step = spec.line_step();
  for (const std::int64_t place : step > 1 ? borders(spec.line_elements()) : borders(0)) {
    elements.push_back(place * step);
    elements.push_back(n - 1 - (spec.line_elements() - 1 - place) * step);
  }
  std::ranges::sort(elements);
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return elements;
}

LinePlaces::LinePlaces(const TensorSpec& spec) : own_(borders(spec.line_elements())) {
  if (spec.line_elements() == spec.elements()) return;
  for (const std::int64_t element : border_elements(spec)) {
    const std::int64_t place = spec.place_of(element);
    if (std::ranges::binary_search(own_, place)) continue;
    Others& others = others_[spec.line_of(element)];
    std::vector<std::int64_t>& of_parity = element % 2 == 0 ? others.even : others.odd;
    of_parity.push_back(place);
    max_others_ = std::max(max_others_, std::ssize(of_parity));
  }
}

std::vector<std::int64_t> LinePlaces::of(std::int64_t line) const {
  std::vector<std::int64_t> places = own_;
  if (const auto found = others_.find(line); found != others_.end()) {
    for (const auto* others : {&found->second.even, &found->second.odd}) {
      places.insert(places.end(), others->begin(), others->end());
    }
  }
  return places;
}

std::int64_t LinePlaces::place(std::int64_t line, std::int64_t turn) const {
  const std::int64_t own = std::ssize(own_);
  const std::int64_t at = (turn + line) % turns();
  if (at < own) return own_[static_cast<std::size_t>(at)];
  if (const auto found = others_.find(line); found != others_.end()) {
    // Between the two kinds lies a turn of neither: no element of one is beside one of the other.
    const auto& [even, odd] = found->second;
    const std::int64_t of_even = at - own;
    const std::int64_t of_odd = of_even - max_others_ - 1;
    if (of_even < std::ssize(even)) return even[static_cast<std::size_t>(of_even)];
    if (of_odd >= 0 && of_odd < std::ssize(odd)) return odd[static_cast<std::size_t>(of_odd)];
  }
  return own_[static_cast<std::size_t>((at + own / 2) % own)];  // anywhere but where a neighbour is
}

}  // namespace assay
