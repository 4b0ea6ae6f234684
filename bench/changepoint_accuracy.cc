// How well change points are found, as one JSON object: made series of every family (F1 and covering beside binary segmentation
// with MBIC and beside no answer), false alarms, power, changes that a longer series takes back, and the annotated series of a
// folder in the Turing Change Point Dataset's form.
// Usage: changepoint_accuracy SEED [SERIES_PER_FAMILY] [FOLDER]
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/random.h"
#include "stats/change_scores_testing.h"
#include "stats/change_series_testing.h"
#include "stats/changepoint.h"

namespace {

using aaco::core::Json;
using Series = std::vector<double>;
using Places = std::vector<std::int64_t>;
using namespace aaco::stats::testing;

Places found_in(const Series& series) {
  Places places;
  for (const auto& change : aaco::stats::find_changes(series)) places.push_back(change.index);
  return places;
}

// Binary segmentation by means with the modified BIC (Zhang and Siegmund, 2007) and five changes at most, on the standardised
// series: the benchmark's BINSEG at default settings.
Places binary_segmentation(const Series& series) {
  const std::size_t n = series.size();
  if (n < 4) return {};
  double mean = 0, variance = 0;
  for (const double value : series) mean += value / static_cast<double>(n);
  for (const double value : series) variance += (value - mean) * (value - mean) / static_cast<double>(n - 1);
  if (variance <= 0) return {};
  std::vector<double> sums(n + 1, 0.0);
  for (std::size_t i = 0; i < n; ++i) sums[i + 1] = sums[i] + (series[i] - mean) / std::sqrt(variance);
  const auto part = [&](std::size_t from, std::size_t to) {
    const auto length = static_cast<double>(to - from);
    return (sums[to] - sums[from]) * (sums[to] - sums[from]) / length - std::log(length);
  };
  std::vector<std::size_t> bounds{0, n};
  while (bounds.size() < 7) {
    double best = 3 * std::log(static_cast<double>(n));
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
      for (std::size_t k = bounds[i] + 1; k < bounds[i + 1]; ++k) {
        const double gain = part(bounds[i], k) + part(k, bounds[i + 1]) - part(bounds[i], bounds[i + 1]);
        if (gain > best) {
          best = gain;
          place = k;
        }
      }
    if (place == 0) break;
    bounds.insert(std::upper_bound(bounds.begin(), bounds.end(), place), place);
  }
  Places places;
  for (std::size_t i = 1; i + 1 < bounds.size(); ++i) places.push_back(static_cast<std::int64_t>(bounds[i]));
  return places;
}

struct Scores {
  double f1 = 0, cover = 0, count = 0;
  void add(const Annotations& marks, const Places& found, std::size_t length) {
    f1 += f1_score(marks, found);
    cover += cover_score(marks, found, static_cast<std::int64_t>(length));
    ++count;
  }
  [[nodiscard]] Json json() const { return Json::object({{"f1", f1 / count}, {"cover", cover / count}}); }
};

struct Beside {
  Scores found, segmented, none;
  void add(const Annotations& marks, const Series& series) {
    found.add(marks, found_in(series), series.size());
    segmented.add(marks, binary_segmentation(series), series.size());
    none.add(marks, {}, series.size());
  }
  [[nodiscard]] Json json() const {
    return Json::object({{"aaco", found.json()}, {"binary_segmentation_mbic", segmented.json()}, {"no_answer", none.json()}});
  }
};

Json made_families(std::uint64_t seed, std::uint64_t count) {
  Beside all;
  Json families = Json::object();
  for (int family = 0; family < kFamilies; ++family) {
    Beside one;
    std::string name;
    for (std::uint64_t i = 0; i < count; ++i) {
      const MadeSeries made = make_series(family, seed + i);
      name = made.family;
      one.add({made.changes}, made.values);
      all.add({made.changes}, made.values);
    }
    families.set(name, one.json());
  }
  return Json::object(
      {{"series", static_cast<std::int64_t>(all.none.count)}, {"all", all.json()}, {"families", std::move(families)}});
}

Json false_alarms(std::uint64_t seed, std::uint64_t count) {
  Json rows = Json::array();
  for (const double correlation : {0.0, 0.5, 0.8})
    for (const std::int64_t length : {50, 200, 1000}) {
      std::int64_t alarms = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        alarms += found_in(SeriesMaker(seed + 7919 * i).noise(length, correlation)).empty() ? 0 : 1;
      rows.push(Json::object({{"correlation", correlation},
                              {"values", length},
                              {"share_with_a_change", static_cast<double>(alarms) / static_cast<double>(count)}}));
    }
  return rows;
}

bool near(const Places& places, std::int64_t place, std::int64_t margin) {
  return std::any_of(places.begin(), places.end(), [&](std::int64_t one) { return std::abs(one - place) <= margin; });
}

// A step of 6 deviations, reported with its first 3 values and with every longer prefix of 40 more.
Json confirmed_steps(std::uint64_t seed, std::uint64_t count) {
  Json rows = Json::array();
  for (const double correlation : {0.0, 0.5, 0.8})
    for (const std::int64_t place : {20, 57, 200}) {
      std::int64_t confirmed = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        Series series = SeriesMaker(seed + 104729 * i).noise(place + 43, correlation);
        for (auto at = series.begin() + place; at != series.end(); ++at) *at += 6;
        bool always = true;
        for (std::int64_t end = place + 3; end <= place + 43 && always; ++end)
          always = near(found_in({series.begin(), series.begin() + end}), place, 2);
        confirmed += always ? 1 : 0;
      }
      rows.push(Json::object({{"correlation", correlation},
                              {"place", place},
                              {"share_confirmed_within_3", static_cast<double>(confirmed) / static_cast<double>(count)}}));
    }
  return rows;
}

