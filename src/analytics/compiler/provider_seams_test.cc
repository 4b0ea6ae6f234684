#include "analytics/provider_seams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::analytics::compiler {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct Trace {
  Trace& node(const std::string& name, const std::string& provider, std::int64_t gap_ns, std::int64_t time_ns,
              bool inserted = false) {
    now += gap_ns;
    steps.push_back({call, name, provider, now, now + time_ns, inserted});
    now += time_ns;
    return *this;
  }
  Trace& next() {
    ++call;
    now += 1'000'000;
    return *this;
  }
  std::vector<ProviderStep> steps;
  std::int64_t call = 0, now = 0;
};

TEST(ProviderSeams, TakeOffTheUsualTimeBetweenTwoNodes) {
  Trace trace;
  for (const std::int64_t gap : {500, 700, 900})
    trace.next()
        .node("a", "host", 0, 1000)
        .node("b", "host", 100, 1000)
        .node("c", "device", gap, 2000)
        .node("d", "host", 400, 50);
  const ProviderSeams found = provider_seams(trace.steps);
  EXPECT_EQ(found.calls, 3);
  EXPECT_EQ(found.usual_ns, 100);
  EXPECT_EQ(found.call_ns, 1000 + 100 + 1000 + 700 + 2000 + 400 + 50);
  ASSERT_THAT(found.seams, SizeIs(2));
  EXPECT_EQ(found.seams[0].first, "b");
  EXPECT_EQ(found.seams[0].second, "c");
  EXPECT_EQ(found.seams[0].from, "host");
  EXPECT_EQ(found.seams[0].to, "device");
  EXPECT_EQ(found.seams[0].time_ns, 600);
  EXPECT_EQ(found.seams[1].time_ns, 300);
  EXPECT_EQ(found.total_ns, 900);
}

TEST(ProviderSeams, InsertedNodesBelongToTheirSeam) {
  Trace trace;
  trace.node("a", "host", 0, 1000).node("reorder", "host", 5, 95, true).node("copy", "device", 10, 4900, true);
  trace.node("b", "device", 20, 1000).node("reorder2", "device", 7, 300, true).node("c", "device", 1, 10);
  const ProviderSeams found = provider_seams(trace.steps);
  ASSERT_THAT(found.seams, SizeIs(1));
  EXPECT_EQ(found.seams[0].second, "b");
  EXPECT_EQ(found.seams[0].time_ns, 5030);  // no two nodes of one provider follow each other: nothing is taken off
  EXPECT_EQ(found.usual_ns, std::nullopt);
}

TEST(ProviderSeams, OverlappingNodesAndRarePairsAreLeftOut) {
  std::vector<ProviderStep> parallel = {{0, "a", "host", 0, 100}, {0, "b", "device", 50, 200}};
  EXPECT_THAT(provider_seams(parallel).seams, IsEmpty());
  Trace trace;
  for (int i = 0; i < 2; ++i) trace.next().node("a", "host", 0, 10).node("b", "host", 1, 10);
  trace.next().node("a", "host", 0, 10).node("c", "device", 1, 10);
  EXPECT_THAT(provider_seams(trace.steps).seams, IsEmpty());
  EXPECT_EQ(provider_seams({}).calls, 0);
}

}  // namespace
}  // namespace aaco::analytics::compiler
