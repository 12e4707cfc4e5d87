#include "emulator/runtime/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "emulator/runtime/host_access.h"
#include "emulator/runtime/in_host_function.h"
#include "emulator/runtime/lacking.h"
#include "emulator/runtime/say.h"

namespace emulator {
namespace {

std::atomic<bool> is_made = false, is_forked = false;
std::atomic<bool> is_called = false;

std::vector<std::size_t> capacities(const Devices& devices) {
  std::vector<std::size_t> bytes;
  for (const GpuModel& gpu : devices.gpus) {
    bytes.push_back(gpu.memory_bytes - std::min(gpu.memory_bytes, devices.others_bytes));
  }
  return bytes;
}

std::vector<std::size_t> cache_bytes(const Devices& devices) {
  std::vector<std::size_t> bytes;
  for (const GpuModel& gpu : devices.gpus) bytes.push_back(gpu.l2_bytes);
  return bytes;
}

bool follows_caches() {
  const char* wanted = std::getenv("ASSAY_EMULATOR_CACHES");
  return wanted != nullptr && std::strcmp(wanted, "1") == 0;
}

/// Counts the calls on the GPU that gets lost.
cudaError_t check_alive(Process& p) {
  if (!has_context(p, current_gpu(p))) return cudaErrorDevicesUnavailable;
  if (p.lost_gpu != current_gpu(p)) return cudaSuccess;
  if (p.is_lost_at_once) return cudaErrorDevicesUnavailable;
  if (p.calls_until_lost-- > 0) return cudaSuccess;
  make_sticky(cudaErrorECCUncorrectable);
  say("GPU " + std::to_string(p.lost_gpu) + " is lost, as ASSAY_EMULATOR_LOST says");
  p.scheduler.abandon();
  return cudaErrorECCUncorrectable;
}

cudaError_t admit(Process& p, Wants wants) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (p.devices.visible.empty()) return cudaErrorNoDevice;
  if (wants == Wants::devices) return cudaSuccess;
  if (const cudaError_t error = check_alive(p); error != cudaSuccess) return error;
  p.primary_contexts.insert(current_device());
  return wants == Wants::safety ? refuse_in_capture(p.captures) : cudaSuccess;
}

void report_leak(std::size_t count, const std::string& what) {
  if (count > 0) say("leak: " + std::to_string(count) + " " + what + " not released");
}

/// Lists on stderr what the program has not released, if ASSAY_EMULATOR_LEAKS=1.
void report_leaks(const Process& p) {
  const char* wanted = std::getenv("ASSAY_EMULATOR_LEAKS");
  if (wanted == nullptr || std::strcmp(wanted, "1") != 0) return;
  for (const auto& [address, device] : p.allocations) {
    const auto allocation = p.memory.find(address);
    report_leak(allocation ? allocation->bytes : 0, "bytes of device " + std::to_string(device));
  }
  for (const auto& [address, pinned] : p.pinned)
    report_leak(pinned.bytes, "bytes of pinned memory");
  for (const auto& [address, managed] : p.managed_memories)
    report_leak(managed.bytes, "bytes of managed memory");
  for (const auto& [address, pooled] : p.pools.memories)
    report_leak(pooled.bytes, "bytes of a pool of device " + std::to_string(pooled.pool->device));
  report_leak(p.arrays.all().size(), "arrays");
  report_leak(p.textures.size(), "texture objects");
  report_leak(p.surfaces.size(), "surface objects");
  report_leak(p.loaded_modules.all().size(), "modules");
  report_leak(p.streams.all().size(), "streams");
  report_leak(p.events.all().size(), "events");
  report_leak(p.graphs.all().size(), "graphs");
  report_leak(p.executable_graphs.all().size(), "executable graphs");
}

/// Runs after all handlers of `atexit`, in which a program may still release what it holds.
__attribute__((destructor)) void finish() {
  if (!is_made || is_forked) return;
  Process& p = process();
  Lock lock(p.mutex);
  p.scheduler.stop(lock);
  if (sticky_error() == cudaSuccess) report_leaks(p);
  p.reports.sum_up();
}

}  // namespace

