#include "workflows/llm/server_watch.h"

#include <fmt/format.h>

#include "core/clock.h"
#include "core/files.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;

constexpr std::int64_t kReadingTimeoutNs = 2'000'000'000;
constexpr std::size_t kMaxReadingReply = 8 << 20;

}  // namespace

core::Result<ServerWatch::Reading> ServerWatch::State::read() const {
  Reading reading{.asked_ns = core::monotonic_ns(), .answered_ns = 0, .values = {}};
  AACO_ASSIGN(const serving::Fetched reply, fetcher->fetch({"", {}, kReadingTimeoutNs, kMaxReadingReply}));
  reading.answered_ns = core::monotonic_ns();
  if (reply.outcome != serving::Outcome::ok) return core::fail(ErrorCode::io, url + ": " + reply.detail);
  if (reply.status != 200) return core::fail(ErrorCode::io, fmt::format("{} answered HTTP {}", url, reply.status));
  auto values = serving::read_server_metrics(dialects, reply.body);
  if (!values)
    return core::fail(ErrorCode::invalid_input, url + " has no metric of a known server", "known: vLLM, SGLang, TGI, llama.cpp");
  reading.values = *std::move(values);
  return reading;
}

core::Result<std::optional<ServerWatch>> ServerWatch::find(const serving::Target& target, const std::string& url,
                                                           const Services& services) {
  auto state = std::make_unique<State>();
  AACO_ASSIGN(state->dialects, serving::load_dialects(core::join_path(services.paths.share, "data/serving/server_metrics.yaml")));
  serving::Target metrics = target;
  metrics.base_path = "/metrics";
  if (!url.empty()) {
    AACO_ASSIGN(metrics, serving::parse_target(url, services.environment));
    if (metrics.base_path.empty()) metrics.base_path = "/";
    metrics.ca_file = target.ca_file;
    if (metrics.server.host == target.server.host) metrics.headers = target.headers;  // a key is not for other hosts
  }
  state->url = metrics.url();
  const auto read_first = [&]() -> core::Result<Reading> {
    AACO_ASSIGN(auto fetcher, serving::Fetcher::open(metrics, kReadingTimeoutNs));
    state->fetcher = std::move(fetcher);
    return state->read();
  };
  auto first = read_first();
  if (!first && !url.empty()) return tl::unexpected(std::move(first).error().with("reading the server's metrics"));
  if (!first) return std::nullopt;
  state->dialect = first->values.dialect;
  return std::optional(ServerWatch(std::move(state)));
}

void ServerWatch::start() {
  State& state = *state_;
  state.thread = std::thread([&state] {
    while (!state.done) {
      if (auto reading = state.read())
        state.readings.push_back(*std::move(reading));
      else
        ++state.failures;
      // In short steps, so that the end is not waited for.
      const std::int64_t next = core::monotonic_ns() + kPeriodNs;
      while (!state.done && core::monotonic_ns() < next) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

void ServerWatch::finish(trace::Sink& sink) {
  state_->done = true;
  if (state_->thread.joinable()) state_->thread.join();
  const auto entity = sink.name(state_->dialect);
  const auto add = [&](std::int64_t time_ns, std::string_view metric, double value) {
    trace::SystemEventRow row{.time_ns = time_ns, .metric = sink.name(metric)};
    row.entity = entity;
    row.value = value;
    sink.add(row);
  };
  for (const Reading& reading : state_->readings) {
    const std::int64_t time_ns = reading.asked_ns + (reading.answered_ns - reading.asked_ns) / 2;
    for (const auto& [id, value] : reading.values.values) add(time_ns, id, value);
    add(time_ns, "server.reading_ns", static_cast<double>(reading.answered_ns - reading.asked_ns));
  }
}

ServerWatch::~ServerWatch() {
  if (!state_) return;
  state_->done = true;
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace aaco::workflows
