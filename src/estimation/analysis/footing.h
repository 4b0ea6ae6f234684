#pragma once

#include <map>
#include <string>
#include <string_view>

#include "estimation/analysis.h"

namespace aaco::estimation {

// What the source of an estimate by achieved rates begins with; the devices follow.
inline constexpr std::string_view kAchievedRates = "achieved rates of ";

// What a sum rests on: how much of it has which level, and which source.
class Footing {
 public:
  void add(Level level, const std::string& source, double amount);
  // The worst level that a tenth of the sum rests on (at least the estimate's own), and the sources with their shares of `what`.
  void grade(std::string_view what, Estimate& sum) const;

 private:
  [[nodiscard]] std::string shares(std::string_view what) const;

  std::map<Level, double> levels_;
  std::map<std::string, double> sources_;
  double all_ = 0;
};

}  // namespace aaco::estimation
