// Stands in for Assay's library in test_python_kernels.py: reads orders from the file that is its
// first argument, calls the table, and prints its answers and every byte of the tensors, gaps
// included.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/providers/assay_kernel.h"

namespace {

using Bytes = std::vector<unsigned char>;

struct Tensor {
  std::string dtype;
  std::vector<std::int64_t> shape, strides;
  std::vector<Bytes> sets;  // the elements, for each set of addresses
};

/// Reads "2,3"; "-" stands for a scalar.
std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> values;
  std::istringstream in(text == "-" ? "" : text);
  for (std::string value; std::getline(in, value, ',');) values.push_back(std::stoll(value));
  return values;
}

Bytes bytes_of(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Tensor read_tensor(std::istream& in) {
  Tensor t;
  std::string shape, strides, hex;
  in >> t.dtype >> shape >> strides;
  t.shape = numbers(shape);
  t.strides = numbers(strides);
  while (in >> hex) t.sets.push_back(bytes_of(hex == "-" ? "" : hex));
  return t;
}

std::vector<assay_tensor> views(const std::vector<Tensor>& tensors) {
  std::vector<assay_tensor> out;
  for (const Tensor& t : tensors) {
    out.push_back({t.dtype.c_str(), static_cast<std::int32_t>(t.shape.size()), t.shape.data(),
                   t.strides.data()});
  }
  return out;
}

struct Session {
  const assay_kernel_table* table = nullptr;
  std::string op, dtype, device;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<Tensor> inputs, outputs;
  void* kernel = nullptr;

  void answer(const char* call, std::int32_t status) const {
    std::printf("%s %d %s\n", call, status, status == ASSAY_OK ? "" : table->last_error());
  }

  void create() {
    std::vector<assay_parameter> params;
    for (const auto& [name, text] : parameters) {
      params.push_back({name.c_str(), text.c_str(), std::strtoll(text.c_str(), nullptr, 10)});
    }
    const std::vector<assay_tensor> in = views(inputs), out = views(outputs);
    const assay_problem problem{op.c_str(),
                                dtype.c_str(),
                                params.data(),
                                static_cast<std::int32_t>(params.size()),
                                static_cast<std::int32_t>(in.size()),
                                static_cast<std::int32_t>(out.size()),
                                in.data(),
                                out.data(),
                                device.c_str(),
                                0,
                                1};
    const std::int32_t status = table->create(&problem, &kernel);
    answer("create", status);
    if (status != ASSAY_OK) return;
    const char* text = table->describe(kernel);
    if (text != nullptr) std::printf("describe %s\n", text);
  }

  /// Launches on one set of addresses, or again on the same.
  void launch(std::size_t set, int times) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (Tensor& t : inputs) in.push_back(t.sets[set].data());
    for (Tensor& t : outputs) out.push_back(t.sets[set].data());
    for (int i = 0; i < times; ++i) {
      answer("launch", table->launch(kernel, in.data(), out.data(), nullptr));
    }
    for (const std::vector<Tensor>* tensors : {&inputs, &outputs}) {
      for (const Tensor& t : *tensors) {
        std::printf(tensors == &inputs ? "input " : "output ");
        for (const unsigned char byte : t.sets[set]) std::printf("%02x", byte);
        std::printf("\n");
      }
    }
  }

  void obey(const std::string& line) {
    std::istringstream in(line);
    std::string order;
    in >> order;
    if (order == "problem") {
      parameters.clear();
      inputs.clear();
      outputs.clear();
      in >> op >> dtype >> device;
      for (std::string text; in >> text;) {
        const std::size_t at = text.find('=');
        parameters.emplace_back(text.substr(0, at), text.substr(at + 1));
      }
    } else if (order == "input") {
      inputs.push_back(read_tensor(in));
    } else if (order == "output") {
      outputs.push_back(read_tensor(in));
    } else if (order == "create") {
      create();
    } else if (order == "launch") {
      std::size_t set = 0;
      int times = 1;
      in >> set >> times;
      launch(set, times);
    } else if (order == "destroy") {
      table->destroy(kernel);
    }
    std::fflush(stdout);
  }
};

}  // namespace

extern "C" std::int32_t assay_begin() { return 0; }

extern "C" std::int32_t assay_serve(const assay_kernel_table* table, std::int32_t count,
                                    const char* const* arguments) {
  std::printf("table %u %s\n", table->version, table->name);
  for (std::int32_t i = 0; i < table->offer_count; ++i) {
    const char* dtypes = table->offers[i].dtypes;
    std::printf("offer %s %s\n", table->offers[i].op, dtypes == nullptr ? "all" : dtypes);
  }
  Session session;
  session.table = table;
  std::ifstream orders(arguments[0]);
  for (std::string line; std::getline(orders, line);) session.obey(line);
  return count == 2 ? std::stoi(arguments[1]) : 0;
}

extern "C" std::int32_t assay_refuse(const char* why, std::int32_t, const char* const*) {
  std::printf("refused %s\n", why);
  return 3;
}
