// Counts what kernels do on an emulated GPU, and derives upper bounds of their speed on paper.
// Nothing here is measured on a GPU. Started by scripts/emulate-gpu --count.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "emulator/runtime/gpus.h"
#include "emulator/runtime/work.h"
#include "kernels/core/status.h"
#include "session/console/stderr_message.h"
#include "session/machine/backends.h"
#include "tests/kernel_counts/cases.h"
#include "tests/kernel_counts/count.h"
#include "tests/kernel_counts/registers.h"
#include "tests/kernel_counts/requirements.h"
#include "tests/kernel_counts/targets.h"

namespace assay::kernel_counts {
namespace {

using emulator::GpuModel;
using emulator::KernelCounts;

using emulator::sector_bytes;

struct Counted {
  Case test;
  std::vector<KernelCounts> kernels;
};

/// A GPU of the table, and the registers that its kernels take.
struct Target {
  const GpuModel* gpu;
  Registers registers;
};

std::vector<Target> targets_of(const std::vector<std::string>& names,
                               const std::vector<Counted>& counted) {
  std::map<std::string_view, std::set<std::string>> kernels;  // by module
  for (const Counted& each : counted)
    for (const KernelCounts& kernel : each.kernels) kernels[kernel.ptx].insert(kernel.kernel);
  std::vector<Target> targets;
  for (const std::string& name : names) {
    const GpuModel* const gpu = emulator::find_gpu_model(name);
    Target& target =
        targets.emplace_back(gpu, Registers(fmt::format("sm_{}", 10 * gpu->major + gpu->minor)));
    for (const auto& [ptx, of_module] : kernels)
      target.registers.read(ptx, {of_module.begin(), of_module.end()});
  }
  return targets;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 1; }

double bytes(const emulator::GlobalCounts& counts) {
  return static_cast<double>(counts.sectors * sector_bytes);
}

double moved(const emulator::Counts& counts) {
  return bytes(counts.loads) + bytes(counts.stores) + bytes(counts.atomics);
}

double touched(const emulator::Counts& counts) {
  return static_cast<double>(sector_bytes) *
         static_cast<double>(counts.loads.distinct_sectors + counts.stores.distinct_sectors +
                             counts.atomics.distinct_sectors);
}

CaseFigures figures_of(const Counted& counted, const std::vector<Target>& targets,
                       const GpuModel& counted_on) {
  emulator::Counts sum;
  for (const KernelCounts& kernel : counted.kernels) sum += kernel.counts;
  const Signature& signature = counted.test.op.signature;
  const double compulsory = signature.bytes;
  double elements = 1;
  for (const auto* tensors : {&signature.inputs, &signature.outputs})
    for (const TensorSpec& tensor : *tensors)
      elements = std::max(elements, static_cast<double>(tensor.elements()));
  CaseFigures figures;
  figures.moved_ratio = moved(sum) / compulsory;
  const auto wide = [](const emulator::GlobalCounts& counts) {
    return share(static_cast<double>(counts.wide_bytes), static_cast<double>(counts.lane_bytes));
  };
  figures.wide_load_share = wide(sum.loads);
  figures.wide_store_share = wide(sum.stores);
  figures.divisions_per_element = static_cast<double>(sum.divisions) / elements;
  figures.calls_per_element = static_cast<double>(sum.calls) / elements;
  figures.unknown = static_cast<double>(sum.unknown);
  for (const Target& target : targets) {
    double seconds = 0, slowest = -1;
    std::string limited_by;
    for (const KernelCounts& kernel : counted.kernels) {
      const KernelBound bound =
          bound_of(kernel, target.registers.of(kernel.kernel), *target.gpu, counted_on);
      seconds += bound.seconds();
      if (bound.seconds() <= slowest) continue;
      slowest = bound.seconds();
      limited_by = bound.limited_by();
    }
    figures.bounds.push_back(
        {target.gpu->name, std::min(1.0, compulsory / bandwidth_bytes_per_s(*target.gpu) / seconds),
         limited_by});
  }
  return figures;
}

std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

/// Name of the kernel without namespaces and types.
std::string short_name(const KernelCounts& kernel) {
  std::string name = kernel.demangled;
  constexpr std::string_view anonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(anonymous)) != std::string::npos;)
    name.erase(at, anonymous.size());
  name = name.substr(0, name.find_first_of("<("));
  return name.substr(name.find_last_of(" :") + 1);
}

