#include "analytics/advice/gpu_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"
#include "trace/kernel_name.h"

namespace aaco::analytics::advice {

double whole_ns(const GpuFacts& facts) { return std::max(facts.span_ns, facts.steps_ns); }
std::string_view whole(const GpuFacts& facts) { return facts.steps_ns > facts.span_ns ? "the steps" : "the device span"; }

std::string share(double ns, const GpuFacts& facts) {
  return fmt::format("{} ({} of {})", core::format_duration(ns), core::format_percent(ns / whole_ns(facts)), whole(facts));
}

std::string span_then(double saved_ns, const GpuFacts& facts) {
  return fmt::format("{} would take {} instead of {}", whole(facts), core::format_duration(whole_ns(facts) - saved_ns),
                     core::format_duration(whole_ns(facts)));
}

std::string gaps(std::int64_t count) {
  if (count == 0) return "parts of gaps whose main cause is another";
  return core::format_count(static_cast<double>(count)) + (count == 1 ? " gap" : " gaps");
}

std::string waits(std::int64_t count) {
  return core::format_count(static_cast<double>(count)) + (count == 1 ? " wait" : " waits");
}

std::string calls(double count) { return core::format_count(count) + (count == 1 ? " call" : " calls"); }

// A kernel's name, a long one by what tells it from others, a longer one without its end.
std::string short_name(const std::string& name) {
  constexpr std::size_t kLongest = 60;
  if (name.size() <= kLongest) return name;
  std::string shorter = trace::short_kernel_name(name);
  return shorter.size() <= kLongest ? shorter : shorter.substr(0, kLongest - 3) + "...";
}

}  // namespace aaco::analytics::advice
