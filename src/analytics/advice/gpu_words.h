#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analytics/gpu_advice.h"

// How advice on a GPU trace says times, shares and numbers.
namespace aaco::analytics::advice {

// What every gain and share is relative to, in ns and in words.
double whole_ns(const GpuFacts& facts);
std::string_view whole(const GpuFacts& facts);

// "12.0 ms (30 % of the device span)"
std::string share(double ns, const GpuFacts& facts);
// "the device span would take 28.0 ms instead of 40.0 ms"
std::string span_then(double saved_ns, const GpuFacts& facts);

std::string gaps(std::int64_t count);
std::string waits(std::int64_t count);
std::string calls(double count);

// A kernel's name, a long one by what tells it from others, a longer one without its end.
std::string short_name(const std::string& name);

}  // namespace aaco::analytics::advice
