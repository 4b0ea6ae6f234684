#include "runner/input_values.h"

#include <cmath>
#include <cstring>

#include "core/half.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;
using Kind = InputMeaning::Kind;

constexpr double kCacheSpread = 0.1;

template <class T, class Make>
void store_each(TensorData& tensor, const Make& make) {
  auto* at = tensor.bytes.data();
  for (std::size_t index = 0; index * sizeof(T) < tensor.bytes.size(); ++index, at += sizeof(T)) {
    const T value = static_cast<T>(make(index));
    std::memcpy(at, &value, sizeof value);
  }
}

// Stores make(index), a double, as elements of the tensor's type; false for types that have no values.
template <class Make>
bool store(TensorData& tensor, const Make& make) {
  switch (tensor.type) {
    case ElementType::float32: store_each<float>(tensor, make); return true;
    case ElementType::float64: store_each<double>(tensor, make); return true;
    case ElementType::float16:
      store_each<std::uint16_t>(tensor, [&](std::size_t i) { return core::to_half(static_cast<float>(make(i))); });
      return true;
    case ElementType::bfloat16:
      store_each<std::uint16_t>(tensor, [&](std::size_t i) { return core::to_bfloat16(static_cast<float>(make(i))); });
      return true;
    case ElementType::int8: store_each<std::int8_t>(tensor, make); return true;
    case ElementType::uint8: store_each<std::uint8_t>(tensor, make); return true;
    case ElementType::int16: store_each<std::int16_t>(tensor, make); return true;
    case ElementType::uint16: store_each<std::uint16_t>(tensor, make); return true;
    case ElementType::int32: store_each<std::int32_t>(tensor, make); return true;
    case ElementType::uint32: store_each<std::uint32_t>(tensor, make); return true;
    case ElementType::int64: store_each<std::int64_t>(tensor, make); return true;
    case ElementType::uint64: store_each<std::uint64_t>(tensor, make); return true;
    case ElementType::boolean: store_each<std::uint8_t>(tensor, [&](std::size_t i) { return make(i) != 0 ? 1 : 0; }); return true;
    default: return false;
  }
}

tl::unexpected<core::Error> no_values(const TensorData& tensor) {
  const std::string type(to_string(tensor.type));
  if (tensor.type == ElementType::string)
    return fail(ErrorCode::unsupported, "the input '" + tensor.name + "' takes strings, which AACO cannot generate",
                "export the model without its tokenizer");
  return fail(ErrorCode::unsupported,
              "the input '" + tensor.name + "' has type " + type + ", for which no values can be generated",
              "export the model with a numeric input type");
}

// Uniform values in the range that a type is used for.
bool store_random(TensorData& tensor, core::Random& random, std::string& words) {
  if (tensor.type == ElementType::uint8) {
    words = "random bytes";
    return store(tensor, [&](std::size_t) { return static_cast<double>(random.below(256)); });
  }
  if (tensor.type == ElementType::int8) {
    words = "random values from -128 to 127";
    return store(tensor, [&](std::size_t) { return static_cast<double>(random.below(256)) - 128; });
  }
  words = "random values from -1 to 1";
  return store(tensor, [&](std::size_t) { return 2 * random.uniform() - 1; });
}

core::Result<std::string> store_positions(const InputMeaning& meaning, const StepContext& context, TensorData& tensor) {
  const std::int64_t length = tensor.shape.empty() ? 1 : tensor.shape.back();
  const std::int64_t end = context.past + length;
  if (meaning.table_rows && end > *meaning.table_rows)
    return fail(ErrorCode::invalid_argument,
                "the input '" + tensor.name + "' would reach position " + std::to_string(end) +
                    ", but the model's position table ends at " + std::to_string(*meaning.table_rows),
                "use a shorter sequence");
  if (!store(tensor, [&](std::size_t index) {
        return static_cast<double>(context.past + static_cast<std::int64_t>(index) % std::max<std::int64_t>(1, length));
      }))
    return no_values(tensor);
  return "positions from " + std::to_string(context.past);
}

}  // namespace

core::Result<InputOrigin> fill_values(const InputMeaning& meaning, const StepContext& context, core::Random random,
                                      TensorData& tensor) {
  InputOrigin origin{tensor.name, {}};
  bool stored = false;
  switch (meaning.kind) {
    case Kind::values: stored = store_random(tensor, random, origin.meaning); break;
    case Kind::indices: {
      const auto rows = static_cast<std::uint64_t>(meaning.table_rows.value_or(1));
      origin.meaning = "random indices into a table of " + std::to_string(rows) + " rows";
      stored = store(tensor, [&](std::size_t) { return static_cast<double>(random.below(rows)); });
      break;
    }
    case Kind::positions: {
      AACO_ASSIGN(origin.meaning, store_positions(meaning, context, tensor));
      return origin;
    }
    case Kind::mask:
      origin.meaning = "ones (nothing masked)";
      stored = store(tensor, [](std::size_t) { return 1.0; });
      break;
    case Kind::segment:
      origin.meaning = "zeros (single segment)";
      stored = store(tensor, [](std::size_t) { return 0.0; });
      break;
    case Kind::cache:
      origin.meaning = "small random values (cache of " + std::to_string(context.past) + " positions)";
      stored = store(tensor, [&](std::size_t) { return kCacheSpread * (2 * random.uniform() - 1); });
      break;
    case Kind::flag:
      origin.meaning = context.past > 0 ? "true (cache present)" : "false (no cache)";
      stored = store(tensor, [&](std::size_t) { return context.past > 0 ? 1.0 : 0.0; });
      break;
    case Kind::counts:
      origin.meaning = "random zeros and ones (their meaning is unknown)";
      stored = store(tensor, [&](std::size_t) { return static_cast<double>(random.below(2)); });
      break;
  }
  if (!stored) return no_values(tensor);
  return origin;
}

}  // namespace aaco::runner
