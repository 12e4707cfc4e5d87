#include "emulator/machine/kernel_compiler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "emulator/machine/decoder.h"
#include "emulator/machine/flow_finder.h"
#include "emulator/machine/swap_reads.h"
#include "emulator/ptx/error.h"

namespace emulator {
namespace {

std::string demangle(std::string_view name) {
  const std::string mangled(name);
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return mangled;
  std::string result(text);
  std::free(text);
  return result;
}

void decode_body(FunctionLayout& layout, bool counts) {
  const ptx::Body& body = layout.body();
  FunctionCode& code = layout.code();
  const std::vector<bool> swap_reads = find_swap_reads(body);
  for (std::size_t i = 0; i < body.instructions.size(); ++i) {
    const ptx::Instruction& instruction = body.instructions[i];
    Decoder decoder(layout, instruction);
    const DecodeFunction decode = find_opcode(instruction.opcode);
    if (decode == nullptr)
      decoder.fail(fmt::format("the opcode '{}' is not known", instruction.opcode));
    decode(decoder);
    if (swap_reads[i] && code.codes.back().order == Order::weak)
      code.codes.back().order = Order::relaxed;
    code.flows.resize(code.codes.size());
    code.flows.back() = flow_of(layout, instruction);
    if (counts) {
      code.costs.resize(code.codes.size() - 1);
      code.costs.push_back(cost_of(instruction));
    }
  }
  // A body may end without `ret`, after a jump back or a trap.
  ptx::Instruction end;
  end.opcode = "ret";
  end.line = body.instructions.empty() ? layout.function().line : body.instructions.back().line;
  Decoder decoder(layout, end);
  find_opcode("ret")(decoder);
  code.flows.resize(code.codes.size());
  if (counts) code.costs.resize(code.codes.size());
}

/// The stack of functions with their callees, of each once: there may be very many paths.
class Stacks {
 public:
  std::size_t bytes(const FunctionCode& function) {
    const auto [found, is_new] = known_.try_emplace(&function);
    if (!is_new) {
      is_recursive |= !found->second.has_value();  // its own callees are being looked at
      return found->second.value_or(0);
    }
    std::size_t deepest = 0;
    for (const CallSite& site : function.call_sites)
      if (site.callee != nullptr) deepest = std::max(deepest, bytes(*site.callee));
    return *(known_[&function] = function.local_bytes + deepest);
  }

  bool is_recursive = false;

 private:
  std::unordered_map<const FunctionCode*, std::optional<std::size_t>> known_;
};

}  // namespace

std::unique_ptr<KernelCode> compile_kernel(const ptx::Module& module, const ptx::Function& entry,
                                           Observed observed) {
  auto kernel = std::make_unique<KernelCode>();
  kernel->module = &module;
  kernel->function = &entry;
  kernel->demangled = demangle(entry.name);
  KernelLayout layout(module, *kernel);
  kernel->entry = layout.function(entry, entry.line);
  // Calls add functions.
  for (std::size_t i = 0; i < kernel->functions.size(); ++i) {
    FunctionCode& code = kernel->functions[i];
    FunctionLayout function(layout, code);
    decode_body(function, observed.counts);
    if (observed.coverage) code.executed = std::make_unique<std::uint8_t[]>(code.codes.size());
  }
  Stacks stacks;
  kernel->local_bytes = stacks.bytes(*kernel->entry);
  kernel->is_recursive =
      stacks.is_recursive || std::ranges::any_of(kernel->functions, [](const FunctionCode& code) {
        return code.allocates_stack;
      });
  return kernel;
}

}  // namespace emulator
