#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

#include "core/random.h"

// Series made with known changes, for tests and benchmarks: families of what histories look like. The same seed makes the same.
namespace aaco::stats::testing {

struct MadeSeries {
  std::string_view family;
  std::vector<double> values;
  std::vector<std::int64_t> changes;  // first values after a change
};

class SeriesMaker {
 public:
  explicit SeriesMaker(std::uint64_t seed) : random_(seed) {}

  double uniform(double low, double high) { return low + (high - low) * random_.uniform(); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(double probability) { return random_.uniform() < probability; }
  double sign() { return chance(0.5) ? -1 : 1; }
  double normal() { return random_.normal(); }
  // Log-uniform.
  std::int64_t length(double low, double high) { return std::lround(std::exp(uniform(std::log(low), std::log(high)))); }

  // Student's t with 3 degrees of freedom, of variance 1.
  double heavy_tailed() {
    const double value = normal();
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(normal(), 2);
    return value / std::sqrt(squares);
  }

  // First-order autocorrelated, of variance 1.
  std::vector<double> noise(std::int64_t count, double correlation, bool heavy = false) {
    std::vector<double> values;
    double state = normal();
    for (std::int64_t i = 0; i < count; ++i) {
      values.push_back(state);
      state = correlation * state + std::sqrt(1 - correlation * correlation) * (heavy ? heavy_tailed() : normal());
    }
    return values;
  }

  // Up to `count` places, ascending, at least `gap` apart and from both ends.
  std::vector<std::int64_t> places(std::int64_t length, std::int64_t count, std::int64_t gap) {
    for (; count > 0 && (count + 1) * gap < length; --count)
      for (int attempt = 0; attempt < 50; ++attempt) {
        std::vector<std::int64_t> result;
        for (std::int64_t i = 0; i < count; ++i) result.push_back(between(gap, length - gap));
        std::sort(result.begin(), result.end());
        bool apart = true;
        for (std::size_t i = 1; i < result.size(); ++i) apart = apart && result[i] - result[i - 1] >= gap;
        if (apart) return result;
      }
    return {};
  }

 private:
  core::Random random_;
};

// Adds, from each of the places on, what `step` draws.
template <class Step>
void add_steps(MadeSeries& made, Step&& step) {
  double level = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < made.values.size(); ++i) {
    if (next < made.changes.size() && static_cast<std::int64_t>(i) == made.changes[next]) {
      level += step();
      ++next;
    }
    made.values[i] += level;
  }
}

// Adds what `level` says of each index.
template <class Level>
void add_level(MadeSeries& made, Level&& level) {
  for (std::size_t i = 0; i < made.values.size(); ++i) made.values[i] += level(static_cast<double>(i));
}

inline MadeSeries made_steps(std::string_view family, SeriesMaker& maker, std::int64_t length, double correlation, bool heavy,
                             std::int64_t count, double low, double high) {
  MadeSeries made{family, maker.noise(length, correlation, heavy), maker.places(length, count, 12)};
  add_steps(made, [&] { return maker.sign() * maker.uniform(low, high); });
  return made;
}

// Continuous, of `made.changes.size() + 1` slopes that differ by `least` at least; the height is in units of the noise.
inline void add_bends(MadeSeries& made, SeriesMaker& maker, double first, double most, double least) {
  const auto n = static_cast<double>(made.values.size());
  double slope = maker.uniform(-first, first) / n, level = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < made.values.size(); ++i) {
    if (next < made.changes.size() && static_cast<std::int64_t>(i) == made.changes[next]) {
      double turned = slope;
      while (std::abs(turned - slope) < least / n) turned = maker.uniform(-most, most) / n;
      slope = turned;
      ++next;
    }
    level += slope;
    made.values[i] += level;
  }
}

// Whether the values after a change at `place` came back to the level before it, to within 35 % of its height, for three values:
// then it is reversed, and a longer series may take it back. The height of a bend is that after twelve values.
inline bool is_reversed(const std::vector<double>& series, std::int64_t place, bool bend) {
  constexpr std::int64_t kValues = 3, kBendReach = 12;
  const auto level = [&](std::int64_t from) {
    std::vector<double> part(series.begin() + from, series.begin() + from + kValues);
    std::sort(part.begin(), part.end());
    return part[1];
  };
  const auto n = static_cast<std::int64_t>(series.size());
  const std::int64_t away = place + (bend ? kBendReach - kValues : 0);
  if (place < kValues || away + kValues > n) return false;
  const double before = level(place - kValues), height = level(away) - before;
  for (std::int64_t from = away + 1; from + kValues <= n; ++from)
    if ((level(from) - before) * (height < 0 ? -1 : 1) < 0.35 * std::abs(height)) return true;
  return false;
}

