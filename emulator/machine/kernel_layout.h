#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/machine/function_code.h"

namespace emulator {

/// Lays out the shared and local memory of an entry of a module and of all that it calls.
class KernelLayout {
 public:
  KernelLayout(const ptx::Module& module, KernelCode& kernel) : module_(module), kernel_(kernel) {}

  /// The code of a function, which is still to be decoded if this is its first use.
  FunctionCode* function(const ptx::Function& function, int line);
  std::size_t shared_offset(const ptx::Variable& variable);
  const ptx::Module& module() const { return module_; }
  KernelCode& kernel() { return kernel_; }

 private:
  const ptx::Module& module_;
  KernelCode& kernel_;
  std::unordered_map<const ptx::Function*, FunctionCode*> functions_;
  std::unordered_map<std::string_view, std::size_t> shared_offsets_;
};

/// What a pointer to the function holds. No address that a kernel could read.
inline std::uint64_t function_address(const ptx::Function& function) {
  return reinterpret_cast<std::uintptr_t>(&function);
}

/// An address that a name stands for.
struct SymbolAddress {
  ptx::Space space;
  std::uint64_t value = 0;  // within shared, local and param space
  bool in_frame = false;    // a `.param` of a call, of each lane
  bool relocated = false;   // global and const: known for each GPU only
  bool on_stack = false;    // local memory of a function: known for each frame only
  std::size_t bytes = 0;
};

/// Places of a function's registers, constants and parameters.
class FunctionLayout {
 public:
  FunctionLayout(KernelLayout& kernel, FunctionCode& code);

  Place register_place(int index) const { return places_[static_cast<std::size_t>(index)]; }
  ptx::Type register_type(int index) const {
    return body_.registers[static_cast<std::size_t>(index)].type;
  }
  Place scratch() const { return {0, 0}; }  // 256 bytes that nobody reads
  Place carry();                            // the condition code of .cc
  Place special_place(std::size_t special, std::size_t bytes);
  Place constant(std::uint64_t bits, std::size_t bytes);
  SymbolAddress symbol(std::string_view name, int line);
  /// A register that holds the symbol's address plus `addend`. The symbol is not `in_frame`.
  Place address_of(const SymbolAddress& symbol, std::string_view name, std::int64_t addend,
                   std::size_t bytes);
  /// The code of a function that this one calls.
  FunctionCode* callee(const ptx::Function& function, int line) {
    return kernel_.function(function, line);
  }
  FunctionCode& code() { return code_; }
  const ptx::Body& body() const { return body_; }
  const ptx::Function& function() const { return function_; }
  const ptx::Module& module() const { return kernel_.module(); }

 private:
  bool is_entry() const { return function_.is_entry; }
  std::uint32_t reserve(std::size_t bytes);
  std::size_t add_local(const ptx::Variable& variable);
  void place_parameter(std::string_view name, std::size_t bytes, std::size_t alignment);

  KernelLayout& kernel_;
  FunctionCode& code_;
  const ptx::Function& function_;
  ptx::Body body_;
  std::vector<Place> places_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::uint32_t> constants_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> specials_;
  std::optional<std::uint32_t> carry_;
  struct Area {
    std::uint32_t offset, bytes;
  };
  std::unordered_map<std::string_view, Area> parameter_areas_;
  std::unordered_map<std::string_view, std::size_t> local_offsets_;
};

}  // namespace emulator
