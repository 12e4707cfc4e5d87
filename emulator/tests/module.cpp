#include "emulator/tests/module.h"

#include <sstream>

namespace emulator::test {

std::string module_head(const std::string& target) {
  return ".version 8.6\n.target " + target + "\n.address_size 64\n";
}

std::string kernel(std::initializer_list<const char*> parameters, const std::string& body) {
  std::ostringstream text;
  text << ".visible .entry test(";
  const char* separator = "";
  for (const char* parameter : parameters) {
    text << separator << ".param .u64 p_" << parameter;
    separator = ", ";
  }
  text << ")\n{\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .b64 %l<32>;\n"
       << ".reg .f32 %f<16>;\n.reg .f64 %d<16>;\n";
  for (const char* parameter : parameters) {
    text << ".reg .b64 %" << parameter << ";\nld.param.u64 %" << parameter << ", [p_" << parameter
         << "];\n";
  }
  text << "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %r2, %tid.x;\n"
       << "mad.lo.s32 %r0, %r0, %r1, %r2;\n"
       << body << "\nret;\n}\n";
  return text.str();
}

std::string element(const std::string& base, int bytes) {
  return "mul.wide.u32 %l31, %r0, " + std::to_string(bytes) + ";\nadd.s64 %l31, %l31, " + base +
         ";\n";
}

std::string store_u32(const std::string& base, const std::string& value) {
  return element(base, 4) + "st.global.u32 [%l31], " + value + ";\n";
}

std::vector<std::uint32_t> run_u32(const std::string& body, const Shape& shape,
                                   const std::vector<std::uint32_t>& in,
                                   std::size_t results_per_thread, const std::string& functions,
                                   int capability) {
  Device device;
  Kernels kernels(device, module_head("sm_" + std::to_string(capability)) + functions +
                              kernel({"out", "in"}, body));
  const std::size_t threads = std::size_t{shape.grid.x} * shape.grid.y * shape.grid.z *
                              shape.block.x * shape.block.y * shape.block.z;
  const std::size_t count = threads * results_per_thread;
  const std::uintptr_t out = device.allocate(count * sizeof(std::uint32_t));
  const std::uintptr_t input = device.upload(in);
  kernels.run("test", shape, out, input);
  return device.download<std::uint32_t>(out, count);
}

}  // namespace emulator::test
