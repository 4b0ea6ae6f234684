#include <gtest/gtest.h>

#include "analytics/llm.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// What the server says of itself, a reading per second.
struct Readings {
  trace::NameTable names;
  std::vector<trace::SystemEventRow> events;
  std::int64_t time_ns = 0;

  void add(std::string_view metric, double value) {
    trace::SystemEventRow row{.time_ns = time_ns, .metric = names.intern(metric)};
    row.entity = names.intern("vllm");
    row.value = value;
    events.push_back(row);
  }
  void reading(double waiting, double kv_cache, double preemptions = 0) {
    time_ns += 1000 * kMs;
    add("server.reading_ns", 2e6);
    add("server.running_requests", 4);
    add("server.waiting_requests", waiting);
    add("server.kv_cache_used_ratio", kv_cache);
    add("server.preemption_count", preemptions);
  }
  [[nodiscard]] ServerState state() const { return server_state(events, names, 0, INT64_MAX); }
};

std::vector<std::string> causes(const ServerState& state, const OwnLimit& client = {}) {
  std::vector<std::string> ids;
  for (const ServerCause& cause : server_causes(state, {}, client)) ids.push_back(cause.id);
  return ids;
}
std::vector<std::string> causes_of(int count, double waiting, double kv_cache, double preemptions_each = 0) {
  Readings readings;
  for (int i = 0; i < count; ++i) readings.reading(waiting, kv_cache, 10 + preemptions_each * i);
  return causes(readings.state());
}
using Ids = std::vector<std::string>;

TEST(ServerMetricsState, MeansAndShares) {
  Readings readings;
  for (const double waiting : {0, 2, 4, 0}) readings.reading(waiting, waiting / 4);
  const ServerState state = readings.state();
  EXPECT_EQ(state.readings, 4);
  EXPECT_EQ(state.waiting_mean, 1.5);
  EXPECT_EQ(state.waiting_max, 4.0);
  EXPECT_EQ(state.queued_share, 0.5);
  EXPECT_EQ(state.kv_cache_full_share, 0.25);
  EXPECT_EQ(state.running_mean, 4.0);
}
TEST(ServerMetricsState, CountersCountFromTheFirstReading) {
  Readings readings;
  readings.reading(0, 0, 7);
  readings.reading(0, 0, 9);
  EXPECT_EQ(readings.state().preemptions, 2.0);
}
TEST(ServerCauses, Queue) { EXPECT_EQ(causes_of(10, 3, 0.2), Ids{"queue"}); }
TEST(ServerCauses, FullKvCache) { EXPECT_EQ(causes_of(10, 0, 0.99), Ids{"kv_cache"}); }
TEST(ServerCauses, Evictions) { EXPECT_EQ(causes_of(10, 0, 0.5, 1), Ids{"kv_cache"}); }
TEST(ServerCauses, NoneOfAnIdleServer) { EXPECT_EQ(causes_of(10, 0, 0.2), Ids{}); }
TEST(ServerCauses, NoneOfThreeReadings) { EXPECT_EQ(causes_of(3, 9, 0.99), Ids{}); }
TEST(ServerCauses, NoneOfARareQueue) {
  Readings readings;
  for (int i = 0; i < 20; ++i) readings.reading(i % 4 == 0 ? 5 : 0, 0.1);
  EXPECT_EQ(causes(readings.state()), Ids{});
}
TEST(ServerCauses, NoneWhereTheClientWasTheBottleneck) {
  Readings readings;
  for (int i = 0; i < 10; ++i) readings.reading(3, 0.99);
  OwnLimit client;
  client.limited = client.saturated = true;
  EXPECT_EQ(causes(readings.state(), client), Ids{});
  client.saturated = false;
  EXPECT_EQ(causes(readings.state(), client), (Ids{"queue", "kv_cache"}));
}
// The client waited 10 % and the server 78 % of the time: on a machine without free CPUs either may have made the results slow.
TEST(ServerCauses, WaitOfBothSidesNamesNone) {
  const ServerState server{.cpu_cores = 0.2, .run_queue_ratio = 0.78, .throttled_ratio = 0.2};
  OwnLimit client{.limited = true, .reasons = {"waited"}};
  client.run_queue_ratio = 0.1;
  EXPECT_EQ(causes(server, client), Ids{});
  const std::string text = undecided_of(server, client);
  EXPECT_NE(text.find("the server waited for a CPU 79.6 % of the time it had work"), std::string::npos) << text;
  EXPECT_NE(text.find("is unknown"), std::string::npos) << text;
}
TEST(ServerCauses, WithRoomAtTheClientTheWaitIsACause) {
  const ServerState server{.cpu_cores = 0.2, .run_queue_ratio = 0.78, .throttled_ratio = 0.2};
  EXPECT_EQ(causes(server), (Ids{"cpu_wait", "throttled"}));
  EXPECT_EQ(undecided_of(server, {}), "");
}
TEST(ServerCauses, NothingIsUndecidedWhereTheServerRan) {
  const OwnLimit client{.limited = true, .reasons = {"busy"}};
  EXPECT_EQ(undecided_of({.cpu_cores = 0.9, .run_queue_ratio = 0.05, .throttled_ratio = {}}, client), "");
  EXPECT_EQ(undecided_of({}, client), "");
}

