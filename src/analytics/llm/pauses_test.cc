#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analytics/llm.h"
#include "analytics/llm/load_rows_testing.h"
#include "analytics/llm/token_gaps.h"
#include "analytics/llm_slow.h"

namespace aaco::analytics::llm {
namespace {

// Requests that are answered at once, with a token each 10 ms from 1 s on.
struct Batch {
  Rows rows;
  std::vector<trace::SchedEventRow> sched;
  std::vector<trace::SystemEventRow> events;

  explicit Batch(int requests = 3, int first_token_ms = 20) {
    for (int i = 0; i < requests; ++i) rows.add(1000 - first_token_ms, 1000 - first_token_ms, 1000, 10, 3000);
  }
  // From `at` on everything of these requests comes later.
  void stand_still(std::int64_t at_ms, std::int64_t ms, int requests = 3) {
    for (auto& chunk : rows.chunks)
      if (chunk.request < requests && chunk.time_ns > at_ms * kMs) chunk.time_ns += ms * kMs;
    for (auto& row : rows.requests)
      if (row.request < requests) row.end_ns = *(row.last_token_ns = *row.last_token_ns + ms * kMs);
  }
  // Another request, whose only token comes then.
  void prompt(std::int64_t sent_ms, std::int64_t first_ms) { rows.add(sent_ms, sent_ms, first_ms, 1, 1); }
  // Chunks that came then were read so late.
  void read_late(std::int64_t time_ms, double ms) {
    sample("client.read_lag_ns", time_ms + 3, ms);
    if (ms > 0) sample("client.chunk_read_lag_ns", time_ms, ms);
  }
  void slept(std::int64_t from_ms, std::int64_t ms, std::string_view call) {
    trace::SchedEventRow row{.time_ns = from_ms * kMs, .kind = rows.names.intern("off_cpu")};
    row.duration_ns = ms * kMs;
    row.detail = rows.names.intern("sleep");
    row.call = rows.names.intern(call);
    sched.push_back(row);
  }
  void sample(std::string_view metric, std::int64_t time_ms, double ms) {
    trace::SystemEventRow row{.time_ns = time_ms * kMs, .metric = rows.names.intern(metric)};
    row.value = ms * kMs;
    events.push_back(row);
  }
  void client_lag(std::int64_t time_ms, double ms) { sample("client.loop_lag_ns", time_ms, ms); }
  SlowTimes found() {
    const BesideLoad beside{.events = events, .gpu = {}, .sched = sched, .server_process = true};
    return SlowTokens(beside, rows.names).find(rows.requests, rows.chunks, rows.names, "rate 1/s");
  }
};

TEST(Pauses, OfTheWholeServerAreSaidWithTheirPeriod) {
  Batch batch;
  for (int i = 0; i < 5; ++i) batch.stand_still(2000 + 5000 * i, 300);
  const SlowTimes times = batch.found();
  EXPECT_EQ(times.pauses, 5);
  EXPECT_EQ(times.paused,
            "the server paused 5 times for about 300 ms, every 5.00 s: all requests that it was answering stood still at once");
  EXPECT_EQ(times.causes, (std::map<std::string_view, std::int64_t>{{"pause", 15}}));
}
TEST(Pauses, IrregularOnesHaveNoPeriod) {
  Batch batch;
  for (const int at : {2000, 5000, 12000, 13000}) batch.stand_still(at, 300);
  EXPECT_THAT(batch.found().paused, testing::StartsWith("the server paused 4 times for about 300 ms: "));
}
TEST(Pauses, OneRequestThatContinuesRefutesThem) {
  Batch batch;
  for (int i = 0; i < 5; ++i) batch.stand_still(2000 + 5000 * i, 300, 2);
  EXPECT_EQ(batch.found().pauses, 0);
  EXPECT_EQ(batch.found().causes.at(""), 10);
}
TEST(Pauses, OneRequestAloneTellsNone) {
  Batch batch(1);
  batch.stand_still(2000, 300);
  EXPECT_EQ(batch.found().pauses, 0);
}
TEST(Pauses, BytesThatTheClientReadLateAreNone) {
  Batch batch;
  batch.stand_still(2000, 300);
  batch.read_late(2310, 290);
  EXPECT_EQ(batch.found().pauses, 0);
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"client", 3}}));
}
TEST(Pauses, WhatTheServerSleptInIsJoined) {
  Batch batch;
  for (int i = 0; i < 3; ++i) {
    batch.stand_still(2000 + 5000 * i, 300);
    batch.slept(2005 + 5000 * i, 300, "clock_nanosleep");
  }
  batch.slept(1500, 20'000, "futex");  // an idle thread of the server
  EXPECT_THAT(batch.found().paused,
              testing::EndsWith("; in 3 of them a thread of the server slept in clock_nanosleep for about 300 ms"));
}
// The first token that was awaited while the server paused.
TEST(Pauses, ExplainFirstTokens) {
  Batch batch;
  for (int i = 0; i < 40; ++i) batch.prompt(4000 + 20 * i, 4020 + 20 * i);
  batch.stand_still(2000, 300);
  batch.prompt(2005, 2325);
  const SlowTimes times = batch.found();
  EXPECT_EQ(times.slow_first_tokens, 1);
  EXPECT_EQ(times.causes.at("pause"), 4);
}

TEST(ReadLag, AGapThatWasReadInTimeIsNotTheClients) {
  Batch batch;
  batch.stand_still(2000, 300, 1);
  batch.read_late(2310, 0);
  batch.client_lag(2312, 5);
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"", 1}}));
}
// The loop stood still, and what came after that was read in time: not the client alone.
TEST(ReadLag, BothStoodStill) {
  Batch batch;
  batch.stand_still(2000, 300, 1);
  batch.read_late(2310, 0);
  batch.client_lag(2311, 290);
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"machine", 1}}));
}
// The kernel tells the arrival of the last of several chunks in one read: the others had waited.
TEST(ReadLag, ChunksThatWereReadTogetherHadWaited) {
  Batch batch;
  for (auto& chunk : batch.rows.chunks) {
    if (chunk.request != 0) continue;
    if (chunk.time_ns > 2000 * kMs && chunk.time_ns <= 2300 * kMs) chunk.time_ns = 2300 * kMs;
  }
  batch.read_late(2300, 0);
  batch.client_lag(2301, 290);
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"client", 1}}));
}

