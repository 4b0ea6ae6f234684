#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace aaco::analytics::trend {

// Noise of two levels: values that stay for a while and then go back, over and over (two placements of a process in memory, two
// clock states). Where they go next is chance; a change of level is one that such chance does not explain.
struct TwoLevels {
  double low = 0, high = 0;
  std::size_t flips = 0;      // from one level to the other
  std::vector<bool> is_high;  // by value
};

// Empty unless the values lie on two levels that are at least kMinSeparation of their own deviations apart, and change between
// them at least kMinFlips times.
inline constexpr double kMinSeparation = 4;
inline constexpr std::size_t kMinFlips = 6;
std::optional<TwoLevels> two_levels(std::span<const double> values);

// Whether the flips explain a change at `place` from the values from `from` on to those before `to`: both segments are on the two
// levels, which stay where they are (rare spikes are a level of their own, and a step moves the other one), none of them stays on
// one for longer than chance would have it, and the shares of the levels do not differ by more.
bool explained_by_flips(const TwoLevels& levels, std::span<const double> values, std::size_t from, std::size_t place,
                        std::size_t to);

}  // namespace aaco::analytics::trend