// Streams of a token each 10 ms. Each `stall_every` ms all of them pause for 80 ms; at its end another request has its first
// token, where `prefill` says so.
struct Streams {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;
  std::vector<trace::LlmChunkRow> chunks;

  void request(std::int64_t first_ms, const std::vector<std::int64_t>& times_ms) {
    trace::LlmRequestRow row{.request = static_cast<std::int64_t>(requests.size()),
                             .phase = names.intern("measure"),
                             .load = names.intern("rate 1/s")};
    row.first_token_ns = first_ms * kMs;
    row.outcome = names.intern("ok");
    for (const std::int64_t time : times_ms) {
      trace::LlmChunkRow chunk{.request = row.request, .chunk = 0, .time_ns = time * kMs};
      chunk.kind = names.intern("content");
      chunks.push_back(chunk);
    }
    requests.push_back(row);
  }
  Streams(int stalls, bool prefill) {
    std::vector<std::int64_t> times, ends;
    std::int64_t now = 1000;
    for (int i = 0; i < stalls; ++i) {
      for (int token = 0; token < 40; ++token) times.push_back(now += 10);
      times.push_back(now += 80);
      ends.push_back(now);
    }
    request(1000, times);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::int64_t first = prefill ? ends[i] : ends[i] - 250;
      request(first, {first});
    }
  }
  [[nodiscard]] std::vector<ServerCause> causes(const OwnLimit& client = {}) const {
    return server_causes({}, prefill_stalls(requests, chunks, names, "rate 1/s"), client);
  }
};

TEST(PrefillStalls, AreFound) {
  const Streams streams(30, true);
  const auto stalls = prefill_stalls(streams.requests, streams.chunks, streams.names, "rate 1/s");
  ASSERT_TRUE(stalls);
  EXPECT_EQ(stalls->slow_gaps, 30);
  EXPECT_EQ(stalls->with_prefill_ratio, 1);
  EXPECT_LT(stalls->expected_ratio, 0.3);
  const auto causes = streams.causes();
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].id, "prefill");
}
TEST(PrefillStalls, NoCauseWherePrefillsFallElsewhere) { EXPECT_TRUE(Streams(30, false).causes().empty()); }
TEST(PrefillStalls, NoCauseOfFewGaps) { EXPECT_TRUE(Streams(10, true).causes().empty()); }
TEST(PrefillStalls, NoCauseWhereTheClientWasTheLimit) {
  OwnLimit client;
  client.limited = true;
  EXPECT_TRUE(Streams(30, true).causes(client).empty());
}
TEST(PrefillStalls, NothingOfAnotherLoad) {
  const Streams streams(30, true);
  EXPECT_FALSE(prefill_stalls(streams.requests, streams.chunks, streams.names, "rate 2/s"));
}
TEST(PrefillStalls, NothingWithoutChunks) {
  const Streams streams(30, true);
  EXPECT_FALSE(prefill_stalls(streams.requests, {}, streams.names, "rate 1/s"));
}