Process::Process()
    : settings(Settings::from_environment()),
      devices(Devices::from_environment()),
      memory(capacities(devices)),
      reports(Reports::from_environment()),
      scheduler(mutex, settings.seed, [this](const Fault& fault) { stick(*this, fault); }) {
  if (const char* lost = std::getenv("ASSAY_EMULATOR_LOST"); lost != nullptr && *lost != '\0') {
    if (std::sscanf(lost, "%d@%ld", &lost_gpu, &calls_until_lost) != 2) {
      give_up("ASSAY_EMULATOR_LOST=" + std::string(lost) + " is not GPU@CALLS");
    }
    is_lost_at_once = calls_until_lost == 0;
  }
  if (follows_caches()) memory.follow_caches(cache_bytes(devices));
  const char* delay = std::getenv("ASSAY_EMULATOR_HOST_DELAY");
  if (delay != nullptr && *delay != '\0') {
    if (std::sscanf(delay, "%lf@%ld", &host_delay_s, &calls_per_delay) != 2 ||
        calls_per_delay < 1) {
      give_up("ASSAY_EMULATOR_HOST_DELAY=" + std::string(delay) + " is not SECONDS@CALLS");
    }
    delays.seed(settings.seed);
  }
  if (reports.may_go_on()) settings.findings = &reports;
  explain_host_accesses(memory);
  is_made = true;
  // Neither the lock nor the thread of the scheduler survives a fork. The real runtime refuses
  // there, too.
  pthread_atfork(nullptr, nullptr, [] { is_forked = is_made.load(); });
}

Process& process() {
  static Process* made = new Process;
  return *made;
}

void stick(Process& p, const Fault& fault) {
  if (sticky_error() != cudaSuccess || p.reports.end_launch(fault)) return;
  make_sticky(error_of(fault), fault.what());
  p.scheduler.abandon();
}

bool has_context(Process& p, int gpu) {
  if (p.devices.exclusive_folder.empty() || p.contexts.contains(gpu)) return true;
  const std::string path = p.devices.exclusive_folder + "/gpu" + std::to_string(gpu);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) give_up("ASSAY_EMULATOR_EXCLUSIVE: " + path + " cannot be opened");
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    close(file);
    return false;
  }
  p.contexts.insert(gpu);  // the lock stays to the end of the process
  return true;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

int current_gpu(const Process& p) { return p.devices.gpu(current_device()); }

/// Lets the host stand still as one does that loses its processor. GPUs go on.
void delay_host(Process& p, Lock& lock) {
  if (p.calls_per_delay == 0) return;
  if (p.delays() % static_cast<std::uint64_t>(p.calls_per_delay) != 0) return;
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::duration<double>(p.host_delay_s));
  lock.lock();
}

/// What a call itself cannot do, such as reading PTX of a form that is not known, is its error
/// alone.
cudaError_t body_of(const std::function<cudaError_t(Process&, Lock&)>& body, Process& p,
                    Lock& lock) {
  try {
    return body(p, lock);
  } catch (const Fault& fault) {
    if (fault.kind != FaultKind::illegal_instruction) {
      say(fault.what());
      return error_of(fault);
    }
    say_lacking(fault.what());
    return cudaErrorNotSupported;
  }
}

bool was_called() { return is_called; }

cudaError_t call(Wants wants, const std::function<cudaError_t(Process&, Lock&)>& body) {
  cudaError_t error = cudaErrorInitializationError;
  is_called = true;
  if (is_in_host_function()) {
    say("a function that a stream runs on the host calls CUDA, which is not permitted");
    error = cudaErrorNotPermitted;
  } else if (!is_forked) {
    Process& p = process();
    Lock lock(p.mutex);
    delay_host(p, lock);
    error = admit(p, wants);
    if (error == cudaSuccess) error = body_of(body, p, lock);
    // Work that ran during the call may have found a fault.
    if (sticky_error() != cudaSuccess) error = sticky_error();
  }
  if (error != cudaSuccess) last_error() = error;
  return error;
}

}  // namespace emulator
