#include "kernels/libraries/library.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>

namespace assay::libraries {
namespace {

struct Loaded {
  Library library;
  std::vector<assay_offer> offers;
  assay_kernel_table table{};
};

std::optional<Loaded>& loaded() {
  static std::optional<Loaded> only;
  return only;
}

/// All calls come from one thread (assay_kernel.h).
std::string& last_text() {
  static std::string text;
  return text;
}

/// Calls a function of ours from C, where no exception may go.
template <class Call>
std::int32_t guarded(const Call& call) {
  try {
    call();
    return ASSAY_OK;
  } catch (const NotMine& why) {
    last_text() = why.what();
    return ASSAY_NOT_MINE;
  } catch (const std::bad_alloc&) {
    last_text() = "out of memory";
    return ASSAY_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_text() = error.what();
    return ASSAY_FAILED;
  }
}

std::int32_t create(const assay_problem* problem, void** kernel) {
  return guarded([&] {
    const Problem asked(*problem);
    const Library& library = loaded()->library;
    if (asked.is_on_gpu() && !library.on_gpus) throw NotMine("it computes in the host's memory");
    if (!asked.is_on_gpu() && !library.on_cpu) throw NotMine("it computes on GPUs alone");
    const auto& offers = library.offers;
    const auto offer = std::ranges::find(offers, asked.op(), &Offer::op);
    if (offer == offers.end()) throw NotMine("there is no such op");
    *kernel = std::make_unique<Made>(offer->make(asked)).release();
  });
}

std::int32_t launch(void* kernel, const void* const* inputs, void* const* outputs, void* stream) {
  return guarded([&] { static_cast<Made*>(kernel)->launch(inputs, outputs, stream); });
}

void destroy(void* kernel) { delete static_cast<Made*>(kernel); }

const char* describe(void* kernel) { return static_cast<Made*>(kernel)->algorithm.c_str(); }

Shape shape_of(const assay_tensor& tensor) {
  Shape shape(tensor.shape, tensor.shape + tensor.dimensions);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1 && tensor.strides[i] != stride) throw NotMine("its rows lie apart");
    stride *= shape[i];
  }
  return shape;
}

}  // namespace

const char* last_error() { return last_text().c_str(); }

std::int64_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

int extent(std::int64_t n) {
  if (n > std::numeric_limits<int>::max()) throw NotMine("it counts by 32 bits");
  return static_cast<int>(n);
}

Problem::Problem(const assay_problem& given) : given_(given) {
  const auto count = [](std::int32_t n) { return static_cast<std::size_t>(n); };
  for (const assay_tensor& tensor : std::span(given.inputs, count(given.input_count)))
    inputs_.push_back(shape_of(tensor));
  for (const assay_tensor& tensor : std::span(given.outputs, count(given.output_count)))
    outputs_.push_back(shape_of(tensor));
}

std::string_view Problem::word(std::string_view parameter) const {
  const std::span all(given_.parameters, static_cast<std::size_t>(given_.parameter_count));
  const auto found =
      std::ranges::find_if(all, [&](const assay_parameter& one) { return one.name == parameter; });
  return found == all.end() ? "" : found->text;
}

const assay_kernel_table* table_of(Library (*open)()) {
  if (loaded()) return &loaded()->table;
  try {
    Loaded& made = loaded().emplace(Loaded{.library = open()});
    for (const Offer& offer : made.library.offers)
      made.offers.push_back({offer.op.c_str(), offer.dtypes.c_str(), 0});
    made.table = {.version = ASSAY_KERNEL_VERSION,
                  .name = made.library.name.c_str(),
                  .offers = made.offers.data(),
                  .offer_count = static_cast<std::int32_t>(made.offers.size()),
                  .create = create,
                  .launch = launch,
                  .destroy = destroy,
                  .last_error = last_error,
                  .describe = describe,
                  .devices = nullptr};
    return &made.table;
  } catch (const std::exception& error) {
    loaded().reset();
    last_text() = error.what();
    return nullptr;
  }
}

}  // namespace assay::libraries

extern "C" __attribute__((visibility("default"))) const char* assay_refusal() {
  return assay::libraries::last_error();
}
