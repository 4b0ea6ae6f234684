#include <gtest/gtest.h>

#include "analytics/llm_slow.h"

namespace aaco::analytics::llm {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Ten requests, one after the other: first token after 20 ms, then 20 tokens each 5 ms; one gap of request 4 is 60 ms long.
struct Scene {
  trace::NameTable names;
  std::vector<trace::LlmRequestRow> requests;
  std::vector<trace::LlmChunkRow> chunks;
  std::vector<trace::SystemEventRow> events;
  std::vector<trace::SchedEventRow> sched;
  BesideLoad beside;
  std::int64_t slow_from = 0, slow_to = 0;

  explicit Scene(std::int64_t slow_ms = 60, std::int64_t first_ms = 20) {
    std::int64_t now = 1000 * kMs;
    for (std::int64_t request = 0; request < 10; ++request) {
      trace::LlmRequestRow row{.request = request, .phase = names.intern("measure"), .load = names.intern("rate 1/s")};
      row.scheduled_ns = now;
      row.sent_ns = now;
      now += (request == 7 ? first_ms : 20) * kMs;
      row.first_token_ns = now;
      for (std::int64_t chunk = 0; chunk < 20; ++chunk) {
        const bool slow = request == 4 && chunk == 10;
        if (slow) slow_from = now;
        if (chunk > 0) now += (slow ? slow_ms : 5) * kMs;
        if (slow) slow_to = now;
        trace::LlmChunkRow piece{.request = request, .chunk = chunk, .time_ns = now};
        piece.kind = names.intern("content");
        chunks.push_back(piece);
      }
      row.last_token_ns = now;
      row.end_ns = now;
      requests.push_back(row);
    }
    beside.server_process = true;
  }
  void sample(std::string_view metric, std::int64_t time_ns, double value, std::int32_t rank = 0) {
    trace::SystemEventRow row{.rank = rank, .time_ns = time_ns, .metric = names.intern(metric)};
    row.value = value;
    events.push_back(row);
  }
  void scheduled(std::string_view kind, std::int64_t from_ns, std::int64_t duration_ns, std::string_view detail = {}) {
    trace::SchedEventRow row{.time_ns = from_ns, .kind = names.intern(kind)};
    row.duration_ns = duration_ns;
    row.detail = names.intern(detail);
    sched.push_back(row);
  }
  SlowTimes found() {
    beside.events = events;
    beside.sched = sched;
    return SlowTokens(beside, names).find(requests, chunks, names, "rate 1/s");
  }
  std::string cause() {
    const SlowTimes times = found();
    return times.longest.empty() ? "none" : std::string(times.longest.front().cause);
  }
};

TEST(SlowTokens, OneGapIsSlow) {
  const SlowTimes times = Scene().found();
  EXPECT_EQ(times.slow_gaps, 1);
  EXPECT_EQ(times.gaps, 190);
  EXPECT_EQ(times.slow_first_tokens, 0);
  EXPECT_EQ(times.usual_gap_ns, 5.0 * kMs);
  EXPECT_EQ(times.longest.at(0).request, 4);
  EXPECT_EQ(times.causes.at(""), 1);
}
// Pairs of chunks in one read: half of the gaps are 0, and the usual one is between the pairs.
TEST(SlowTokens, ChunksOfOneReadAreNotTheUsualGap) {
  Scene scene;
  for (std::size_t i = 1; i < scene.chunks.size(); i += 2) scene.chunks[i].time_ns = scene.chunks[i - 1].time_ns;
  const SlowTimes times = scene.found();
  EXPECT_EQ(times.usual_gap_ns, 10.0 * kMs);
  EXPECT_EQ(times.slow_gaps, 1);
}
TEST(SlowTokens, NoneIsSlow) {
  EXPECT_EQ(Scene(5).cause(), "none");
  EXPECT_EQ(sentence_of(Scene(5).found()), "");
}
TEST(SlowTokens, LessThanAMillisecondIsNotSlow) {
  Scene scene(5);
  for (auto& chunk : scene.chunks) chunk.time_ns = 1000 * kMs + (chunk.time_ns - 1000 * kMs) / 100;
  scene.chunks.back().time_ns += 200'000;
  EXPECT_EQ(scene.found().slow_gaps, 0);
}
TEST(SlowTokens, WaitForACpuByTheScheduler) {
  Scene scene;
  scene.scheduled("run_queue", scene.slow_from + 10 * kMs, 40 * kMs);
  EXPECT_EQ(scene.cause(), "cpu_wait");
  EXPECT_EQ(scene.found().longest.at(0).explained_ns, 40.0 * kMs);
}
TEST(SlowTokens, OverlappingWaitsCountOnce) {
  Scene scene;
  for (int thread = 0; thread < 4; ++thread) scene.scheduled("run_queue", scene.slow_from + 10 * kMs, 10 * kMs);
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, AWaitElsewhereExplainsNothing) {
  Scene scene;
  scene.scheduled("run_queue", scene.slow_to + kMs, 200 * kMs);
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, WaitForACpuBySamples) {
  Scene scene;
  for (std::int64_t time = 1000 * kMs; time < scene.slow_to + 200 * kMs; time += 20 * kMs)
    scene.sample("process.run_queue_wait_ratio", time, time > scene.slow_from && time < scene.slow_to + 20 * kMs ? 0.9 : 0);
  EXPECT_EQ(scene.cause(), "cpu_wait");
}
TEST(SlowTokens, SchedulerEventsOutweighSamples) {
  Scene scene;
  scene.sample("process.run_queue_wait_ratio", scene.slow_to, 0.9);
  scene.scheduled("run_queue", 1000 * kMs, kMs);
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, OfAnotherMachineOnlyWithItsRank) {
  Scene scene;
  scene.sample("process.run_queue_wait_ratio", scene.slow_from, 0, kObservedRank);
  scene.sample("process.run_queue_wait_ratio", scene.slow_to, 1, kObservedRank);
  EXPECT_EQ(scene.cause(), "");
  scene.beside.machine = kObservedRank;
  EXPECT_EQ(scene.cause(), "cpu_wait");
  scene.beside.clock_error_ns = 40 * kMs;  // the gap is 60 ms
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, ProcessesThatAreNotTheServers) {
  Scene scene;
  scene.beside.server_process = false;
  scene.scheduled("run_queue", scene.slow_from, 60 * kMs);
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, Throttled) {
  Scene scene;
  scene.sample("cgroup.throttled_ratio", scene.slow_from, 0);
  scene.sample("cgroup.throttled_ratio", scene.slow_to, 0.8);
  EXPECT_EQ(scene.cause(), "throttled");
}
TEST(SlowTokens, Storage) {
  Scene scene;
  scene.scheduled("off_cpu", scene.slow_from, 50 * kMs, "disk_sleep");
  EXPECT_EQ(scene.cause(), "io_wait");
}
TEST(SlowTokens, SleepExplainsNothing) {
  Scene scene;
  scene.scheduled("off_cpu", scene.slow_from, 50 * kMs, "sleep");
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, TheClientReadLate) {
  Scene scene;
  scene.scheduled("run_queue", scene.slow_from, 60 * kMs);
  scene.sample("client.loop_lag_ns", scene.slow_to + 5 * kMs, 45.0 * kMs);
  EXPECT_EQ(scene.cause(), "client");
}
TEST(SlowTokens, BytesWaitedForTheClient) {
  Scene scene;
  scene.sample("client.loop_lag_ns", scene.slow_to + 5 * kMs, 0.1 * kMs);
  scene.sample("client.read_lag_ns", scene.slow_to + 5 * kMs, 45.0 * kMs);
  EXPECT_EQ(scene.cause(), "client");
}
TEST(SlowTokens, LagOfTheClientBeforeExplainsNothing) {
  Scene scene;
  scene.sample("client.loop_lag_ns", scene.slow_from, 45.0 * kMs);
  scene.sample("client.loop_lag_ns", scene.slow_to - kMs, 0);
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, Eviction) {
  Scene scene;
  scene.sample("server.preemption_count", scene.slow_from - 50 * kMs, 3);
  scene.sample("server.preemption_count", scene.slow_to + 10 * kMs, 4);
  EXPECT_EQ(scene.cause(), "kv_cache");
}
TEST(SlowTokens, EvictionsAllTheTimeCoincideWithEverything) {
  Scene scene;
  for (int i = 0; i < 100; ++i) scene.sample("server.preemption_count", 900 * kMs + i * 50 * kMs, i);
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, LoweredClock) {
  Scene scene;
  scene.sample("cpu.thermal_throttles_per_second", scene.slow_to, 2);
  EXPECT_EQ(scene.cause(), "clock");
}
TEST(SlowTokens, QueueByTheServersOwnPrefillTime) {
  Scene scene(5, 200);
  scene.requests[7].server_prompt_ns = 15 * kMs;
  EXPECT_EQ(scene.cause(), "queue");
  scene.requests[7].server_prompt_ns = 195 * kMs;  // a long prompt
  EXPECT_EQ(scene.cause(), "");
}
TEST(SlowTokens, AServerThatNeverQueuesHasNoQueue) {
  Scene scene(5, 200);
  scene.requests[7].server_prompt_ns = 15 * kMs;
  for (const auto& row : scene.requests) scene.sample("server.waiting_requests", row.scheduled_ns, 0);
  EXPECT_EQ(scene.found().longest.at(0).cause, "");
}
TEST(SlowTokens, QueueByTheServersMetrics) {
  Scene scene(5, 200);
  scene.sample("server.waiting_requests", *scene.requests[7].sent_ns, 0);
  scene.sample("server.waiting_requests", *scene.requests[7].first_token_ns, 3);
  EXPECT_EQ(scene.cause(), "queue");
}
TEST(SlowTokens, SentenceCountsCauses) {
  Scene scene;
  scene.scheduled("run_queue", scene.slow_from, 60 * kMs);
  EXPECT_EQ(sentence_of(scene.found()),
            "0 of 10 first tokens and 1 of 190 gaps between chunks were more than 3 times the usual of this level (20.0 ms and "
            "5.00 ms): wait for a CPU at the server (1)");
}
TEST(SlowTokens, AnotherLoadHasNone) {
  Scene scene;
  EXPECT_EQ(SlowTokens(scene.beside, scene.names).find(scene.requests, scene.chunks, scene.names, "replay").gaps, 0);
}

}  // namespace
}  // namespace aaco::analytics::llm
