#include "runner/zoo/weights.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "core/half.h"
#include "core/random.h"

namespace aaco::runner::zoo {
namespace {

// Elements that share a random stream; a read that starts inside a block makes the block's start again.
constexpr std::int64_t kBlockElements = 16384;

// kBlockElements uniform values, two from each 64 random bits.
void fill_block(core::Random random, Fill fill, std::vector<float>& values) {
  const auto scale = static_cast<float>(fill.spread / 2147483648.0);
  const auto center = static_cast<float>(fill.center);
  for (std::size_t at = 0; at < values.size(); at += 2) {
    const std::uint64_t bits = random.next();
    values[at] = center + scale * static_cast<float>(static_cast<std::int32_t>(bits));
    values[at + 1] = center + scale * static_cast<float>(static_cast<std::int32_t>(bits >> 32));
  }
}

void store(const float* values, std::size_t count, ElementType type, std::byte* out) {
  if (type == ElementType::float32) {
    std::memcpy(out, values, count * sizeof(float));
    return;
  }
  for (std::size_t at = 0; at < count; ++at) {
    const std::uint16_t half = core::to_half(values[at]);
    std::memcpy(out + at * sizeof half, &half, sizeof half);
  }
}

}  // namespace

core::Status SeededWeights::read(std::size_t index, std::int64_t offset, std::span<std::byte> out) {
  const ElementType type = blueprint_.graph.tensor(blueprint_.graph.initializers[index].tensor).type;
  AACO_CHECK(type == ElementType::float32 || type == ElementType::float16);
  const std::int64_t size = type == ElementType::float32 ? 4 : 2;
  AACO_CHECK(offset % size == 0 && static_cast<std::int64_t>(out.size()) % size == 0);

  const core::Random stream = core::Random(seed_).fork(blueprint_.streams.empty() ? index : blueprint_.streams[index]);
  std::vector<float> block(static_cast<std::size_t>(kBlockElements));
  std::int64_t element = offset / size;
  std::int64_t left = static_cast<std::int64_t>(out.size()) / size;
  std::byte* at = out.data();
  while (left > 0) {
    fill_block(stream.fork(static_cast<std::uint64_t>(element / kBlockElements)), blueprint_.fills[index], block);
    const std::int64_t start = element % kBlockElements;
    const std::int64_t count = std::min(kBlockElements - start, left);
    store(block.data() + start, static_cast<std::size_t>(count), type, at);
    at += count * size;
    element += count;
    left -= count;
  }
  return {};
}

}  // namespace aaco::runner::zoo