inline constexpr int kFamilies = 20;

// A series of family 0 to kFamilies - 1.
inline MadeSeries make_series(int family, std::uint64_t seed) {
  SeriesMaker maker(seed * 1000 + static_cast<std::uint64_t>(family));
  constexpr double kTurn = 2 * std::numbers::pi;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  MadeSeries made;
  switch (family) {
    case 0: return {"no change", maker.noise(maker.length(1, 5000), maker.uniform(0, 0.8)), {}};
    case 1: return made_steps("steps", maker, maker.length(40, 5000), maker.uniform(0, 0.3), false, maker.between(1, 6), 2.5, 8);
    case 2:
      return made_steps("steps, autocorrelated", maker, maker.length(60, 1000), maker.uniform(0.3, 0.7), false,
                        maker.between(1, 4), 4, 9);
    case 3:
      return made_steps("steps, heavy tails", maker, maker.length(40, 1000), maker.uniform(0, 0.3), true, maker.between(1, 4), 4,
                        10);
    case 4: return made_steps("few values", maker, maker.between(1, 14), 0, false, 0, 0, 0);
    case 5: {
      const std::int64_t n = maker.length(30, 1500);
      const double height = maker.uniform(-30, 30);
      made = {"line", maker.noise(n, maker.uniform(0, 0.6)), {}};
      add_level(made, [&](double i) { return height * i / real(n); });
      return made;
    }
    case 6: {
      const std::int64_t n = maker.length(60, 800);
      const double height = maker.uniform(-40, 40), step = maker.sign() * maker.uniform(6, 15);
      made = {"line with a step", maker.noise(n, maker.uniform(0, 0.4)), {maker.between(n / 5, 4 * n / 5)}};
      add_level(made, [&](double i) { return height * i / real(n) + (i >= real(made.changes[0]) ? step : 0); });
      return made;
    }
    case 7: {
      const std::int64_t n = maker.length(50, 600);
      made = {"bends", maker.noise(n, maker.uniform(0, 0.5)), maker.places(n, maker.between(1, 3), n / 5)};
      add_bends(made, maker, 20, 60, 30);
      return made;
    }
    case 8: {
      const std::int64_t n = maker.length(40, 300);
      made = {"bends, little noise", maker.noise(n, maker.uniform(0.3, 0.8)), maker.places(n, maker.between(0, 2), n / 4)};
      const double quiet = maker.uniform(50, 300);  // height in units of the noise
      add_bends(made, maker, quiet, 3 * quiet, 1.2 * quiet);
      return made;
    }
    case 9: {
      const std::int64_t n = maker.length(80, 800), start = maker.between(n / 5, 2 * n / 5), width = maker.between(n / 6, n / 3);
      const double height = maker.sign() * maker.uniform(8, 25);
      made = {"ramp", maker.noise(n, maker.uniform(0, 0.4)), {start, start + width}};
      add_level(made, [&](double i) { return height * std::clamp((i - real(start)) / real(width), 0.0, 1.0); });
      return made;
    }
    case 10: {
      const std::int64_t n = maker.length(40, 1000), kind = maker.between(0, 2);
      const double height = maker.uniform(10, 150);
      made = {"curve", maker.noise(n, maker.uniform(0, 0.6)), {}};
      add_level(made, [&](double i) {
        const double x = i / real(n);
        return height * (kind == 0 ? (std::exp(2 * x) - 1) / (std::exp(2.0) - 1) : kind == 1 ? std::sqrt(x) : x * x);
      });
      return made;
    }
    case 11: {
      made = {"random walk", std::vector<double>(static_cast<std::size_t>(maker.length(30, 1500))), {}};
      const double drift = maker.uniform(-0.3, 0.3);
      double level = 0;
      for (double& value : made.values) value = level += drift + maker.normal();
      return made;
    }
    case 12: {
      const std::int64_t period = maker.between(4, 24), n = std::max(6 * period, maker.length(72, 600));
      const double height = maker.uniform(1.5, 6), second = maker.uniform(0, 0.5) * height, shift = maker.uniform(0, kTurn);
      const double slope = maker.uniform(-15, 15) / real(n), growth = maker.chance(0.4) ? maker.uniform(0, 1.5) / real(n) : 0;
      made = {"season", maker.noise(n, maker.uniform(0, 0.4)), {}};
      add_level(made, [&](double i) {
        const double phase = kTurn * i / real(period);
        return slope * i + (1 + growth * i) * (height * std::sin(phase) + second * std::sin(2 * phase + shift));
      });
      return made;
    }
    case 13: {
      const std::int64_t period = maker.between(4, 24), n = std::max(8 * period, maker.length(96, 600));
      const double height = maker.uniform(1.5, 5), step = maker.sign() * maker.uniform(1.5, 3) * height;
      made = {"season with a step", maker.noise(n, maker.uniform(0, 0.3)), {maker.between(n / 4, 3 * n / 4)}};
      add_level(made,
                [&](double i) { return height * std::sin(kTurn * i / real(period)) + (i >= real(made.changes[0]) ? step : 0); });
      return made;
    }
    case 14: {
      const std::int64_t kind = maker.between(0, 3), periods[] = {7, 24, 48, 100}, period = periods[kind];
      const double height = maker.uniform(2, 8);
      made = {"daily and weekly cycles", maker.noise(period * maker.between(6, 12), maker.uniform(0, 0.4)), {}};
      add_level(made, [&](double i) {
        const double phase = std::fmod(i, real(period));
        if (kind == 0) return phase >= 5 ? -height : 0;
        if (kind == 1) return phase >= 8 && phase < 18 ? height : 0;
        return height * std::sin(kTurn * phase / real(period));
      });
      return made;
    }
    case 15: {
      made = {"spikes", maker.noise(maker.length(30, 2000), maker.uniform(0, 0.5)), {}};
      const double rate = maker.uniform(0.005, 0.05);
      for (std::size_t i = 0; i < made.values.size(); ++i) {
        if (!maker.chance(rate)) continue;
        const double height = (maker.chance(0.3) ? -1 : 1) * maker.uniform(5, 40);
        const std::size_t count = maker.chance(0.8) ? 1 : 2;
        for (std::size_t j = i; j < std::min(i + count, made.values.size()); ++j) made.values[j] += height;
        i += count + 2;
      }
      return made;
    }
    case 16: {
      const std::int64_t n = maker.length(60, 1000), start = maker.between(n / 3, 2 * n / 3);
      const double factor = maker.uniform(1.5, 3);
      made = {"growing noise", maker.noise(n, maker.uniform(0, 0.3)), {}};
      for (std::size_t i = static_cast<std::size_t>(start); i < made.values.size(); ++i) made.values[i] *= factor;
      return made;
    }
    case 17: {  // a benchmark's history: two modes, slow runs, steps by shares
      const std::int64_t n = maker.length(20, 500);
      const double spread = maker.uniform(0.003, 0.03), second = maker.uniform(0, 0.25), distance = maker.uniform(2, 6);
      made = {"benchmark", {}, maker.places(n, std::min(maker.between(0, 4), n / 20), 6)};
      double level = 1000;
      for (std::int64_t i = 0; i < n; ++i) {
        if (std::binary_search(made.changes.begin(), made.changes.end(), i))
          level *= 1 + maker.sign() * spread * maker.uniform(4, 12);
        double noise = maker.normal();
        if (maker.chance(second)) noise += distance;
        if (maker.chance(0.02)) noise += maker.uniform(5, 30);
        made.values.push_back(level * (1 + spread * noise));
      }
      return made;
    }
    case 18: {
      const std::int64_t n = maker.length(40, 800);
      const double spread = maker.uniform(0.005, 0.05);
      made = {"proportional noise", {}, maker.places(n, std::min(maker.between(1, 4), n / 20), 10)};
      double level = 100;
      for (std::int64_t i = 0; i < n; ++i) {
        if (std::binary_search(made.changes.begin(), made.changes.end(), i))
          level *= std::pow(maker.uniform(1.5, 4), maker.sign());
        made.values.push_back(level * std::exp(spread * maker.normal()));
      }
      return made;
    }
    default: {
      const std::int64_t n = maker.length(30, 600);
      double mean = maker.uniform(4, 40);
      made = {"rounded", {}, maker.places(n, std::min(maker.between(0, 2), n / 30), 12)};
      for (std::int64_t i = 0; i < n; ++i) {
        if (std::binary_search(made.changes.begin(), made.changes.end(), i)) mean *= maker.chance(0.5) ? 0.35 : 2.8;
        made.values.push_back(std::round(mean + std::sqrt(mean) * maker.normal()));
      }
      return made;
    }
  }
}

}  // namespace aaco::stats::testing