void write_csv(const std::string& file, const std::vector<Counted>& counted,
               const std::vector<Target>& targets, const GpuModel& counted_on) {
  std::ofstream out(file);
  out << "case_id,kernel,launches,blocks,threads_per_block,shared_bytes_per_block,moved_bytes,"
         "touched_bytes,compulsory_bytes_of_case,bytes_per_load_request,bytes_per_store_request,"
         "sectors_per_load_request,sectors_per_store_request,wide_load_share,wide_store_share,"
         "instructions_per_16_bytes,active_lane_share,shared_wavefronts_over_least,load_waits";
  for (const Target& target : targets)
    for (const char* column :
         {"registers", "resident_warps", "bytes_in_flight", "memory_s", "issue_s", "latency_s"})
      out << ',' << column << '_' << target.gpu->name;
  out << '\n';
  for (const Counted& each : counted) {
    for (const KernelCounts& kernel : each.kernels) {
      const emulator::Counts& c = kernel.counts;
      const auto per = [](std::uint64_t sum, std::uint64_t count) {
        return count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count);
      };
      out << fmt::format(
          "{},{},{},{},{},{},{},{},{},{:.1f},{:.1f},{:.2f},{:.2f},{:.4f},{:.4f},{:.2f},{:.3f},"
          "{:.2f},{}",
          quoted(each.test.id()), quoted(kernel.demangled), kernel.launches, kernel.blocks,
          kernel.threads_per_block, kernel.shared_bytes_per_block, moved(c), touched(c),
          each.test.op.signature.bytes, per(c.loads.lane_bytes, c.loads.requests),
          per(c.stores.lane_bytes, c.stores.requests), per(c.loads.sectors, c.loads.requests),
          per(c.stores.sectors, c.stores.requests), per(c.loads.wide_bytes, c.loads.lane_bytes),
          per(c.stores.wide_bytes, c.stores.lane_bytes),
          share(static_cast<double>(c.issued) * 32 * 16, moved(c)), per(c.lanes, c.issued * 32),
          per(c.shared_wavefronts, c.least_shared_wavefronts), c.load_waits);
      for (const Target& target : targets) {
        const int registers = target.registers.of(kernel.kernel);
        const KernelBound bound = bound_of(kernel, registers, *target.gpu, counted_on);
        out << fmt::format(",{},{},{:.0f},{:.3e},{:.3e},{:.3e}", registers, bound.resident_warps,
                           bound.bytes_in_flight, bound.memory_s, bound.issue_s, bound.latency_s);
      }
      out << '\n';
    }
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

int run(const std::string& filter, const std::vector<std::string>& gpus, const std::string& csv) {
  for (const std::string& name : gpus)
    if (emulator::find_gpu_model(name) == nullptr)
      throw UsageError("no GPU is called '" + name + "': emulator/README.md names them");
  const std::vector<Case> cases = contiguous_cases(filter);
  if (cases.empty()) throw UsageError("no case matches --filter");
  Backends backends = own_backends();
  Backend* const backend = backends.find("cuda");
  if (backend == nullptr || backend->describe().empty())
    throw std::runtime_error("no emulated GPU: start me by scripts/emulate-gpu --count");
  const auto device = backend->open(0);
  const GpuModel counted_on = emulator::model_of(emulator::gpu_of(0));
  std::vector<Counted> counted;
  for (const Case& test : cases) {
    say("{} of {}: {}\n", counted.size() + 1, cases.size(), test.id());
    counted.push_back({test, count(test, *backend, *device)});
    // Those that hold work back until its clock starts, and read the clock, are none of the op's.
    std::erase_if(counted.back().kernels, [](const KernelCounts& kernel) {
      const std::string name = short_name(kernel);
      return name == "wait_for" || name == "read_clock";
    });
    if (counted.back().kernels.empty())
      throw std::runtime_error("no kernel was counted: " + test.id());
    for (const std::string& gpu : gpus) {
      for (const KernelCounts& kernel : counted.back().kernels)
        check_runs(*emulator::find_gpu_model(gpu), kernel.ptx);
    }
  }
  const std::vector<Target> targets = targets_of(gpus, counted);
  if (!csv.empty()) write_csv(csv, counted, targets, counted_on);

  const int capability = capability_of(counted.front().kernels.front().ptx);
  fmt::print(
      "# Cases, counted with PTX for compute capability {}.{}\n\n"
      "Bounds on paper, from counts on an emulated GPU: nothing here was measured. The column of a "
      "GPU has an upper\nbound of the speed, as a share of the bandwidth on its data sheet, and "
      "what limits it.\n\n",
      capability / 10, capability % 10);
  fmt::print("| case | kernels | moved | instructions per 16 bytes |");
  for (const Target& target : targets) fmt::print(" {} |", target.gpu->name);
  fmt::print(" requirements |\n| --- | --- | --- | --- |");
  for (std::size_t i = 0; i < targets.size(); ++i) fmt::print(" --- |");
  fmt::print(" --- |\n");
  std::size_t met = 0, unexplained = 0;
  for (const Counted& each : counted) {
    const CaseFigures figures = figures_of(each, targets, counted_on);
    std::string kernels;
    double issued = 0, all_moved = 0;
    for (const KernelCounts& kernel : each.kernels) {
      const std::string times =
          kernel.launches > 1 ? fmt::format("{}x ", kernel.launches) : std::string();
      kernels += (kernels.empty() ? "" : ", ") + times + short_name(kernel);
      issued += static_cast<double>(kernel.counts.issued);
      all_moved += moved(kernel.counts);
    }
    fmt::print("| {} | {} | {:.2f} | {:.1f} |", each.test.id(), kernels, figures.moved_ratio,
               issued * 32 * 16 / all_moved);
    for (const auto& bound : figures.bounds)
      fmt::print(" {:.0f}% {} |", 100 * bound.share_of_bandwidth, bound.limited_by);
    const std::vector<Failure> found = failures(each.test, figures);
    std::string text;
    bool is_explained = true;
    std::string_view last;
    for (const Failure& failure : found) {
      text += (text.empty() ? "" : "; ") + failure.text;
      is_explained = is_explained && !failure.reason.empty();
      if (failure.reason != last && !failure.reason.empty())
        text += fmt::format(" ({})", failure.reason);
      last = failure.reason;
    }
    met += found.empty() ? 1 : 0;
    unexplained += is_explained ? 0 : 1;
    fmt::print(" {} |\n", found.empty() ? "met" : text);
  }
  fmt::print("\n{} of {} cases meet the requirements; {} do not, and no reason is known.\n", met,
             counted.size(), unexplained);
  return unexplained == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::kernel_counts

int main(int argc, char** argv) try {
  CLI::App app("Counts what kernels do on an emulated GPU, with upper bounds of speed on paper.");
  std::string filter, csv;
  std::vector<std::string> gpus{"a100", "h100sxm", "b200"};
  app.add_option("--filter", filter, "regular expression that is searched in case ids");
  app.add_option("--gpus", gpus, "GPUs of the table, by commas")->delimiter(',');
  app.add_option("--csv", csv, "file for all counts, a row for each kernel");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return assay::kernel_counts::run(filter, gpus, csv);
} catch (const assay::UsageError& error) {
  assay::say("kernel_counts: {}\n", error.what());
  return 2;
} catch (const std::exception& error) {
  assay::say("kernel_counts: {}\n", error.what());
  return 4;
}
