#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <tuple>

#include "core/files.h"
#include "core/numbers.h"
#include "estimation/expert_routing.h"
#include "tests/estimates/measured_rows.h"

// The derived load of the busiest rank beside measured experts: the same layer, tokens, ranks and kernel with an even load and
// with power laws, of which the tables measured the busiest rank.
namespace aaco::estimation {
namespace {

using Site = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string>;

struct Errors {
  double without = 0, with = 0;  // sums of |log|
  std::size_t rows = 0;
};

Errors errors_of(const std::vector<Row>& rows, const std::string& distribution) {
  std::map<Site, double> even;
  const auto site = [](const Row& row) {
    return Site{row.at("dtype"),
                row.at("tokens"),
                row.at("hidden") + "x" + row.at("inter") + " " + row.at("gated"),
                row.at("experts") + " " + row.at("topk"),
                row.at("tp"),
                row.at("ep"),
                row.at("kernel")};
  };
  for (const Row& row : rows)
    if (row.at("distribution") == "balanced") even[site(row)] = core::parse_f64(row.at("latency_us")).value_or(0);
  Errors errors;
  for (const Row& row : rows) {
    const auto found = even.find(site(row));
    if (row.at("distribution") != distribution || found == even.end() || !(found->second > 0)) continue;
    const RoutedLayer layer{static_cast<double>(integer(row, "experts")), static_cast<double>(integer(row, "topk")),
                            static_cast<double>(integer(row, "ep"))};
    const double measured = std::log(core::parse_f64(row.at("latency_us")).value_or(0) / found->second);
    const BusiestRank rank = busiest_rank(layer, static_cast<double>(integer(row, "tokens")), *parse_routing(distribution));
    errors.without += std::abs(measured);
    errors.with += std::abs(measured - std::log(rank.imbalance));
    ++errors.rows;
  }
  return errors;
}

// Of many tokens, where the products set the time; with fewer, reading the experts' weights does, which does not depend on the
// load.
TEST(ExpertRouting, HalvesTheErrorOfEvenLoadsOnMeasuredExperts) {
  const std::string file = data_file("moe.csv.gz");
  if (!core::exists(file)) GTEST_SKIP() << "skipped, no real data";
  std::vector<Row> rows = rows_of(file, 1);
  std::erase_if(rows, [](const Row& row) {
    const auto ranks = integer(row, "ep");
    return ranks < 2 || ranks > 8 || integer(row, "tokens") <= 8192 || row.at("distribution") == "tuner-random";
  });
  for (const char* distribution : {"power_law_1.01", "power_law_1.2"}) {
    const Errors errors = errors_of(rows, distribution);
    ASSERT_GT(errors.rows, 100U);
    const auto count = static_cast<double>(errors.rows);
    std::printf("%s: %zu pairs, mean |log| of measured time over that of an even load %.3f, over the derived load %.3f\n",
                distribution, errors.rows, errors.without / count, errors.with / count);
    EXPECT_LT(errors.with, 0.55 * errors.without);
  }
}

}  // namespace
}  // namespace aaco::estimation
