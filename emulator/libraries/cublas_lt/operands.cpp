#include "emulator/libraries/cublas_lt/operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>

#include "emulator/numbers/number.h"
#include "emulator/runtime/work.h"

namespace emulator::cublas_lt {
namespace {

const FloatFormat& format_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
      return binary16;
    case CUDA_R_16BF:
      return bfloat16;
    case CUDA_R_8F_E4M3:
      return e4m3;
    case CUDA_R_8F_E5M2:
      return e5m2;
    default:
      throw std::logic_error("not a small float");
  }
}

template <class Stored, class T>
void load_plain(const std::byte* from, std::size_t count, T* to) {
  if constexpr (std::is_same_v<Stored, T>) {
    std::memcpy(to, from, count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      Stored value;
      std::memcpy(&value, from + i * sizeof value, sizeof value);
      to[i] = static_cast<T>(value);
    }
  }
}

template <class T>
void load_int8(const std::byte* from, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>((std::to_integer<int>(from[i]) ^ 0x80) - 0x80);
  }
}

/// Two elements of FP4 a byte, the first one in the low half: a sign and eight magnitudes.
void load_e2m1(const std::byte* from, std::size_t count, float* to) {
  constexpr float magnitudes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = std::to_integer<unsigned>(from[i / 2]) >> (i % 2 == 0 ? 0 : 4) & 15;
    to[i] = code >= 8 ? -magnitudes[code - 8] : magnitudes[code];
  }
}

template <class Integer>
Integer saturated(double value) {
  if (std::isnan(value)) return 0;
  const double whole = std::nearbyint(value);
  if (whole <= std::numeric_limits<Integer>::min()) return std::numeric_limits<Integer>::min();
  if (whole >= std::numeric_limits<Integer>::max()) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(whole);
}

template <class T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

template <class T>
void load(const std::byte* from, cudaDataType_t type, std::size_t count, T* to) {
  switch (type) {
    case CUDA_R_64F:
      return load_plain<double>(from, count, to);
    case CUDA_R_32F:
      return load_plain<float>(from, count, to);
    case CUDA_R_32I:
      return load_plain<std::int32_t>(from, count, to);
    case CUDA_R_8I:
      return load_int8(from, count, to);
    default:
      break;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (type == CUDA_R_4F_E2M1) return load_e2m1(from, count, to);
    const FloatFormat& format = format_of(type);
    if (size_bytes(type) == 2) {
      std::vector<std::uint16_t> codes(count);
      std::memcpy(codes.data(), from, count * 2);
      return decode(codes, format, to);
    }
    std::vector<std::uint8_t> codes(count);
    std::memcpy(codes.data(), from, count);
    return decode(codes, format, to);
  } else {
    std::vector<float> values(count);
    load<float>(from, type, count, values.data());
    std::ranges::transform(values, to, [](float v) { return static_cast<T>(v); });
  }
}

void store(double value, cudaDataType_t type, std::byte* to) {
  switch (type) {
    case CUDA_R_64F:
      return put(value, to);
    case CUDA_R_32F:
      return put(static_cast<float>(value), to);
    case CUDA_R_32I:
      return put(saturated<std::int32_t>(value), to);
    case CUDA_R_8I:
      return put(saturated<std::int8_t>(value), to);
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return put(static_cast<std::uint16_t>(encode(value, format_of(type))), to);
    default:
      return put(static_cast<std::uint8_t>(encode(value, format_of(type))), to);
  }
}

double rounded(double value, cudaDataType_t type) {
  std::byte bytes[8];
  store(value, type, bytes);
  double back = 0;
  load(bytes, type, 1, &back);
  return back;
}

