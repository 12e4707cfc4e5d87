#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/providers/assay_kernel.h"

// Ops of a library as kernels of others, for `--kernels NAME`. What the file of a
// library says of it is a list of offers; the rest of assay_kernel.h is here.
namespace assay::libraries {

/// A problem for which the library has no call: its row is a skip with this text.
struct NotMine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Shape = std::vector<std::int64_t>;

/// Problem of a kernel. The tensors are contiguous.
class Problem {
 public:
  /// Throws NotMine for rows that lie apart.
  explicit Problem(const assay_problem& given);

  std::string_view op() const { return given_.op; }
  std::string_view dtype() const { return given_.dtype; }
  const Shape& input(std::size_t i) const { return inputs_.at(i); }
  const Shape& output() const { return outputs_.at(0); }
  /// "f32"
  std::string_view input_dtype(std::size_t i) const { return given_.inputs[i].dtype; }
  std::string_view output_dtype() const { return given_.outputs[0].dtype; }
  bool is_on_gpu() const { return given_.device_kind == std::string_view("cuda"); }
  int device_index() const { return given_.device_index; }
  /// A parameter's text, "relu"; empty if the op has no such one.
  std::string_view word(std::string_view parameter) const;

 private:
  const assay_problem& given_;
  std::vector<Shape> inputs_;
  std::vector<Shape> outputs_;
};

/// Number of elements.
std::int64_t elements(const Shape& shape);
/// An extent, or a number of elements, as most libraries count them. Throws NotMine.
int extent(std::int64_t n);

/// A launch by the library. `stream` as in assay_kernel.h.
using Launch = std::function<void(const void* const* inputs, void* const* outputs, void* stream)>;

struct Made {
  Launch launch;
  std::string algorithm;  // for the column `implementation`; may be empty
};

/// The call for f32 or f64, by the problem's dtype.
template <Made (*f32)(const Problem&), Made (*f64)(const Problem&)>
Made of_dtype(const Problem& problem) {
  return problem.dtype() == "f32" ? f32(problem) : f64(problem);
}

struct Offer {
  std::string op;
  std::string dtypes;  // "f32,f64"
  std::function<Made(const Problem&)> make;
};

struct Library {
  std::string name;  // "OpenBLAS 0.3.21"
  std::vector<Offer> offers;
  bool on_cpu = true;
  bool on_gpus = false;
};

/// Text of the last failure.
const char* last_error();

/// The table of the one library of this module, which `open` makes once. Null if it throws, for the
/// reason that assay_refusal() tells.
const assay_kernel_table* table_of(Library (*open)());

}  // namespace assay::libraries
