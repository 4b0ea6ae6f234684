#include "runner/decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/clock.h"
#include "core/half.h"

namespace aaco::runner::llm {
namespace {

constexpr std::int64_t kFallbackVocabulary = 256;  // ids that any tokenizer has

// The place of the largest of `count` elements, the first of equal ones.
template <class T, class Key>
std::int64_t largest(const std::byte* row, std::int64_t count, Key key) {
  std::int64_t place = 0;
  T best{};
  for (std::int64_t i = 0; i < count; ++i) {
    T value{};
    std::memcpy(&value, row + i * static_cast<std::int64_t>(sizeof value), sizeof value);
    if (i == 0 || key(value) > key(best)) best = value, place = i;
  }
  return place;
}

// Halves of either format sort as these integers.
int sortable(std::uint16_t bits) { return (bits & 0x8000U) != 0 ? -static_cast<int>(bits & 0x7FFFU) : static_cast<int>(bits); }

// Element `index` of a row of logits.
float value_at(ElementType type, const std::byte* row, std::int64_t index) {
  if (type == ElementType::float32) {
    float value = 0;
    std::memcpy(&value, row + index * 4, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, row + index * 2, sizeof bits);
  return type == ElementType::bfloat16 ? core::from_bfloat16(bits) : static_cast<float>(core::from_half(bits));
}

bool is_readable(const TensorView& logits) {
  return logits.bytes != nullptr && !logits.shape.empty() &&
         (logits.type == ElementType::float32 || logits.type == ElementType::float16 || logits.type == ElementType::bfloat16);
}

// The last position's logits of a sequence: [batch, length, vocabulary] or [batch, vocabulary].
const std::byte* last_row(const TensorView& logits, std::int64_t index) {
  const std::int64_t vocabulary = logits.shape.back();
  const std::int64_t length = logits.shape.size() > 2 ? logits.shape[1] : 1;
  return logits.bytes + ((index + 1) * length - 1) * vocabulary * element_size(logits.type);
}

template <class T>
void fill(TensorData& data, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(data.bytes.data() + i * sizeof value, &value, sizeof value);
  }
}

// `values` repeated over the tensor.
TensorData integers(const TensorInfo& info, std::span<const std::int64_t> values) {
  TensorData data{info.name, info.type, info.shape, {}};
  std::size_t count = 1;
  for (const std::int64_t size : info.shape) count *= static_cast<std::size_t>(size);
  std::vector<std::int64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = values[i % values.size()];
  data.bytes.resize(count * static_cast<std::size_t>(element_size(info.type)));
  if (info.type == ElementType::int64) fill<std::int64_t>(data, all);
  if (info.type == ElementType::int32) fill<std::int32_t>(data, all);
  if (info.type == ElementType::boolean) fill<std::uint8_t>(data, all);
  return data;
}

}  // namespace

Decoder::Decoder(Backend& backend, DecoderLayout layout, Options options)
    : backend_(backend), layout_(std::move(layout)), options_(options), random_(options.seed) {
  for (const DecoderLayout::Pair& pair : layout_.cache) carried_.push_back({pair.past, pair.present, options_.in_place});
  restart();
}

void Decoder::restart() {
  past_ = 0;
  next_.assign(static_cast<std::size_t>(options_.batch), 0);
}

std::vector<TensorData> Decoder::inputs_for(std::span<const std::int64_t> tokens) const {
  const auto length = static_cast<std::int64_t>(tokens.size()) / options_.batch;
  std::vector<std::int64_t> positions(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) positions[static_cast<std::size_t>(i)] = past_ + i;
  std::vector<TensorData> inputs;
  for (TensorInfo& info : decoder_inputs(layout_, options_.batch, past_, length)) {
    const auto put = [&](std::int64_t value) { inputs.push_back(integers(info, std::array{value})); };
    if (info.name == layout_.ids.name)
      inputs.push_back(integers(info, tokens));
    else if (info.name == layout_.positions.name)
      inputs.push_back(integers(info, positions));
    else if (info.name == layout_.mask.name)
      put(1);
    else if (info.name == layout_.cache_branch.name)
      put(past_ > 0 ? 1 : 0);
    else if (info.name == layout_.lengths.name)
      put(past_ + length - 1);
    else if (info.name == layout_.total_length.name)
      put(past_ + length);
    else if (past_ == 0 && !(options_.in_place && bound_)) {
      if (options_.in_place) info.shape[2] = options_.capacity;
      std::size_t bytes = static_cast<std::size_t>(element_size(info.type));
      for (const std::int64_t size : info.shape) bytes *= static_cast<std::size_t>(size);
      inputs.push_back({info.name, info.type, info.shape, std::vector<std::byte>(bytes)});
    }
  }
  return inputs;
}

core::Result<DecoderStep> Decoder::feed(std::span<const std::int64_t> tokens) {
  const auto length = static_cast<std::int64_t>(tokens.size()) / options_.batch;
  DecoderStep step{.start_ns = core::monotonic_ns(), .past = past_, .length = length};
  AACO_TRY(backend_.bind_next(inputs_for(tokens), carried_));
  bound_ = true;
  const std::int64_t run = core::monotonic_ns();
  AACO_TRY(backend_.run_once());
  step.run_ns = core::monotonic_ns() - run;
  AACO_TRY(pick());
  step.end_ns = core::monotonic_ns();
  past_ += length;
  return step;
}

core::Status Decoder::pick() {
  AACO_ASSIGN(const TensorView logits, backend_.view_output(layout_.logits));
  const bool readable = is_readable(logits);
  for (std::int64_t sequence = 0; sequence < options_.batch; ++sequence) {
    std::int64_t& token = next_[static_cast<std::size_t>(sequence)];
    if (!readable) {
      token =
          static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(layout_.vocabulary.value_or(kFallbackVocabulary))));
      continue;
    }
    const std::byte* row = last_row(logits, sequence);
    token = logits.type == ElementType::float32 ? largest<float>(row, logits.shape.back(), [](float value) { return value; })
                                                : largest<std::uint16_t>(row, logits.shape.back(), sortable);
  }
  return {};
}

core::Result<std::int64_t> Decoder::cache_bytes() {
  std::int64_t bytes = 0;
  for (const DecoderLayout::Pair& pair : layout_.cache) {
    AACO_ASSIGN(const TensorView present, backend_.view_output(pair.present));
    std::int64_t count = element_size(present.type);
    for (const std::int64_t size : present.shape) count *= size;
    bytes += count;
  }
  return bytes;
}

core::Result<std::vector<float>> Decoder::last_logits(std::int64_t index) {
  AACO_ASSIGN(const TensorView logits, backend_.view_output(layout_.logits));
  if (!is_readable(logits)) return core::fail(core::ErrorCode::unsupported, "the logits are not readable by the host");
  const std::byte* row = last_row(logits, index);
  std::vector<float> values;
  for (std::int64_t i = 0; i < logits.shape.back(); ++i) values.push_back(value_at(logits.type, row, i));
  return values;
}

}  // namespace aaco::runner::llm