// Prompts of four chunks: each of four steps takes 36 ms, and the first token comes with the last.
TEST(ChunkedPrefill, EveryGapWithinIsCounted) {
  Batch batch(3, 150);
  for (int i = 0; i < 10; ++i) {
    const std::int64_t from = 2000 + 1000 * i;
    for (int step = 0; step < 4; ++step) batch.stand_still(from + 36 * step, 26);
    batch.prompt(from, from + 4 * 36);
  }
  const auto stalls = prefill_stalls(batch.rows.requests, batch.rows.chunks, batch.rows.names, "rate 1/s");
  ASSERT_TRUE(stalls && stalls_tokens(*stalls));
  EXPECT_EQ(stalls->slow_gaps, 120);
  EXPECT_EQ(stalls->with_prefill, 120);
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"prefill", 120}}));
  const auto causes = server_causes({}, stalls, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_THAT(causes[0].text, testing::HasSubstr("already computes them in chunks"));
  EXPECT_THAT(causes[0].remedy, testing::StartsWith("use smaller chunks"));
}
TEST(ChunkedPrefill, WholePromptsAskForIt) {
  Batch batch(3, 150);
  for (int i = 0; i < 10; ++i) {
    batch.stand_still(2000 + 1000 * i, 120);
    batch.prompt(2000 + 1000 * i, 2000 + 1000 * i + 130);
  }
  const auto causes = server_causes({}, prefill_stalls(batch.rows.requests, batch.rows.chunks, batch.rows.names, "rate 1/s"), {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_THAT(causes[0].remedy, testing::StartsWith("use chunked prefill"));
}
// The server stalls as a request ends; the next one, sent then, has its first token a usual step after the stall.
TEST(ChunkedPrefill, AStallThatEndsBeforeTheFirstTokenDoesNotCount) {
  Batch batch(3, 150);
  for (int i = 0; i < 10; ++i) {
    batch.stand_still(2000 + 1000 * i, 80);
    batch.prompt(2001 + 1000 * i, 2000 + 1000 * i + 100);
  }
  const auto stalls = prefill_stalls(batch.rows.requests, batch.rows.chunks, batch.rows.names, "rate 1/s");
  ASSERT_TRUE(stalls);
  EXPECT_FALSE(stalls_tokens(*stalls));
}

// While one request waits 400 ms for its first token, the others have theirs: it waits in a queue.
TEST(Queue, AFirstTokenThatWaitsWhileOthersContinue) {
  Batch batch;
  for (int i = 0; i < 30; ++i) batch.prompt(2000 + 100 * i, 2020 + 100 * i);
  batch.prompt(2500, 2920);
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"queue", 1}}));
  batch.rows.requests.back().prompt_tokens_asked = 4000;
  for (std::size_t i = 0; i + 1 < batch.rows.requests.size(); ++i) batch.rows.requests[i].prompt_tokens_asked = 100;
  EXPECT_EQ(batch.found().causes, (std::map<std::string_view, std::int64_t>{{"", 1}})) << "a longer prompt";
}

}  // namespace
}  // namespace aaco::analytics::llm
