#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "laboratory/benchmarks.h"
#include "laboratory/gpu/convolutions.h"
#include "laboratory/gpu/kernels.h"
#include "laboratory/gpu/products.h"

namespace aaco::laboratory::gpu {

// A benchmark case ready to be called: `enqueue` puts one call on the device's stream. What it works on is kept with it.
struct Call {
  std::function<core::Status()> enqueue;
  std::int64_t repeats = 1;  // operators, or passes, that a call runs
  std::vector<Memory> memory;
  std::vector<HostMemory> pinned;
  std::vector<std::vector<char>> pageable;
  std::vector<Object> graphs;
  std::unique_ptr<Device> peer;  // destroyed after the memory below
  std::vector<Memory> peer_memory;
};

// Makes the operators of cases on one device. Libraries are opened when a case first needs them.
class Cases {
 public:
  explicit Cases(Device& device, std::int64_t patience_ns) : device_(device), patience_ns_(patience_ns) {}
  // Unsupported where a library, an operator or a type is missing, exhausted where the device has not the memory.
  core::Result<Call> make(const BenchmarkCase& one);
  [[nodiscard]] std::vector<GpuLibrary> libraries();

 private:
  core::Result<Call> product(const BenchmarkCase& one);
  core::Result<Call> convolution(const BenchmarkCase& one);
  core::Result<Call> vector(const BenchmarkCase& one);
  core::Result<Call> chain(const BenchmarkCase& one, bool as_graph);
  core::Result<Call> transfer(const BenchmarkCase& one);
  core::Result<Call> read(const BenchmarkCase& one);
  core::Result<Call> from_peer(const BenchmarkCase& one);
  core::Result<Call> multiply_add(const BenchmarkCase& one);

  core::Result<Products*> products();
  core::Result<Convolutions*> convolutions();
  core::Result<Kernel> kernel(const KernelSource& source);
  // Device memory with small values above zero of that type, which every operator is defined for.
  core::Result<DevicePointer> filled(Call& call, const std::string& dtype, std::int64_t bytes);

  Device& device_;
  std::int64_t patience_ns_;
  std::shared_ptr<Products> products_;
  std::shared_ptr<Convolutions> convolutions_;
  std::optional<core::Error> no_products_, no_convolutions_;
  std::map<std::string, Kernel> kernels_;
};

}  // namespace aaco::laboratory::gpu
