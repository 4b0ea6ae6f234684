#include "analytics/exposed_copies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"

namespace aaco::analytics::trace_time {
namespace {

constexpr trace::NameId kH2d{1}, kD2h{2}, kLoader{11}, kItem{12};

Work work(WorkKind kind, std::int64_t start_ns, std::int64_t end_ns) { return {kind, {}, start_ns, end_ns, LaunchSpan{0, 1}}; }

TEST(ExposedCopies, HiddenBehindKernelsIsNotExposed) {
  ExposedCopies copies;
  copies.add(work(WorkKind::compute, 0, 100));
  copies.add(work(WorkKind::copy, 10, 60), {kH2d, kLoader});  // hidden
  copies.add(work(WorkKind::copy, 90, 130), {kD2h, kItem});   // 30 exposed
  copies.add(work(WorkKind::compute, 130, 140));
  const auto sums = copies.finish();
  EXPECT_EQ(sums.at({kH2d, kLoader}), 0);
  EXPECT_EQ(sums.at({kD2h, kItem}), 30);
}
TEST(ExposedCopies, CollectivesHideNoCopies) {
  ExposedCopies copies;
  copies.add(work(WorkKind::collective, 0, 100));
  copies.add(work(WorkKind::copy, 10, 60), {kH2d, kLoader});
  EXPECT_EQ(copies.finish().at({kH2d, kLoader}), 50);
}
TEST(ExposedCopies, CopiesTogetherShareTheTime) {
  ExposedCopies copies;
  copies.add(work(WorkKind::copy, 0, 20), {kH2d, kLoader});
  copies.add(work(WorkKind::copy, 10, 31), {kD2h, kItem});
  const auto sums = copies.finish();
  EXPECT_EQ(sums.at({kH2d, kLoader}), 15);
  EXPECT_EQ(sums.at({kD2h, kItem}), 16);
}
TEST(ExposedCopies, WhatTheConventionLeavesOut) {
  ExposedCopies copies({.orphans = false, .memset = false});
  copies.add({WorkKind::compute, {}, 0, 100, {}});
  copies.add(work(WorkKind::memset, 0, 10), {kD2h, {}});
  copies.add(work(WorkKind::copy, 20, 30), {kH2d, kLoader});
  copies.add(work(WorkKind::copy, 40, 30), {kH2d, kLoader});
  copies.add(work(WorkKind::copy, 50, INT64_MAX), {kH2d, kLoader});
  const auto sums = copies.finish();
  EXPECT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums.at({kH2d, kLoader}), 10);
}
TEST(ExposedCopies, OriginsAreBounded) {
  ExposedCopies copies;
  const auto count = static_cast<std::uint32_t>(ExposedCopies::kOrigins);
  for (std::uint32_t i = 0; i < count + 5; ++i) copies.add(work(WorkKind::copy, i, i + 1), {kH2d, trace::NameId{i + 1}});
  const auto sums = copies.finish();
  EXPECT_EQ(sums.size(), ExposedCopies::kOrigins + 1);
  EXPECT_EQ(sums.at({kH2d, {}}), 5);
}
// The parts add up to what the device's breakdown counts.
TEST(ExposedCopies, AddsUpOnRandomTraces) {
  core::Random random(11);
  for (int round = 0; round < 300; ++round) {
    const Convention convention{random.below(2) == 0, random.below(2) == 0};
    std::vector<Work> list;
    for (int i = 0; i < 40; ++i) {
      const auto start = static_cast<std::int64_t>(random.below(400));
      list.push_back(work(static_cast<WorkKind>(random.below(4)), start, start + static_cast<std::int64_t>(random.below(30))));
      if (random.below(3) == 0) list.back().launch.reset();
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    DeviceTimeFold fold(convention);
    ExposedCopies copies(convention);
    for (const Work& one : list) {
      fold.add(one);
      copies.add(one, {kH2d, trace::NameId{static_cast<std::uint32_t>(random.below(5))}});
    }
    std::int64_t sum = 0;
    for (const auto& [origin, time_ns] : copies.finish()) sum += time_ns;
    EXPECT_EQ(sum, fold.finish().exposed_copy_ns);
  }
}

}  // namespace
}  // namespace aaco::analytics::trace_time
