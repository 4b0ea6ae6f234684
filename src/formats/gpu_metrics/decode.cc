#include <algorithm>
#include <cstring>
#include <string>

#include "formats/gpu_metrics.h"
#include "formats/gpu_metrics/layouts.h"

namespace aaco::formats {

using namespace gpu_metrics;

namespace {

constexpr int kSelfDescribing = 9;  // v1.9
constexpr std::uint32_t kInstanceBits = 10, kIdBits = 10, kTypeBits = 4;
constexpr std::uint8_t kTypeWidths[] = {1, 1, 2, 2, 4, 4, 8, 8};  // u8 s8 u16 s16 u32 s32 u64 s64

std::uint64_t read_number(std::string_view bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;  // the table is little-endian, as every machine that has one
  std::memcpy(&value, bytes.data() + offset, width);
  return value;
}

// All bits set means "not available".
bool available(std::uint64_t raw, std::size_t width) { return raw != ~std::uint64_t{0} >> (64 - 8 * width); }

void take(std::string_view bytes, std::size_t offset, const Item& item, std::size_t count, std::size_t first_index,
          GpuMetrics& into) {
  if (item.field == GpuMetricsField::reserved) return;
  const double unit = factor(item.scale);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t raw = read_number(bytes, offset + i * item.width, item.width);
    if (!available(raw, item.width)) {
      ++into.not_available;
      continue;
    }
    std::int16_t& first = into.first[static_cast<std::size_t>(item.field)];
    if (first < 0) first = static_cast<std::int16_t>(into.values.size());
    into.values.push_back({item.field, static_cast<std::uint16_t>(first_index + i), raw, static_cast<double>(raw) * unit});
  }
}

std::size_t take_all(std::string_view bytes, std::size_t offset, std::span<const Item> items, std::size_t instance,
                     GpuMetrics& into) {
  for (const Item& item : items) {
    offset = align(offset, item.width);
    take(bytes, offset, item, item.count, instance * item.count, into);
    offset += std::size_t{item.width} * item.count;
  }
  return offset;
}

std::string version_text(int format, int content) {
  return "gpu_metrics v" + std::to_string(format) + "." + std::to_string(content);
}

core::Status cut(int format, int content, std::size_t have, std::size_t need) {
  return core::fail(core::ErrorCode::invalid_input, version_text(format, content) + " is truncated: " + std::to_string(have) +
                                                        " of " + std::to_string(need) + " bytes, so its values are unreliable");
}

core::Status decode_fixed(std::string_view bytes, std::size_t stated, const Layout& layout, GpuMetrics& into) {
  if (bytes.size() < layout.size || stated < layout.size)
    return cut(layout.format, layout.content, std::min(bytes.size(), stated), layout.size);
  std::size_t offset = take_all(bytes, kHeaderBytes, layout.head, 0, into);
  if (!layout.partition.empty()) {
    offset = align(offset, 8);
    for (std::size_t partition = 0; partition < kPartitions; ++partition)
      offset = align(take_all(bytes, offset, layout.partition, partition, into), 8);
  }
  take_all(bytes, offset, layout.tail, 0, into);
  return {};
}

// v1.9 is packed: a count, then for each attribute a 64-bit description (unit, type, id, instances) and its values.
core::Status decode_attributes(std::string_view bytes, std::size_t stated, GpuMetrics& into) {
  const std::size_t end = std::min(bytes.size(), stated);
  std::size_t offset = kHeaderBytes + 4;
  if (end < offset) return cut(1, kSelfDescribing, end, offset);
  const std::uint64_t attributes = read_number(bytes, kHeaderBytes, 4);
  for (std::uint64_t i = 0; i < attributes; ++i) {
    if (end - offset < 8) return cut(1, kSelfDescribing, end, offset + 8);
    const std::uint64_t description = read_number(bytes, offset, 8);
    offset += 8;
    const std::size_t instances = description & ((1U << kInstanceBits) - 1);
    const auto id = static_cast<std::uint32_t>(description >> kInstanceBits) & ((1U << kIdBits) - 1);
    const std::size_t type = (description >> (kInstanceBits + kIdBits)) & ((1U << kTypeBits) - 1);
    if (type >= std::size(kTypeWidths))
      return core::fail(core::ErrorCode::invalid_input, version_text(1, kSelfDescribing) + " has an unknown number type");
    Item item = attribute(id);
    item.width = kTypeWidths[type];
    if (end - offset < instances * item.width) return cut(1, kSelfDescribing, end, offset + instances * item.width);
    if (item.field == GpuMetricsField::reserved) ++into.unknown_fields;
    take(bytes, offset, item, instances, 0, into);
    offset += instances * item.width;
  }
  return {};
}

}  // namespace

core::Status decode_gpu_metrics(std::string_view bytes, GpuMetrics& into) {
  into.values.clear();
  into.first.fill(-1);
  into.format = into.content = 0;
  into.not_available = into.unknown_fields = 0;
  if (bytes.size() < kHeaderBytes)
    return core::fail(core::ErrorCode::invalid_input,
                      "gpu_metrics has only " + std::to_string(bytes.size()) + " bytes, too few for its header");
  const std::size_t stated = read_number(bytes, 0, 2);
  into.format = static_cast<int>(read_number(bytes, 2, 1));
  into.content = static_cast<int>(read_number(bytes, 3, 1));
  if (into.format == 1 && into.content == kSelfDescribing) return decode_attributes(bytes, stated, into);
  if (const Layout* layout = find_layout(into.format, into.content)) return decode_fixed(bytes, stated, *layout, into);
  return core::fail(core::ErrorCode::unsupported,
                    version_text(into.format, into.content) + " is not supported by this version of AACO",
                    "the GPU's other sensors are still read");
}

const GpuMetricsValue* GpuMetrics::find(GpuMetricsField field, std::uint16_t index) const {
  if (values.empty() || first[static_cast<std::size_t>(field)] < 0) return nullptr;
  for (auto at = static_cast<std::size_t>(first[static_cast<std::size_t>(field)]); at < values.size(); ++at)
    if (values[at].field == field && values[at].index == index) return &values[at];
  return nullptr;
}

ThrottleBits throttle_bits(std::uint64_t independent_status) {
  const auto any = [&](int first, int last) {
    return (independent_status >> first & ((std::uint64_t{1} << (last - first + 1)) - 1)) != 0;
  };
  return {any(0, 15), any(16, 31), any(32, 55), any(56, 63)};
}

}  // namespace aaco::formats
