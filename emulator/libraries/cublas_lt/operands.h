#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/libraries/cublas_lt/rules.h"

// Matrices on their way between the GPU's memory and the loops that multiply them.
namespace emulator::cublas_lt {

/// Reads elements of `type` as T: float for floats of up to 32 bits, double, or int32.
template <class T>
void load(const std::byte* from, cudaDataType_t type, std::size_t count, T* to);

/// Rounds and stores. Integers and 8-bit floats saturate.
void store(double value, cudaDataType_t type, std::byte* to);

/// Rounds to `type` and back.
double rounded(double value, cudaDataType_t type);

/// One matrix of a batch in the GPU's memory. Each column is looked up on its own if there is
/// padding between them: padding may hold anything and be read by nobody.
struct MatrixInMemory {
  const MatrixLayout& layout;
  std::uintptr_t address;
  int gpu;
  std::string what;  // begins a fault's text

  /// Throws Fault if a byte cannot be read. Columns lie one after the other in the result.
  template <class T>
  std::vector<T> read() const;
  /// Addresses of the columns, for writing. Throws Fault.
  std::vector<std::byte*> columns_to_write() const;
};

/// A matrix with 64 rows of T beside each other for each column, so that loops run across rows.
template <class T>
struct Tiles {
  std::int64_t rows, terms;
  std::vector<T> values;  // [tile][term][64]; missing rows are 0

  std::int64_t count() const { return (rows + 63) / 64; }
  const T* tile(std::int64_t t) const { return values.data() + t * terms * 64; }
};

/// `elements` holds op(A)'s matrix in memory order, with `rows` or, transposed, `terms` elements a
/// column.
template <class T>
Tiles<T> tiled(const std::vector<T>& elements, std::int64_t rows, std::int64_t terms,
               bool is_transposed);

/// Columns of op(B), each contiguous: [column][term].
template <class T>
std::vector<T> in_columns(std::vector<T> elements, std::int64_t terms, std::int64_t columns,
                          bool is_transposed);

}  // namespace emulator::cublas_lt
