#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/gpu_metrics.h"

namespace aaco::formats::gpu_metrics {

// What one count of a raw number is worth, and in which unit of GpuMetricsField.
enum class Scale : std::uint8_t {
  one,
  hundredth,       // percent to a ratio, hundredths of a degree
  ten_thousandth,  // hundredths of a percent to a ratio
  milli,           // mW, mV, mA
  mega,            // MHz, MB/s
  giga,            // GB/s, Gbit/s
  hundred_mega,    // 0.1 GT/s
  kilo,            // KB
  energy_count,    // 2^-16 J (15.259 uJ)
  nano,            // ns to s
  ten_nano,        // 10 ns to s
};
double factor(Scale scale);

// `count` numbers of `width` bytes each, at the next offset that is a multiple of the width (the C ABI's natural alignment).
struct Item {
  GpuMetricsField field = GpuMetricsField::reserved;
  std::uint8_t width = 0;
  std::uint8_t count = 1;
  Scale scale = Scale::one;
};

struct Layout {
  int format = 0, content = 0;
  std::span<const Item> head;
  std::span<const Item> partition;  // repeated eight times, aligned to 8 bytes
  std::span<const Item> tail;
  std::size_t size = 0;  // of the whole structure with its padding, the 4 bytes of the header included
};

// The layout of a version, or null.
const Layout* find_layout(int format, int content);

inline constexpr std::size_t kHeaderBytes = 4;
inline constexpr int kPartitions = 8;

constexpr std::size_t align(std::size_t offset, std::size_t width) { return (offset + width - 1) / width * width; }
constexpr std::size_t end_of(std::size_t offset, std::span<const Item> items) {
  for (const Item& item : items) offset = align(offset, item.width) + std::size_t{item.width} * item.count;
  return offset;
}

// What an attribute of a v1.9 table means: its id -> field and scale; reserved for an unknown id.
Item attribute(std::uint32_t id);

std::span<const Layout> layouts_v1();
std::span<const Layout> layouts_v2_v3();

}  // namespace aaco::formats::gpu_metrics
