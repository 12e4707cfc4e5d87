#include <fmt/format.h>

#include <algorithm>

#include "emulator/machine/driver_functions.h"
#include "emulator/machine/instructions/lanes.h"
#include "emulator/machine/instructions/rows.h"
#include "emulator/ptx/addressed_functions.h"

namespace emulator {
namespace {

void branch(Warp& warp, const Code& code, Mask lanes) { warp.branch(lanes, code.target); }

void branch_indexed(Warp& warp, const Code& code, Mask lanes) {
  const auto* index = warp.at<std::uint32_t>(code.a);
  std::uint32_t targets[warp_lanes];
  for_lanes(lanes, [&](int lane) {
    if (index[lane] >= code.targets->size())
      warp.fault(FaultKind::illegal_instruction, lane,
                 fmt::format("there is no branch target {}", index[lane]));
    targets[lane] = (*code.targets)[index[lane]];
  });
  warp.branch_each(lanes, targets);
}

void call(Warp& warp, const Code& code, Mask lanes) { warp.call(*code.call, lanes); }

/// Lanes that call the same function call it together.
void call_pointer(Warp& warp, const Code& code, Mask lanes) {
  const auto* addresses = warp.at<std::uint64_t>(code.a);
  const auto& sites = code.pointer_call->sites;
  for_lanes(lanes, [&](int lane) {
    if (!sites.contains(addresses[lane]))
      warp.fault(FaultKind::illegal_address, lane,
                 fmt::format("calls {:#x}, where there is no function of this prototype",
                             addresses[lane]));
  });
  while (lanes != 0) {
    const std::uint64_t address = addresses[std::countr_zero(lanes)];
    Mask same = 0;
    for_lanes(lanes, [&](int lane) { same |= addresses[lane] == address ? Mask{1} << lane : 0; });
    warp.call(*sites.at(address), same);
    lanes &= ~same;
  }
}

void call_driver(Warp& warp, const Code& code, Mask lanes) {
  call_driver_function(warp, *code.call, lanes);
}
void return_from(Warp& warp, const Code&, Mask lanes) { warp.return_lanes(lanes); }
void exit_thread(Warp& warp, const Code&, Mask lanes) { warp.exit_lanes(lanes); }
void trap(Warp& warp, const Code&, Mask lanes) {
  warp.fault(FaultKind::trap, std::countr_zero(lanes), "the kernel traps");
}
void sleep(Warp& warp, const Code&, Mask) { warp.spin(); }
void nothing(Warp&, const Code&, Mask) {}

/// Where the arguments lie in the caller's area, in the order of the call.
std::vector<SymbolAddress> areas(Decoder& decoder, const ptx::Operand& list) {
  std::vector<SymbolAddress> result;
  for (const ptx::Operand& each : list.elements) {
    if (each.kind != ptx::OperandKind::symbol)
      decoder.fail("arguments that are no .param are not implemented");
    result.push_back(decoder.layout().symbol(each.name, decoder.instruction().line));
    if (!result.back().in_frame)
      decoder.fail(fmt::format("'{}' is no .param of this function", each.name));
  }
  return result;
}

/// Where a function keeps its own parameters; compiled functions lay them out results first.
void connect(CallSite& site, const ptx::Function& callee,
             const std::vector<SymbolAddress>& arguments, const std::vector<SymbolAddress>& results,
             Decoder& decoder) {
  if (arguments.size() != callee.parameters.size() || results.size() != callee.results.size())
    decoder.fail("the call has another number of arguments than the function");
  std::uint32_t at = 0;
  const auto place = [&](const ptx::Parameter& parameter) {
    const auto alignment =
        static_cast<std::uint32_t>(std::max<std::size_t>(parameter.alignment, 8));
    at = (at + alignment - 1) / alignment * alignment;
    const std::uint32_t offset = at;
    at = (at + static_cast<std::uint32_t>(parameter.bytes) + 15) / 16 * 16;
    return offset;
  };
  for (std::size_t i = 0; i < results.size(); ++i)
    site.results.push_back(
        {place(callee.results[i]), static_cast<std::uint32_t>(results[i].value),
         static_cast<std::uint32_t>(std::min(results[i].bytes, callee.results[i].bytes))});
  for (std::size_t i = 0; i < arguments.size(); ++i)
    site.arguments.push_back(
        {static_cast<std::uint32_t>(arguments[i].value), place(callee.parameters[i]),
         static_cast<std::uint32_t>(std::min(arguments[i].bytes, callee.parameters[i].bytes))});
}

void decode_bra(Decoder& decoder) {
  decoder.take("uni");
  decoder.expect_operands(1);
  if (decoder.operand(0).kind != ptx::OperandKind::label) decoder.fail("a label is missing");
  decoder.code.target = static_cast<std::uint32_t>(decoder.operand(0).index);
  decoder.emit(branch);
}

void decode_brx(Decoder& decoder) {
  decoder.expect("idx");
  decoder.take("uni");
  decoder.expect_operands(2);
  decoder.code.a = decoder.source(0, ptx::Type::u32);
  const ptx::Body& body = decoder.layout().body();
  const auto found = body.branch_target_index.find(decoder.operand(1).name);
  if (found == body.branch_target_index.end()) decoder.fail("no branch targets have this name");
  auto& targets = decoder.layout().code().target_lists.emplace_back();
  for (const int target : body.branch_targets[found->second])
    targets.push_back(static_cast<std::uint32_t>(target));
  decoder.code.targets = &targets;
  decoder.emit(branch_indexed);
}

bool has_prototype(const ptx::Function& function, const ptx::Prototype& prototype) {
  const auto are_alike = [](const auto& some, const auto& others) {
    return std::ranges::equal(some, others, [](const auto& one, const auto& other) {
      return one.bytes == other.bytes && one.is_register == other.is_register;
    });
  };
  return are_alike(function.results, prototype.results) &&
         are_alike(function.parameters, prototype.parameters);
}

/// (results), %rd1, (arguments), prototype: any function whose address the module takes.
void decode_pointer_call(Decoder& decoder, const ptx::Operand& pointer,
                         const std::vector<SymbolAddress>& arguments,
                         const std::vector<SymbolAddress>& results, const ptx::Operand& name) {
  const auto& prototypes = decoder.layout().body().prototypes;
  const auto prototype = prototypes.find(name.name);
  if (name.kind != ptx::OperandKind::symbol || prototype == prototypes.end())
    decoder.fail("a call through a pointer needs a .callprototype");
  PointerCall& calls = decoder.layout().code().pointer_calls.emplace_back();
  for (const ptx::Function* callee : ptx::addressed_functions(decoder.layout().module())) {
    if (!has_prototype(*callee, prototype->second)) continue;
    CallSite& site = decoder.layout().code().call_sites.emplace_back();
    site.name = callee->name;
    connect(site, *callee, arguments, results, decoder);
    site.callee = decoder.layout().callee(*callee, decoder.instruction().line);
    calls.sites.emplace(function_address(*callee), &site);
  }
  decoder.code.a = decoder.source(pointer, ptx::Type::u64);
  decoder.code.pointer_call = &calls;
  decoder.emit(call_pointer);
}

void decode_call(Decoder& decoder) {
  decoder.take("uni");
  // (results), function, (arguments): the lists may be missing.
  std::vector<SymbolAddress> results, arguments;
  std::size_t at = 0;
  if (decoder.operand(at).kind == ptx::OperandKind::list)
    results = areas(decoder, decoder.operand(at++));
  const ptx::Operand& name = decoder.operand(at++);
  if (at < decoder.operands() && decoder.operand(at).kind == ptx::OperandKind::list)
    arguments = areas(decoder, decoder.operand(at++));
  if (decoder.is_register(name) && at + 1 == decoder.operands())
    return decode_pointer_call(decoder, name, arguments, results, decoder.operand(at));
  if (name.kind != ptx::OperandKind::symbol) decoder.fail("a function's name is missing");
  if (at != decoder.operands()) decoder.fail("a call of this form is not implemented");
  const ptx::Function* callee = decoder.layout().module().function(name.name);
  if (callee == nullptr) decoder.fail(fmt::format("no function is called '{}'", name.name));
  CallSite& site = decoder.layout().code().call_sites.emplace_back();
  site.name = name.name;
  connect(site, *callee, arguments, results, decoder);
  decoder.code.call = &site;
  if (is_driver_function(name.name) && !callee->has_body) return decoder.emit(call_driver);
  site.callee = decoder.layout().callee(*callee, decoder.instruction().line);
  decoder.emit(call);
}

void decode_ret(Decoder& decoder) {
  decoder.take("uni");
  decoder.expect_operands(0);
  decoder.emit(return_from);
}

void decode_exit(Decoder& decoder) {
  decoder.expect_operands(0);
  decoder.emit(exit_thread);
}

void decode_trap(Decoder& decoder) {
  decoder.expect_operands(0);
  decoder.emit(trap);
}

void decode_brkpt(Decoder& decoder) {
  decoder.expect_operands(0);
  decoder.emit(nothing);
}

void decode_nanosleep(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::u32) decoder.fail_type(type);
  decoder.expect_operands(1);
  decoder.code.a = decoder.source(0, type);
  decoder.emit(sleep);
}

/// Has no effect here: the launch before has ended, and the next one waits.
void decode_griddepcontrol(Decoder& decoder) {
  decoder.needs(90);
  if (!decoder.take("wait")) decoder.expect("launch_dependents");
  decoder.expect_operands(0);
  decoder.emit(nothing);
}

void decode_pmevent(Decoder& decoder) {
  decoder.take("mask");
  decoder.expect_operands(1);
  decoder.emit(nothing);
}

const Opcodes opcodes{{"bra", decode_bra},
                      {"brx", decode_brx},
                      {"call", decode_call},
                      {"ret", decode_ret},
                      {"exit", decode_exit},
                      {"trap", decode_trap},
                      {"brkpt", decode_brkpt},
                      {"nanosleep", decode_nanosleep},
                      {"griddepcontrol", decode_griddepcontrol},
                      {"pmevent", decode_pmevent}};

}  // namespace
}  // namespace emulator
