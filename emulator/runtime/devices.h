#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "emulator/machine/machine.h"

namespace emulator {

/// The GPUs of this machine, and those that the process sees. From the environment:
/// ASSAY_EMULATED_GPUS (how many; none if unset), ASSAY_EMULATED_GPU (the model, "t4"),
/// ASSAY_EMULATOR_MIG=1 (the process sees one slice of each GPU at most, and one in all, as CUDA
/// does), ASSAY_EMULATOR_PEERS=0 (no peer access), ASSAY_EMULATOR_FASTEST (the GPU that CUDA takes
/// for the fastest), ASSAY_EMULATOR_OTHERS_BYTES (memory of each GPU that another process holds),
/// ASSAY_EMULATOR_EXCLUSIVE=FOLDER (the compute mode EXCLUSIVE_PROCESS; locks of the folder's files
/// are contexts), ASSAY_EMULATOR_MPS=1, CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER.
struct Devices {
  static Devices from_environment();

  std::vector<GpuModel> gpus;
  std::vector<int> visible;  // physical GPUs by device ordinal
  bool is_mig = false;
  bool has_peers = true;
  bool is_shared_by_mps = false;
  std::size_t others_bytes = 0;
  std::string exclusive_folder;  // empty: any number of processes may use a GPU

  bool is_ordinal(int device) const {
    return device >= 0 && static_cast<std::size_t>(device) < visible.size();
  }
  int gpu(int device) const { return visible[static_cast<std::size_t>(device)]; }
  const GpuModel& model(int gpu) const { return gpus[static_cast<std::size_t>(gpu)]; }
  /// -1: not visible.
  int ordinal_of(int gpu) const;
  bool can_access_peer(int device, int peer) const;
};

/// The 16 bytes of a UUID, the same in every process; those of a GPU's slice are others.
std::array<unsigned char, 16> uuid_bytes(int gpu, bool is_mig_slice);
/// "GPU-....", "MIG-....".
std::string uuid_text(int gpu, bool is_mig_slice);
/// The newest CUDA that the driver serves, as cudaDriverGetVersion gives it: ASSAY_EMULATOR_DRIVER,
/// or the toolkit's.
int driver_version();
/// The PCI bus of a GPU; its device and domain are 0.
int pci_bus(int gpu);

}  // namespace emulator
