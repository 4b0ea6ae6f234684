#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

// How unevenly the tokens of a step load the experts, and with them the ranks that share the experts of a layer: all ranks wait
// for the busiest.
namespace aaco::estimation {

struct ExpertRouting {
  enum class Kind : std::uint8_t {
    uniform,    // every token chooses its experts at random, all alike
    even,       // every rank gets the mean
    power_law,  // popularities of experts are drawn from a power law: `value` is its exponent
    factor,     // the busiest rank gets `value` times the mean
  };
  Kind kind = Kind::uniform;
  double value = 0;
  bool operator==(const ExpertRouting&) const = default;
};
// "uniform", "even", "power_law_1.2" (exponents up to 10) or a number of 1 to 1000.
core::Result<ExpertRouting> parse_routing(std::string_view text);
std::string to_string(const ExpertRouting& routing);

// A layer of `experts`, of which each token visits `per_token`, divided among `groups` ranks.
struct RoutedLayer {
  double experts = 1, per_token = 1, groups = 1;
};
struct BusiestRank {
  double visits = 0;        // rows of all its experts together
  double experts = 0;       // of it with at least one row, expected
  double most_experts = 0;  // the same of the rank that has most of them
  double imbalance = 1;     // its visits over the mean of the ranks
};
// Expected load of the busiest rank in a step of `rows` tokens, at least one. No expert has more visits than there are tokens.
//   uniform    The largest of G binomials of rows x k visits and 1/G: up to 64 visits a rank the sum of 1 - F(v)^G over v, beyond
//              mean + deviation q((G - 3/8) / (G + 1/4)), q the normal quantile (Blom, Statistical Estimates and Transformed
//              Beta-Variables, 1958). What is above the mean is multiplied by the root of (E - k)/(E - 1), because a token
//              chooses k different ones of E experts, and of G / (G - 1), because the visits add up to a constant.
//   power_law  As tables of measured experts have it (docs/formats/calibration.md): popularities between 1 and 0.8 x rows, or
//              between 0.01 and 2 where there are no more visits than experts; the mean over orders of the experts by one seed,
//              at least `uniform`.
BusiestRank busiest_rank(const RoutedLayer& layer, double rows, const ExpertRouting& routing);

}  // namespace aaco::estimation
