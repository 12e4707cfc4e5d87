#include "emulator/machine/kernel_compiler.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

#include "emulator/machine/decoder.h"

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
  for (const ptx::Instruction& instruction : body.instructions) {
    Decoder decoder(layout, instruction);
    const DecodeFunction decode = find_opcode(instruction.opcode);
    if (decode == nullptr)
      decoder.fail(fmt::format("the opcode '{}' is not known", instruction.opcode));
    decode(decoder);
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
  if (counts) code.costs.resize(code.codes.size());
}

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
  kernel->local_bytes = ptx::align_up(kernel->local_bytes, 16);
  return kernel;
}

}  // namespace emulator
