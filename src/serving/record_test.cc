#include "serving/record.h"

#include <gtest/gtest.h>

namespace aaco::serving {
namespace {

using Events = std::vector<std::int64_t>;

Events events_of(const Events& all) {
  Events events;
  for (const std::int64_t ns : all) add_own_event(events, ns);
  return events;
}
TEST(OwnEvents, EveryLongOneIsKept) {
  EXPECT_EQ(events_of({kLongEventNs, 2 * kLongEventNs, kLongEventNs}), (Events{kLongEventNs, 2 * kLongEventNs, kLongEventNs}));
}
TEST(OwnEvents, OfShortOnesTheLongestIsKept) { EXPECT_EQ(events_of({10, 30, 20}), Events{30}); }
TEST(OwnEvents, ALongOneTakesThePlaceOfShortOnes) {
  EXPECT_EQ(events_of({10, 30, kLongEventNs, 20, kLongEventNs + 1}), (Events{kLongEventNs, kLongEventNs + 1}));
}
TEST(Waits, OfTwoWindowsAreTheLongestAndAllLongEvents) {
  SocketWaits waits{.read_lag_ns = 5, .write_wait_ns = 7, .gap_own_ns = {kLongEventNs}};
  add_waits(waits, {.read_lag_ns = 6, .event_own_ns = {9}, .gap_own_ns = {2 * kLongEventNs}, .tls_own_ns = 1});
  EXPECT_EQ(waits.read_lag_ns, 6);
  EXPECT_EQ(waits.write_wait_ns, 7);
  EXPECT_EQ(waits.tls_own_ns, 1);
  EXPECT_FALSE(waits.tls_record_ns);
  EXPECT_EQ(waits.event_own_ns, Events{9});
  EXPECT_EQ(waits.gap_own_ns, (Events{kLongEventNs, 2 * kLongEventNs}));
}
TEST(OwnEvents, NothingReadYieldsNone) { EXPECT_TRUE(events_of({}).empty()); }

}  // namespace
}  // namespace aaco::serving
