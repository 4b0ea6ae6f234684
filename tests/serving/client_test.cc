#include "serving/client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "core/clock.h"
#include "serving/prompts.h"
#include "tests/serving/fault_server.h"

namespace aaco::serving {
namespace {

using serving_test::FaultServer;
using serving_test::Served;

constexpr std::int64_t kMs = 1'000'000;

// `count` requests of `tokens` tokens; in an open loop one each `gap_ns`.
class Fixed final : public WorkSource {
 public:
  Fixed(std::int64_t count, std::int64_t tokens, std::int64_t gap_ns = 0) : count_(count), tokens_(tokens), gap_ns_(gap_ns) {}
  std::optional<Work> next() override {
    if (index_ >= count_) return std::nullopt;
    return Work{.offset_ns = gap_ns_ * index_++,
                .path = "/chat/completions",
                .body = request_body({.model = "m"}, "hi", tokens_),
                .prompt_tokens = 1,
                .output_tokens = tokens_,
                .conversation = 0,
                .cancel_after_ns = cancel_after_ns};
  }
  std::optional<std::int64_t> cancel_after_ns;

 private:
  std::int64_t count_, tokens_, gap_ns_, index_ = 0;
};

StageOutcome load(const FaultServer& server, const std::string& scenario, Fixed work, Stage stage = {.concurrency = 1},
                  ClientOptions options = {}) {
  auto client = Client::open(parse_target(server.url(scenario), {}).value(), std::move(options));
  EXPECT_TRUE(client) << (client ? "" : client.error().text());
  auto outcome = client->run(stage, work);
  EXPECT_TRUE(outcome);
  return *std::move(outcome);
}

RequestRecord one(const std::string& scenario, std::int64_t tokens = 4, ClientOptions options = {}) {
  const FaultServer server;
  return load(server, scenario, Fixed(1, tokens), {.concurrency = 1}, std::move(options)).requests.at(0);
}
Outcome outcome_of(const std::string& scenario, ClientOptions options = {}) {
  return one(scenario, 4, std::move(options)).outcome;
}

// Each scenario that a right client counts as complete: 4 tokens in so many chunks.
struct Good {
  const char* scenario;
  std::int64_t chunks;
};
class CompleteAnswer : public testing::TestWithParam<Good> {};
TEST_P(CompleteAnswer, IsRead) {
  const RequestRecord record = one(GetParam().scenario);
  EXPECT_EQ(record.outcome, Outcome::ok) << record.detail;
  EXPECT_EQ(record.content_chunks, GetParam().chunks);
  EXPECT_TRUE(record.first_token_ns && record.last_token_ns && record.sent_ns && record.headers_ns);
  EXPECT_LE(*record.sent_ns, *record.headers_ns);
  EXPECT_LE(*record.first_token_ns, *record.last_token_ns);
  EXPECT_LE(*record.last_token_ns, record.end_ns);
}
INSTANTIATE_TEST_SUITE_P(Scenarios, CompleteAnswer,
                         testing::Values(Good{"plain", 4}, Good{"merged", 2}, Good{"halves", 4}, Good{"comments", 4},
                                         Good{"gzip", 4}, Good{"slow_headers", 4}, Good{"sized", 4}, Good{"tools", 1},
                                         Good{"continuous", 3}, Good{"crlf", 4}, Good{"cr", 4}, Good{"empty_first", 4},
                                         Good{"no_done", 4}, Good{"no_usage", 4}, Good{"late_eof", 4}, Good{"closing", 4},
                                         Good{"continue", 4}, Good{"long_line", 1}, Good{"long_second", 2},
                                         Good{"unended_done", 4}),
                         [](const auto& one_case) { return std::string(one_case.param.scenario); });

struct Bad {
  const char* scenario;
  Outcome outcome;
  const char* detail;
};
class FailedAnswer : public testing::TestWithParam<Bad> {};
TEST_P(FailedAnswer, IsCountedByKind) {
  const RequestRecord record = one(GetParam().scenario);
  EXPECT_EQ(to_string(record.outcome), to_string(GetParam().outcome));
  EXPECT_NE(record.detail.find(GetParam().detail), std::string::npos) << record.detail;
}
INSTANTIATE_TEST_SUITE_P(
    Scenarios, FailedAnswer,
    testing::Values(
        Bad{"no_end", Outcome::truncated, "without a finish reason"}, Bad{"cut", Outcome::truncated, "closed within the stream"},
        Bad{"reset", Outcome::reset, "reset"}, Bad{"cut_before_header", Outcome::reset, "closed the connection"},
        Bad{"error_in_stream", Outcome::stream_error, "out of blocks"}, Bad{"error_event", Outcome::stream_error, "engine died"},
        Bad{"not_json", Outcome::protocol, "not a JSON object"}, Bad{"not_utf8", Outcome::protocol, "\"\xEF\xBF\xBD\xEF\xBF\xBD"},
        Bad{"garbage", Outcome::protocol, "not HTTP/1.1"}, Bad{"http_429", Outcome::http_429, "slow down"},
        Bad{"http_500", Outcome::http_5xx, "boom"}, Bad{"http_401", Outcome::http_4xx, "invalid API key"},
        Bad{"no_model", Outcome::http_4xx, "does not exist"}, Bad{"html", Outcome::protocol, "HTML"},
        Bad{"document", Outcome::protocol, "application/json instead of an event stream"},
        Bad{"gave_up", Outcome::stream_error, "finish reason 'abort'"},
        Bad{"oversized_line", Outcome::protocol, "larger than 16 MiB"}),
    [](const auto& one_case) { return std::string(one_case.param.scenario); });

TEST(Client, FirstTokenIsNotTheRoleChunk) {
  const RequestRecord record = one("plain,first_ms=60");
  EXPECT_LT(*record.first_chunk_ns - *record.sent_ns, *record.first_token_ns - *record.sent_ns - 40 * kMs);
  EXPECT_GE(*record.first_token_ns - *record.sent_ns, 59 * kMs);
}
TEST(Client, ArgumentOfAToolCallIsTheFirstToken) {
  const RequestRecord record = one("tools");
  EXPECT_GE(*record.first_token_ns - *record.sent_ns, 29 * kMs);
}
TEST(Client, AnswerEndsWithDoneAndNotWithTheConnection) {
  const RequestRecord record = one("late_eof");
  EXPECT_LT(record.end_ns - *record.sent_ns, 250 * kMs);
}
TEST(Client, AnswerEndsWithItsFinishReasonAndNotWithALateDone) {
  const RequestRecord record = one("late_done");
  EXPECT_TRUE(record.done);
  EXPECT_GE(record.held_ns, 290 * kMs);
  EXPECT_GE(record.end_ns, *record.last_token_ns);
  EXPECT_LT(record.end_ns - *record.sent_ns, 250 * kMs);
}
TEST(Client, TokensComeFromUsageAndNotFromChunks) {
  const RequestRecord record = one("merged", 10);
  EXPECT_EQ(record.content_chunks, 4);
  EXPECT_EQ(record.usage.output_tokens, 10);
  EXPECT_EQ(record.usage.cached_tokens, 3);
}
TEST(Client, ImpossibleUsageIsNotUsed) {
  const RequestRecord record = one("plain,usage_percent=5000", 10);
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_FALSE(record.usage.output_tokens);
  EXPECT_NE(record.detail.find("500 output tokens, more than max_tokens (10)"), std::string::npos) << record.detail;
  EXPECT_FALSE(one("plain,usage_percent=20", 10).usage.output_tokens);
}
TEST(Client, WithoutUsageTokensAreUnknown) { EXPECT_FALSE(one("no_usage").usage.output_tokens); }
TEST(Client, ContinuousUsageCountsTokensPerChunk) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "continuous", Fixed(1, 7));
  std::vector<std::uint32_t> tokens;
  outcome.chunks.for_each([&](const ChunkRecord& chunk) {
    if (is_output(chunk.kind)) tokens.push_back(chunk.usage_tokens);
  });
  EXPECT_EQ(tokens, (std::vector<std::uint32_t>{1, 3, 4, 6, 7}));
}
TEST(Client, StalledStreamTimesOut) { EXPECT_EQ(outcome_of("stall", {.timeout_ns = 200 * kMs}), Outcome::timeout); }
TEST(Client, SilentServerTimesOut) { EXPECT_EQ(outcome_of("never", {.timeout_ns = 200 * kMs}), Outcome::timeout); }
// The time allowed ends while only [DONE] is outstanding: all of the response is there.
TEST(Client, CompleteResponseWithoutDoneIsOk) {
  EXPECT_EQ(outcome_of("never_done,first_ms=150", {.timeout_ns = 200 * kMs}), Outcome::ok);
}
TEST(Client, TimeoutKeepsWhatCame) {
  const RequestRecord record = one("stall", 4, {.timeout_ns = 200 * kMs});
  EXPECT_EQ(record.content_chunks, 4);
  EXPECT_TRUE(record.first_token_ns);
}
TEST(Client, CancelsAsPlanned) {
  const FaultServer server;
  Fixed work(1, 4);
  work.cancel_after_ns = 100 * kMs;
  EXPECT_EQ(load(server, "stall", work, {.concurrency = 1}, {.timeout_ns = 5000 * kMs}).requests.at(0).outcome,
            Outcome::cancelled);
}
TEST(Client, CancelsWithinAFewPercent) {
  const FaultServer server;
  Fixed work(1, 4);
  work.cancel_after_ns = 100 * kMs;
  std::int64_t least = INT64_MAX;  // of three: the machine may be busy
  for (int i = 0; i < 3; ++i) {
    const RequestRecord record = load(server, "stall", work).requests.at(0);
    EXPECT_GE(record.end_ns - *record.sent_ns, 100 * kMs);
    least = std::min(least, record.end_ns - *record.sent_ns);
  }
  EXPECT_LT(least, 190 * kMs);  // not at the next tenth of a second
}
TEST(Client, RetriesAreCounted) {
  const RequestRecord record = one("http_429", 4, {.retries = 2});
  EXPECT_EQ(record.outcome, Outcome::http_429);
  EXPECT_EQ(record.retries, 2);
  EXPECT_GE(record.end_ns - record.scheduled_ns, 100 * kMs);  // Retry-After twice
}
TEST(Client, RetriesAreOff) { EXPECT_EQ(one("http_429").retries, 0); }
// The next request goes out at [DONE], on another connection where the end of the answer's body has not come yet.
TEST(Client, ReusesConnections) {
  const FaultServer server;
  EXPECT_LT(load(server, "plain", Fixed(40, 3)).connections, 20);
}
TEST(Client, ReopensWhatTheServerClosed) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "closing", Fixed(20, 3));
  for (const RequestRecord& record : outcome.requests) EXPECT_EQ(record.outcome, Outcome::ok) << record.detail;
}
TEST(Client, CountsWhatItSendsAgain) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "drops", Fixed(20, 3));
  std::int64_t again = 0, failed = 0;
  for (const RequestRecord& record : outcome.requests) {
    again += record.reconnects;
    failed += record.outcome == Outcome::ok ? 0 : 1;
  }
  EXPECT_GT(again, 0);
  EXPECT_EQ(server.log().size(), outcome.requests.size() + static_cast<std::size_t>(again));
  EXPECT_EQ(again + failed, static_cast<std::int64_t>(server.log().size() / 3));
}
TEST(Client, KeepsTheConcurrency) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "plain,first_ms=20", Fixed(40, 2), {.concurrency = 8});
  EXPECT_EQ(outcome.peak_open, 8);
  EXPECT_EQ(outcome.requests.size(), 40U);
}
TEST(Client, DurationEndsAClosedLoop) {
  const FaultServer server;
  const StageOutcome outcome =
      load(server, "plain,first_ms=10", Fixed(100000, 2), {.concurrency = 2, .max_open = {}, .duration_ns = 200 * kMs});
  EXPECT_GT(outcome.requests.size(), 4U);
  EXPECT_LT(outcome.end_ns - outcome.start_ns, 2000 * kMs);
  for (const RequestRecord& record : outcome.requests) EXPECT_EQ(record.outcome, Outcome::ok);
}
TEST(Client, StopEndsTheLoadAndKeepsWhatWasMeasured) {
  const FaultServer server;
  int polls = 0;
  const StageOutcome outcome =
      load(server, "plain,first_ms=10", Fixed(100000, 2), {.concurrency = 2}, {.stop = [&] { return ++polls > 40; }});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_GT(outcome.requests.size(), 2U);
}
TEST(Client, OpenLoopKeepsItsSchedule) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "plain,first_ms=100", Fixed(20, 2, 10 * kMs), {});
  EXPECT_GE(outcome.peak_open, 5);
  for (std::size_t i = 0; i < outcome.requests.size(); ++i)
    EXPECT_EQ(outcome.requests[i].scheduled_ns - outcome.start_ns, static_cast<std::int64_t>(i) * 10 * kMs);
}
// A client that is behind its schedule goes on reading: otherwise it opens a connection for each request that is due.
TEST(Client, ReadsAnswersWhileRequestsAreDue) {
  const FaultServer server;
  const StageOutcome burst = load(server, "plain", Fixed(800, 1), {});
  ASSERT_EQ(burst.requests.size(), 800U);
  const auto first_end = std::min_element(burst.requests.begin(), burst.requests.end(),
                                          [](const auto& a, const auto& b) { return a.end_ns < b.end_ns; });
  EXPECT_LT(first_end->end_ns, burst.requests.back().dispatched_ns);
}
// Coordinated omission: one at a time, 10 ms each, due each 2 ms. Request i waits 8 i ms; from its sending it takes 10 ms.
TEST(Client, CapOnOpenRequestsDoesNotHideItsQueue) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "plain,first_ms=10", Fixed(50, 1, 2 * kMs), {.concurrency = {}, .max_open = 1});
  const RequestRecord& last = outcome.requests.back();
  EXPECT_GE(outcome.waited_for_cap, 45);
  EXPECT_GE(last.end_ns - last.scheduled_ns, (50 * 10 - 49 * 2) * kMs - kMs);
  EXPECT_LT(last.end_ns - *last.sent_ns, 200 * kMs);
  EXPECT_GE(last.admitted_ns - last.scheduled_ns, (49 * 8 - 1) * kMs);
}
TEST(Client, CountsEqualTheServersLog) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "merged,period_us=300", Fixed(30, 17), {.concurrency = 4});
  const auto log = server.log();
  ASSERT_EQ(log.size(), outcome.requests.size());
  std::int64_t served = 0, seen = 0;
  for (const Served& request : log)
    for (const auto& event : request.events) served += event.tokens > 0 ? 1 : 0;
  for (const RequestRecord& record : outcome.requests) seen += record.content_chunks;
  EXPECT_EQ(served, seen);
}
// No token is seen before it was written, and half of them within 5 ms of it (the machine may be busy).
TEST(Client, TimesFollowTheServersLog) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "plain,period_us=1000", Fixed(1, 200));
  const auto log = server.log();
  std::vector<std::int64_t> written, seen;
  for (const auto& event : log.at(0).events)
    if (event.tokens > 0) written.push_back(event.time_ns);
  outcome.chunks.for_each([&](const ChunkRecord& chunk) {
    if (is_output(chunk.kind)) seen.push_back(chunk.time_ns);
  });
  ASSERT_EQ(written.size(), seen.size());
  std::size_t near = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_GE(seen[i], written[i]);
    near += seen[i] - written[i] < 5 * kMs ? 1 : 0;
  }
  EXPECT_GE(near, seen.size() / 2);
}
TEST(Client, SamplesItself) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "plain,first_ms=150", Fixed(1, 1));
  ASSERT_FALSE(outcome.samples.empty());
  for (const ClientSample& sample : outcome.samples) EXPECT_GE(sample.loop_lag_ns, 0);
}

