#pragma once

#include <string_view>
#include <vector>

namespace aaco::estimation {

// What trees of a kind see of fixed kernels on a fixed device, and the seconds that their answers are relative to. Trees that
// were fitted where these figures were others answer other questions than this release asks.
// Of a type whose weights are narrower than its activations the figures are its own.
std::vector<double> probe_of(std::string_view kind, std::string_view type);
// The same of energy.
std::vector<double> energy_probe();

// Equal but for the last digits, in which mathematical libraries differ.
bool same_probe(const std::vector<double>& one, const std::vector<double>& other);

}  // namespace aaco::estimation
