#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aaco::hardware::probe {

// A loop of independent multiply-adds that fills the vector units of one core.
struct OperationLoop {
  std::string dtype;           // of the registry
  std::int64_t per_round = 0;  // operations; a multiply-add is two
  void (*run)(std::int64_t rounds) = nullptr;
};

struct VectorUnit {
  std::string name;  // "AVX-512"
  int bits = 0;
  std::vector<OperationLoop> loops;
};

// The widest unit this processor and its operating system allow.
VectorUnit widest_unit();

// Clocks that `rounds` take as a chain of dependent multiplications; 0: not known for this architecture.
std::int64_t chain_clocks(std::int64_t rounds);
// Runs the chain.
void run_chain(std::int64_t rounds);

// Reads `bytes` (a multiple of 512) at `from`, `times` over; the answer keeps the reads.
std::uint64_t read_all(const void* from, std::int64_t bytes, std::int64_t times);

}  // namespace aaco::hardware::probe
