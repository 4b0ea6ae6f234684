#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "hardware/device.h"
#include "hardware/inventory.h"

// What this machine's processor reaches, measured: the source of a registry entry for a machine that no data sheet describes.
namespace aaco::hardware {

// The source of figures that the probe measured, in entries that it writes.
inline constexpr const char* kMeasuredSource = "measured";

struct ProbeOptions {
  std::vector<int> cpus;               // one thread is bound to each; empty: all this process may use
  std::int64_t memory_bytes = 0;       // of both arrays of the copy; 0: by the caches and what is free
  std::int64_t time_ns = 200'000'000;  // each quantity is measured about this long, several times; the best counts
};

struct ProbeReading {
  std::string what;         // "float32", "copy", "l2"
  double per_second = 0;    // operations or bytes, all threads together
  double spread_ratio = 0;  // (best - worst) / best over the repetitions
};

struct ProbeMeasurements {
  int threads = 0;
  std::optional<double> clock_hz;  // while all threads compute
  std::string vector_unit;         // "AVX-512", "AVX2", "128-bit": what the operations ran on
  int simd_bits = 0;
  std::vector<ProbeReading> operations;    // by element type
  std::optional<ProbeReading> copy, read;  // main memory: bytes read and written; bytes read
  std::vector<ProbeReading> caches;        // bytes read from each level of `inventory.cpu.caches`, by "l1" "l2" "l3"
};

// The wider float type that read faster than `reading`, which no idle processor shows; nullptr: none.
const ProbeReading* faster_wider_type(const ProbeMeasurements& measured, const ProbeReading& reading);

// Takes a few seconds and all the processor. Fails with exhausted where there is no memory for the arrays.
core::Result<ProbeMeasurements> measure_processor(const ProbeOptions& options, const Inventory& inventory);

// What the entry of this machine's processor is called: vendor_model_cores_memory.
std::string id_of_processor(const Inventory& inventory);

// The registry entry: facts of the inventory, figures of the measurement, each with its source. `date` stands in the source.
Device device_of(const Inventory& inventory, const ProbeMeasurements& measured, const std::string& date);

}  // namespace aaco::hardware