// Changes reported for a prefix that a longer prefix does not report within 2 values; those that the values had not reversed.
struct Vanished {
  std::int64_t all = 0, not_reversed = 0;
};

Vanished vanished_in(const Series& series, std::int64_t& appeared) {
  Vanished vanished;
  std::vector<aaco::stats::ChangePoint> before;
  const auto has = [](const std::vector<aaco::stats::ChangePoint>& changes, std::int64_t place) {
    return std::any_of(changes.begin(), changes.end(), [&](const auto& one) { return std::abs(one.index - place) <= 2; });
  };
  for (std::size_t end = 6; end <= series.size(); ++end) {
    const Series prefix(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(end));
    auto now = aaco::stats::find_changes(prefix);
    for (const auto& change : now) appeared += has(before, change.index) ? 0 : 1;
    for (const auto& change : before) {
      if (has(now, change.index)) continue;
      ++vanished.all;
      vanished.not_reversed += is_reversed(prefix, change.index, change.shape == aaco::stats::ChangeShape::bend) ? 0 : 1;
    }
    before = std::move(now);
  }
  return vanished;
}

Json prefixes(std::uint64_t seed, std::uint64_t count) {
  std::int64_t appeared = 0;
  Vanished all;
  Json where = Json::object();
  for (int family = 0; family < kFamilies; ++family) {
    Vanished here;
    std::string name;
    for (std::uint64_t i = 0; i < count; ++i) {
      MadeSeries made = make_series(family, seed + 500 + i);
      name = made.family;
      if (made.values.size() > 400) made.values.resize(400);
      const Vanished one = vanished_in(made.values, appeared);
      here = {here.all + one.all, here.not_reversed + one.not_reversed};
    }
    if (here.all > 0) where.set(name, Json::object({{"vanished", here.all}, {"not_reversed", here.not_reversed}}));
    all = {all.all + here.all, all.not_reversed + here.not_reversed};
  }
  return Json::object({{"appeared", appeared},
                       {"vanished", all.all},
                       {"vanished_not_reversed", all.not_reversed},
                       {"vanished_by_family", std::move(where)}});
}

Json annotated(const std::string& folder) {
  Beside all;
  Json rows = Json::object();
  for (const AnnotatedSeries& series : read_annotated_series(folder)) {
    Beside one;
    one.add(series.annotations, series.values);
    all.add(series.annotations, series.values);
    rows.set(series.name, one.json());
  }
  return Json::object({{"series", static_cast<std::int64_t>(all.none.count)},
                       {"all", all.none.count > 0 ? all.json() : Json()},
                       {"each", std::move(rows)}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "usage: changepoint_accuracy SEED [SERIES_PER_FAMILY] [FOLDER]\n");
    return 2;
  }
  const std::uint64_t seed = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  Json out = Json::object({{"seed", static_cast<std::int64_t>(seed)},
                           {"made", made_families(seed, count)},
                           {"false_alarms", false_alarms(seed, 40 * count)},
                           {"steps_of_6_deviations", confirmed_steps(seed, 20 * count)},
                           {"prefixes", prefixes(seed, (count + 1) / 2)}});
  if (argc > 3) out.set("annotated", annotated(argv[3]));
  fmt::print("{}\n", out.dump(2));
}
