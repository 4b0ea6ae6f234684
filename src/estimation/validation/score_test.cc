#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "estimation/validation.h"

namespace aaco::estimation {
namespace {

Judged row(const std::string& site, double measured, std::optional<double> estimated, const std::string& group = "gemm bf16") {
  return {group, site, measured, estimated, estimated.value_or(0) * 0.9, estimated.value_or(0) * 1.1};
}

TEST(Score, ByHand) {
  const std::vector<Judged> rows{row("a", 10, 11), row("a", 10, 9), row("b", 10, 10), row("b", 10, 14),
                                 row("c", 10, std::nullopt)};
  const Scores scores = score(rows);
  EXPECT_EQ(scores.count, 4);
  EXPECT_EQ(scores.without_estimate, 1);
  EXPECT_EQ(scores.sites, 2);
  EXPECT_NEAR(scores.mean_ape->value, 0.15, 1e-12);
  EXPECT_NEAR(scores.median_ape->value, 0.1, 1e-12);
  EXPECT_NEAR(scores.bias->value, 0.1, 1e-12);
  EXPECT_NEAR(scores.coverage90->value, 0.5, 1e-12) << "10 is in 9.9..12.1 and in 9..11, not in 8.1..9.9 and 12.6..15.4";
}

TEST(Score, WithoutAnEstimateThereIsNoFigure) {
  const Scores scores = score(std::vector<Judged>{row("a", 10, std::nullopt)});
  EXPECT_EQ(scores.without_estimate, 1);
  EXPECT_FALSE(scores.mean_ape);
  EXPECT_FALSE(score({}).mean_ape);
}

TEST(Score, OneSiteHasNoInterval) {
  const Scores scores = score(std::vector<Judged>{row("a", 10, 11), row("a", 10, 12)});
  EXPECT_FALSE(scores.mean_ape->ci95);
}

// Sites differ, rows of one site do not: resampling rows would claim far too much.
TEST(Score, IntervalsAreOfSitesNotOfRows) {
  core::Random random(1);
  int caught = 0;
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Judged> rows;
    for (int site = 0; site < 30; ++site) {
      const double error = std::abs(random.normal());
      for (int i = 0; i < 20; ++i) rows.push_back(row(std::to_string(site), 1, 1 + error));
    }
    const auto scores = score(rows);
    const double truth = std::sqrt(2 / M_PI);
    caught += scores.mean_ape->ci95->low <= truth && truth <= scores.mean_ape->ci95->high ? 1 : 0;
  }
  EXPECT_GE(caught, 50) << "of 60, 57 expected";
}

TEST(Score, GroupsAreSeparate) {
  const auto groups = score_groups(std::vector<Judged>{row("a", 10, 11, "x"), row("b", 10, 10, "y")});
  EXPECT_NEAR(groups.at("x").mean_ape->value, 0.1, 1e-12);
  EXPECT_NEAR(groups.at("y").mean_ape->value, 0, 1e-12);
}

TEST(Score, DocumentOmitsUnknownValues) {
  const core::Json document = to_json(score(std::vector<Judged>{row("a", 10, std::nullopt)}));
  EXPECT_FALSE(document.contains("mean_ape"));
  EXPECT_EQ(document["without_estimate"].as_i64(), 1);
}

}  // namespace
}  // namespace aaco::estimation