ServerState cpu_state(double cores, double waits, std::optional<double> throttled) {
  ServerState state;
  state.cpu_cores = cores;
  state.run_queue_ratio = waits;
  state.throttled_ratio = throttled;
  return state;
}
TEST(Server, WaitForACpuIsNamed) {
  const auto causes = server_causes(cpu_state(0.5, 0.5, 0), {}, {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].id, "cpu_wait");
  EXPECT_NE(causes[0].text.find("waited for a CPU"), std::string::npos);
}
TEST(Server, ThrottlingIsNamed) { EXPECT_EQ(server_causes(cpu_state(1, 0, 0.3), {}, {}).size(), 1U); }
// Its own threads share its CPU.
TEST(Server, BusyServerWithACpuHasNoCause) { EXPECT_TRUE(server_causes(cpu_state(0.99, 0.33, 0), {}, {}).empty()); }
TEST(Server, IdleServerHasNoCause) { EXPECT_TRUE(server_causes(cpu_state(0.02, 0.02, {}), {}, {}).empty()); }
TEST(Server, LimitOfTheClientHidesTheServer) {
  const ServerState waits = cpu_state(0.5, 0.5, {});
  EXPECT_TRUE(server_causes(waits, {}, {.limited = true, .run_queue_ratio = 0.4}).empty());
  EXPECT_TRUE(server_causes(waits, {}, {.limited = true}).empty());
}
TEST(Server, ItsOwnQueueIsNamedBesideAClientThatWasLate) {
  ServerState queues;
  queues.readings = 10;
  queues.queued_share = 1;
  queues.waiting_mean = queues.waiting_max = 30;
  const auto causes = server_causes(queues, {}, {.limited = true});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].id, "queue");
}
TEST(Server, StallsFarBeyondTheClientsLagAreNamed) {
  const PrefillStalls stalls{.slow_gaps = 200, .usual_gap_ns = 5e6, .slow_gap_ns = 61e6, .with_prefill_ratio = 1};
  EXPECT_EQ(server_causes({}, stalls, {.limited = true, .loop_lag_p99_ns = 4e6}).size(), 1U);
  EXPECT_TRUE(server_causes({}, stalls, {.limited = true, .loop_lag_p99_ns = 40e6}).empty());
  EXPECT_TRUE(server_causes({}, stalls, {.limited = true, .saturated = true, .loop_lag_p99_ns = 4e6}).empty());
}
TEST(Server, LongWaitBesideAWaitingClientIsUndecided) {
  const ServerState waits = cpu_state(0.37, 0.91, {});
  const OwnLimit client{.limited = true, .run_queue_ratio = 0.11};
  EXPECT_TRUE(server_causes(waits, {}, client).empty());
  EXPECT_FALSE(undecided_of(waits, client).empty());
}
TEST(Server, UnsampledServerHasNoCause) { EXPECT_TRUE(server_causes({}, {}, {}).empty()); }
TEST(Server, StateIsTheMeanWithinTheLevel) {
  trace::NameTable names;
  std::vector<trace::SystemEventRow> events;
  const auto add = [&](std::int64_t time, std::string_view metric, double value) {
    trace::SystemEventRow row;
    row.time_ns = time;
    row.metric = names.intern(metric);
    row.entity = names.intern("tree");
    row.value = value;
    events.push_back(row);
  };
  add(1, "process.run_queue_wait_ratio", 0.2);
  add(2, "process.run_queue_wait_ratio", 0.4);
  add(9, "process.run_queue_wait_ratio", 5);
  const ServerState state = server_state(events, names, 0, 5);
  EXPECT_NEAR(*state.run_queue_ratio, 0.3, 1e-12);
  EXPECT_FALSE(state.cpu_cores);
}

}  // namespace
}  // namespace aaco::analytics::llm
