#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/core/status.h"

namespace assay::remote {

/// Requests from the process that drives devices to one that serves them.
enum class Command : unsigned char {
  describe,
  allocate,
  release,
  upload,
  download,
  upload_pieces,
  download_pieces,
  fill,
  free_memory,
  condition,
  create_stream,
  end_stream,
  synchronize,
  flush_caches,
  prepare,
  connect,
  end_communicator,
  prepare_collective,
  launch,
  launch_and_fill,
  end_kernel,
  time_together,
  time,
  end_timed_work,
  holder,
  stream_uuid,
  settle,
  process_state,
  leave,
};

/// Returns true for commands with an answer. Errors of others come with the next answer.
constexpr bool wants_answer(Command command) {
  switch (command) {
    case Command::release:
    case Command::upload:
    case Command::upload_pieces:
    case Command::fill:
    case Command::end_stream:
    case Command::flush_caches:
    case Command::launch:
    case Command::end_kernel:
    case Command::end_timed_work:
    case Command::end_communicator:
    case Command::leave:
      return false;
    default:
      return true;
  }
}

/// Where a piece of a transfer is, from the address of the whole on.
struct Place {
  std::size_t offset;
  std::size_t bytes;
};

/// Writes a message. Numbers have the machine's format: a job runs on one kind of machine.
class Writer {
 public:
  Writer() = default;
  explicit Writer(Command command) { put(command); }

  template <class T>
  requires std::is_trivially_copyable_v<T> Writer& put(const T& value) {
    return put(std::as_bytes(std::span(&value, 1)));
  }
  Writer& put(std::span<const std::byte> raw) {
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
    return *this;
  }
  template <class T>
  Writer& put(const std::optional<T>& value) {
    return put(value.has_value()).put(value.value_or(T{}));
  }
  Writer& put(const std::string& text) {
    put(text.size());
    return put(std::as_bytes(std::span(text)));
  }
  template <class T>
  Writer& put(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
    return *this;
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Of a message that was begun with one.
  Command command() const { return static_cast<Command>(bytes_.front()); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads a message. Throws DeviceError(internal) if it is too short.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    const auto raw = take(sizeof(T));
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  std::string text() {
    const auto raw = take(get<std::size_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  template <class T>
  std::optional<T> optional() {
    const bool is_there = get<bool>();
    const T value = get<T>();
    return is_there ? std::optional<T>(value) : std::nullopt;
  }
  template <class T>
  std::vector<T> list() {
    std::vector<T> values;
    const auto count = get<std::size_t>();
    for (std::size_t i = 0; i < count; ++i) values.push_back(get<T>());
    return values;
  }
  std::span<const std::byte> rest() const { return rest_; }
  std::span<const std::byte> raw(std::size_t bytes) { return take(bytes); }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      throw DeviceError(Failure::internal, "remote: a message is shorter than it should be");
    }
    const auto raw = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return raw;
  }
  std::span<const std::byte> rest_;
};

}  // namespace assay::remote
