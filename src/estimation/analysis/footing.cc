#include "estimation/analysis/footing.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::estimation {

void Footing::add(Level level, const std::string& source, double amount) {
  levels_[level] += amount;
  sources_[source] += amount;
  all_ += amount;
}

void Footing::grade(std::string_view what, Estimate& sum) const {
  constexpr double kMatters = 0.1;
  for (const auto& [level, amount] : levels_)
    if (amount >= kMatters * all_) sum.level = std::max(sum.level, level);
  std::string text;
  for (const auto& [source, amount] : sources_)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", source,
                        sources_.size() > 1 ? fmt::format(" ({:.0f} % of the {})", 100 * amount / all_, what) : "");
  sum.source = text;
}

}  // namespace aaco::estimation
