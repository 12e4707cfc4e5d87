#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/device/backend.h"

// Devices that read one element of an input as another number.
namespace assay::felt {

/// Number that a kernel reads in place of an element.
enum class Misread {
  neighbour,  // the element behind it; of the last one, the one before
  neutral,    // the number with which the op gives what it would without the element
  stale,      // what the same element was in the launch before
};
inline constexpr Misread misreads[] = {Misread::neighbour, Misread::neutral, Misread::stale};
std::string_view name(Misread misread);

/// The element that launches misread, until it is changed.
struct Misreading {
  bool is_on = false;
  int rank = 0;
  int input = 0;
  std::int64_t element = 0;
  Misread as = Misread::neighbour;
  std::vector<std::byte> before = {};  // the element in the last launch; empty: there was none
};

/// The devices of a backend of host memory, whose launches misread what `misreading` says. It must
/// outlive them.
std::unique_ptr<Backend> misreading_backend(std::unique_ptr<Backend> real, Misreading& misreading);

}  // namespace assay::felt
