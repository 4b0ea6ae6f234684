#include "estimation/calibration/full_attention.h"

#include <gtest/gtest.h>

#include <numeric>

namespace aaco::estimation {
namespace {

constexpr double kComputeS = 1e-4;  // at the device's peak

std::vector<bool> full(std::initializer_list<std::pair<AttentionShape, double>> runs) {
  std::vector<Measurement> rows;
  std::vector<TimedRoofline> timed;
  for (const auto& [shape, seconds] : runs) {
    rows.push_back({{shape, "bf16"}, seconds, {}, ""});
    timed.push_back({{0, 0, kComputeS, 0, 1, 1}, seconds});
  }
  std::vector<std::size_t> all(rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return full_attention(rows, all, timed);
}

AttentionShape shape(std::int64_t heads, std::int64_t query = 4096) {
  AttentionShape made;
  made.prefill = true;
  made.batch = 1;
  made.query = query;
  made.heads = made.kv_heads = heads;
  made.head_dim = 64;
  return made;
}

using Answer = std::vector<bool>;

TEST(FullAttention, TheSlowerOfOneShape) { EXPECT_EQ(full({{shape(8), 2e-4}, {shape(8), 1.2e-4}}), (Answer{true, false})); }

TEST(FullAttention, RepeatedRunsAreBothKept) { EXPECT_EQ(full({{shape(8), 2e-4}, {shape(8), 1.95e-4}}), (Answer{true, true})); }

TEST(FullAttention, OtherShapesAreNotCompared) {
  EXPECT_EQ(full({{shape(8), 4e-4}, {shape(8, 2048), 1.2e-4}, {shape(16), 1.2e-4}}), (Answer{true, true, true}));
}

TEST(FullAttention, NoRowOfHeadsThatWereFasterThanTheDevice) {
  EXPECT_EQ(full({{shape(8), 0.5e-4}, {shape(8, 64), 2e-4}, {shape(4), 2e-4}}), (Answer{false, false, true}));
}

TEST(FullAttention, OtherKindsAreAllKept) {
  const std::vector<Measurement> rows{{{GemmShape{1, 8, 8, 8}, "bf16"}, 1e-6, {}, ""}};
  const std::vector<std::size_t> all{0};
  const std::vector<TimedRoofline> timed{{{0, 0, kComputeS, 0, 1, 1}, 1e-6}};
  EXPECT_EQ(full_attention(rows, all, timed), Answer{true});
}

}  // namespace
}  // namespace aaco::estimation
