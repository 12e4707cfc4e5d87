#include "emulator/runtime/functions.h"

// Variables of kernels by the addresses that stand for them on the host.
namespace emulator {
namespace {

struct Place {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

cudaError_t find_variable(const void* symbol, Place& place) {
  return call(Wants::context, [&](Process& p, Lock&) {
    std::shared_ptr<CodeModule> code;
    std::string name;
    if (const cudaError_t e = find_symbol(p, symbol, code, name); e != cudaSuccess) return e;
    place.address = code->program->variable(name, current_gpu(p), &place.bytes);
    return place.address == 0 ? cudaErrorInvalidSymbol : cudaSuccess;
  });
}

/// The address of `count` bytes at `offset` of the variable.
cudaError_t find_part(const void* symbol, std::size_t count, std::size_t offset, void*& address) {
  Place place;
  if (const cudaError_t e = find_variable(symbol, place); e != cudaSuccess) return e;
  if (offset > place.bytes || count > place.bytes - offset)
    return last_error() = cudaErrorInvalidValue;
  address = reinterpret_cast<void*>(place.address + offset);
  return cudaSuccess;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  Place place;
  const cudaError_t error = find_variable(symbol, place);
  if (error != cudaSuccess) return error;
  if (address == nullptr) return last_error() = cudaErrorInvalidValue;
  *address = reinterpret_cast<void*>(place.address);
  return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  Place place;
  const cudaError_t error = find_variable(symbol, place);
  if (error != cudaSuccess) return error;
  if (bytes == nullptr) return last_error() = cudaErrorInvalidValue;
  *bytes = place.bytes;
  return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
  void* to = nullptr;
  const cudaError_t error = find_part(symbol, count, offset, to);
  return error == cudaSuccess ? cudaMemcpy(to, from, count, kind) : error;
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  void* to = nullptr;
  const cudaError_t error = find_part(symbol, count, offset, to);
  return error == cudaSuccess ? cudaMemcpyAsync(to, from, count, kind, stream) : error;
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind) {
  void* from = nullptr;
  const cudaError_t error = find_part(symbol, count, offset, from);
  return error == cudaSuccess ? cudaMemcpy(to, from, count, kind) : error;
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  void* from = nullptr;
  const cudaError_t error = find_part(symbol, count, offset, from);
  return error == cudaSuccess ? cudaMemcpyAsync(to, from, count, kind, stream) : error;
}
