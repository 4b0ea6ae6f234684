#include <gtest/gtest.h>

#include <algorithm>

#include "analytics/llm_connections.h"

namespace aaco::analytics::llm {
namespace {

constexpr double kMs = 1e6;

// 400 requests with a TTFT of 20 ms once their connection is open. Each `every`th opens one, whose handshake takes `tls_ms`.
Load load_with(int every, double tls_ms) {
  Load load{.name = "x", .requests = 400, .complete = 400};
  for (int i = 0; i < 400; ++i) {
    const double usual = (20 + 0.001 * i) * kMs;
    const bool opens = every > 0 && i % every == 0;
    load.ttft_values.push_back(opens ? usual + (tls_ms + 1) * kMs : usual);
    if (opens)
      load.opened.push_back({load.ttft_values.back(), (tls_ms + 1) * kMs, tls_ms * kMs});
    else
      load.ttft_of_open_connections.push_back(usual);
  }
  load.ttft = stats::summarize(load.ttft_values);
  std::sort(load.ttft_values.begin(), load.ttft_values.end());
  load.inter_chunk = stats::summarize(std::vector<double>(4000, 10 * kMs));
  return load;
}
OwnState waits_of(std::vector<double> OwnState::*which, std::size_t count, double ms) {
  OwnState state;
  state.*which = std::vector<double>(count, ms * kMs);
  return state;
}
bool says(const std::vector<std::string>& sentences, const char* text) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& sentence) { return sentence.find(text) != std::string::npos; });
}

TEST(Connections, SlowHandshakesMoveTheMedian) {
  const ConnectionWaits waits = judge_connections(load_with(1, 100), waits_of(&OwnState::tls_own_ns, 400, 2));
  EXPECT_EQ(waits.handshakes, 400);
  EXPECT_EQ(waits.handshake_p50_ns, 100 * kMs);
  EXPECT_EQ(waits.handshake_own_max_ns, 2 * kMs);
  EXPECT_TRUE(says(waits.moved, "added 101 ms to the median TTFT"));
  EXPECT_TRUE(says(waits.moved, "of which 100 ms were the TLS handshake"));
  EXPECT_TRUE(waits.limit.empty());  // the server's time
  EXPECT_EQ(waits.text,
            "400 of 400 requests opened a TLS connection: handshake median 100 ms, longest 100 ms; the client's own part at most "
            "2.00 ms");
}
TEST(Connections, FewHandshakesMoveTheTailOnly) {
  const ConnectionWaits waits = judge_connections(load_with(20, 100), {});
  EXPECT_FALSE(says(waits.moved, "the median TTFT"));
  EXPECT_TRUE(says(waits.moved, "the TTFT P99"));
}
TEST(Connections, TheClientsOwnPartIsItsLimit) {
  const ConnectionWaits waits = judge_connections(load_with(1, 40), waits_of(&OwnState::tls_own_ns, 400, 35));
  EXPECT_NE(waits.limit.find("the client's own part of TLS handshakes"), std::string::npos) << waits.limit;
  OwnLimit limit;
  judge_own_connections(waits, limit);
  EXPECT_TRUE(limit.limited);
  EXPECT_EQ(limit.reasons, std::vector<std::string>{waits.limit});
}
TEST(Connections, QuickHandshakesMoveNothing) { EXPECT_TRUE(judge_connections(load_with(1, -0.8), {}).moved.empty()); }
TEST(Connections, ReusedConnectionsHaveNoHandshake) {
  const ConnectionWaits waits = judge_connections(load_with(0, 0), {});
  EXPECT_EQ(waits.opened, 0);
  EXPECT_EQ(waits.text, "");
  EXPECT_TRUE(waits.moved.empty());
  OwnLimit limit;
  judge_own_connections(waits, limit);
  EXPECT_FALSE(limit.limited);
}
TEST(Connections, FullSocketsMoveTheFirstToken) {
  const ConnectionWaits waits = judge_connections(load_with(0, 0), waits_of(&OwnState::write_wait_ns, 250, 8));
  EXPECT_TRUE(says(waits.moved, "the socket did not take requests for up to 8.00 ms"));
  EXPECT_TRUE(says(waits.moved, "the median TTFT"));
}
TEST(Connections, RareFullSocketsDoNotMoveTheMedian) {
  EXPECT_FALSE(says(judge_connections(load_with(0, 0), waits_of(&OwnState::write_wait_ns, 50, 8)).moved, "the median TTFT"));
  EXPECT_TRUE(judge_connections(load_with(0, 0), waits_of(&OwnState::write_wait_ns, 3, 8)).moved.empty());
}
TEST(Connections, CutRecordsMoveTheGaps) {
  EXPECT_TRUE(says(judge_connections(load_with(0, 0), waits_of(&OwnState::tls_record_wait_ns, 100, 30)).moved,
                   "parts of TLS records waited for their end"));
  EXPECT_TRUE(judge_connections(load_with(0, 0), waits_of(&OwnState::tls_record_wait_ns, 10, 30)).moved.empty());
}
TEST(Connections, NothingMeasuredSaysNothing) {
  const ConnectionWaits waits = judge_connections({}, waits_of(&OwnState::write_wait_ns, 10, 8));
  EXPECT_TRUE(waits.moved.empty());
  EXPECT_TRUE(waits.limit.empty());
}

}  // namespace
}  // namespace aaco::analytics::llm
