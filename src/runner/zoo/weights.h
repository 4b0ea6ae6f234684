#pragma once

#include <cstdint>

#include "graph/onnx.h"
#include "runner/zoo.h"

namespace aaco::runner::zoo {

// The bytes of a blueprint's weights. A byte depends on seed, the weight's number and the offset only, not on the order of reads.
class SeededWeights final : public graph::onnx::WeightSource {
 public:
  SeededWeights(const Blueprint& blueprint, std::uint64_t seed) : blueprint_(blueprint), seed_(seed) {}
  core::Status read(std::size_t index, std::int64_t offset, std::span<std::byte> out) override;

 private:
  const Blueprint& blueprint_;
  std::uint64_t seed_;
};

}  // namespace aaco::runner::zoo