// Parsing 10 MB takes longer than kLongEventNs on any machine, and several ends may share a window.
TEST(Client, SamplesTellEveryLongEvent) {
  const FaultServer server;
  for (const std::string scenario : {"long_line", "long_second"}) {
    const StageOutcome outcome = load(server, scenario, Fixed(6, 1), {.concurrency = 3});
    std::size_t first = 0, later = 0;
    for (const ClientSample& sample : outcome.samples) {
      const auto is_long = [](std::int64_t ns) { return ns >= kLongEventNs; };
      first += static_cast<std::size_t>(std::ranges::count_if(sample.waits.event_own_ns, is_long));
      later += static_cast<std::size_t>(std::ranges::count_if(sample.waits.gap_own_ns, is_long));
    }
    EXPECT_GE(scenario == "long_line" ? first : later, 6U) << scenario;
  }
}

// A loop that is held up for 20 ms at each tick: bytes wait for it.
TEST(Client, RecordsHowLongBytesWaited) {
  const FaultServer server;
  const StageOutcome outcome = load(server, "plain,period_us=1000", Fixed(1, 200), {.concurrency = 1}, {.stop = [] {
                                      std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                      return false;
                                    }});
  std::int64_t longest = 0;
  for (const ClientSample& sample : outcome.samples) longest = std::max(longest, sample.waits.read_lag_ns.value_or(0));
  if (longest == 0) GTEST_SKIP() << "the kernel gives no receive time stamps";
  EXPECT_GT(longest, 5 * kMs);
}

core::Error refusal(const std::string& url) {
  auto client = Client::open(parse_target(url, {}).value(), {.connect_timeout_ns = 500 * kMs});
  EXPECT_FALSE(client);
  return client ? core::Error{} : client.error();
}
TEST(Client, RefusesAClosedPort) {
  EXPECT_NE(refusal("http://127.0.0.1:1/v1").message.find("cannot connect to 127.0.0.1:1"), std::string::npos);
}
TEST(Client, RefusesAnUnknownName) {
  EXPECT_NE(refusal("http://no-such-host.invalid/v1").message.find("cannot resolve"), std::string::npos);
}
TEST(Client, TlsToAPlainServerFails) {
  const FaultServer server;
  Fixed work(1, 1);
  auto client = Client::open(parse_target("https://127.0.0.1:" + std::to_string(server.port()) + "/v1", {}).value(),
                             {.timeout_ns = 500 * kMs, .connect_timeout_ns = 500 * kMs});
  ASSERT_TRUE(client);
  const auto outcome = client->run({.concurrency = 1}, work);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->requests.at(0).outcome, Outcome::ok);
}

}  // namespace
}  // namespace aaco::serving