template <class T>
std::vector<T> MatrixInMemory::read() const {
  const cudaDataType_t type = layout.data_type();
  const std::size_t bits = size_bits(type);
  const auto leading = static_cast<std::size_t>(layout.leading);
  std::vector<T> all(layout.rows * layout.cols);
  if (leading == layout.rows) {
    load(memory().view(address, all.size() * bits / 8, Access::read, gpu, what), type, all.size(),
         all.data());
    return all;
  }
  for (std::size_t column = 0; column < layout.cols; ++column) {
    load(memory().view(address + column * leading * bits / 8, layout.rows * bits / 8, Access::read,
                       gpu, what),
         type, layout.rows, all.data() + column * layout.rows);
  }
  return all;
}

std::vector<std::byte*> MatrixInMemory::columns_to_write() const {
  const std::size_t element = size_bytes(layout.data_type());
  const std::size_t step = static_cast<std::size_t>(layout.leading) * element;
  std::vector<std::byte*> columns(layout.cols);
  if (static_cast<std::size_t>(layout.leading) == layout.rows) {
    columns[0] =
        memory().view(address, layout.rows * layout.cols * element, Access::write, gpu, what);
    for (std::size_t j = 1; j < columns.size(); ++j) columns[j] = columns[0] + j * step;
    return columns;
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    columns[j] = memory().view(address + j * step, layout.rows * element, Access::write, gpu, what);
  }
  return columns;
}

template <class T>
Tiles<T> tiled(const std::vector<T>& elements, std::int64_t rows, std::int64_t terms,
               bool is_transposed) {
  Tiles<T> tiles{.rows = rows, .terms = terms, .values = {}};
  tiles.values.resize(static_cast<std::size_t>(tiles.count() * terms * 64));
  for (std::int64_t t = 0; t < tiles.count(); ++t) {
    T* const tile = tiles.values.data() + t * terms * 64;
    const std::int64_t here = std::min<std::int64_t>(64, rows - t * 64);
    if (is_transposed) {
      // Blocks of 16 terms: neither side then strides far.
      for (std::int64_t begin = 0; begin < terms; begin += 16) {
        const std::int64_t end = std::min(terms, begin + 16);
        for (std::int64_t i = 0; i < here; ++i) {
          const T* const row = elements.data() + (t * 64 + i) * terms;
          for (std::int64_t l = begin; l < end; ++l) tile[l * 64 + i] = row[l];
        }
      }
    } else {
      for (std::int64_t l = 0; l < terms; ++l) {
        std::copy_n(elements.data() + l * rows + t * 64, here, tile + l * 64);
      }
    }
  }
  return tiles;
}

template <class T>
std::vector<T> in_columns(std::vector<T> elements, std::int64_t terms, std::int64_t columns,
                          bool is_transposed) {
  if (!is_transposed) return elements;
  std::vector<T> turned(elements.size());
  for (std::int64_t l = 0; l < terms; ++l) {
    for (std::int64_t j = 0; j < columns; ++j) {
      turned[static_cast<std::size_t>(j * terms + l)] =
          elements[static_cast<std::size_t>(l * columns + j)];
    }
  }
  return turned;
}

template void load(const std::byte*, cudaDataType_t, std::size_t, float*);
template std::vector<float> MatrixInMemory::read() const;
template Tiles<float> tiled(const std::vector<float>&, std::int64_t, std::int64_t, bool);
template std::vector<float> in_columns(std::vector<float>, std::int64_t, std::int64_t, bool);
template void load(const std::byte*, cudaDataType_t, std::size_t, double*);
template std::vector<double> MatrixInMemory::read() const;
template Tiles<double> tiled(const std::vector<double>&, std::int64_t, std::int64_t, bool);
template std::vector<double> in_columns(std::vector<double>, std::int64_t, std::int64_t, bool);
template void load(const std::byte*, cudaDataType_t, std::size_t, std::int32_t*);
template std::vector<std::int32_t> MatrixInMemory::read() const;
template Tiles<std::int32_t> tiled(const std::vector<std::int32_t>&, std::int64_t, std::int64_t,
                                   bool);
template std::vector<std::int32_t> in_columns(std::vector<std::int32_t>, std::int64_t, std::int64_t,
                                              bool);

}  // namespace emulator::cublas_lt
