#include <algorithm>
#include <map>
#include <utility>

#include "analytics/steps.h"

namespace aaco::analytics::steps {
namespace {

constexpr std::size_t kLookedAt = 200'000;
constexpr std::size_t kCandidates = 64;
constexpr std::size_t kSamples = 20'000;

// Share of (sampled) elements that come again `period` later.
double agreement_at(const std::vector<std::uint32_t>& sequence, std::size_t size, std::size_t period) {
  const std::size_t pairs = size - period;
  const std::size_t stride = std::max<std::size_t>(1, pairs / kSamples);
  std::size_t equal = 0, all = 0;
  for (std::size_t i = 0; i < pairs; i += stride, ++all) equal += sequence[i] == sequence[i + period] ? 1 : 0;
  return all > 0 ? static_cast<double>(equal) / static_cast<double>(all) : 0;
}

}  // namespace

// Once a period there is a rarest name: the distances between its places are the candidates, so not every length is tried.
std::optional<std::size_t> period_of(const std::vector<std::uint32_t>& sequence, double agreement) {
  const std::size_t size = std::min(sequence.size(), kLookedAt);
  if (size < 6) return std::nullopt;
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < size; ++i) places[sequence[i]].push_back(i);
  std::map<std::size_t, std::size_t> distances;  // distance -> how often
  std::vector<const std::vector<std::size_t>*> rarest;
  for (const auto& [name, at] : places)
    if (at.size() >= 3) rarest.push_back(&at);
  std::sort(rarest.begin(), rarest.end(), [](const auto* a, const auto* b) { return a->size() < b->size(); });
  if (rarest.size() > kCandidates) rarest.resize(kCandidates);
  for (const auto* at : rarest)
    for (std::size_t i = 1; i < at->size(); ++i) ++distances[(*at)[i] - (*at)[i - 1]];
  std::vector<std::pair<std::size_t, std::size_t>> often;
  for (const auto& [distance, count] : distances) often.emplace_back(count, distance);
  std::sort(often.rbegin(), often.rend());
  if (often.size() > kCandidates) often.resize(kCandidates);
  std::optional<std::size_t> best;
  for (const auto& [count, distance] : often)
    if (3 * distance <= size && (!best || distance < *best) && agreement_at(sequence, size, distance) >= agreement)
      best = distance;
  return best;
}

std::size_t first_of_period(const std::vector<float>& idle_ns, std::size_t period) {
  const std::size_t size = std::min(idle_ns.size(), kLookedAt);
  if (period < 2 || size < 3 * period) return 0;
  const auto usual = [&](std::size_t place) {
    std::vector<float> values;
    for (std::size_t i = place == 0 ? period : place; i < size; i += period)
      values.push_back(idle_ns[i]);  // none before the very first
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  std::size_t longest = 0;
  float first = -1, second = -1;
  for (std::size_t place = 0; place < period; ++place) {
    const float idle = usual(place);
    if (idle > first) {
      second = std::exchange(first, idle);
      longest = place;
    } else {
      second = std::max(second, idle);
    }
  }
  return first > 0 && first >= 2 * second ? longest : 0;
}

}  // namespace aaco::analytics::steps
