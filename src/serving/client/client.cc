#include "serving/client.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <unordered_map>

#include "core/clock.h"
#include "core/numbers.h"
#include "serving/client/channel.h"
#include "serving/client/exchange.h"
#include "serving/client/model_list.h"
#include "serving/client/own_state.h"
#include "serving/client/retry.h"
#include "serving/secrets.h"

namespace aaco::serving {
namespace {

using core::monotonic_ns;
using Time = std::chrono::steady_clock::time_point;

Time time_point(std::int64_t ns) { return Time(std::chrono::nanoseconds(ns)); }  // steady_clock is CLOCK_MONOTONIC

constexpr std::int64_t kProgressNs = 250'000'000;
// Requests are sent without a look at sockets and timers for no longer. A client that is behind its schedule otherwise reads
// no answer and records no state of its own until it has caught up.
constexpr std::int64_t kMaxSendingNs = 300'000;
constexpr std::int64_t kLingerNs = 5'000'000'000;        // a response may end this long after its answer
constexpr std::int64_t kMaxDoneWaitNs = 30'000'000'000;  // [DONE] may come this long after the finish reason

}  // namespace

struct Client::State final : Exchange::Host {
  State(Route way, ClientOptions asked) : route(std::move(way)), options(std::move(asked)), reader(options.keep_text) {}
  ~State() override {
    live.clear();
    dead.clear();
    for (const auto& channel : idle) channel->close();
  }

  // A request whose text is made and whose time has not come.
  struct Ready {
    Work work;
    std::string text;
  };
  struct Waiting {
    Ready ready;
    RequestRecord record;
  };

  void prepare_next();
  void arm();
  void on_due();
  void fill();
  void post_fill();
  void dispatch(Ready ready, std::int64_t scheduled_ns);
  void admit();
  void begin(Ready ready, RequestRecord record, bool fresh);
  void retry(Exchange& exchange);
  void on_tick(std::int64_t due_ns);
  void arm_tick(std::int64_t due_ns);
  [[nodiscard]] std::vector<Exchange*> exchanges() const;
  void check_deadlines(std::int64_t now_ns);
  void stop_all(std::int64_t now_ns);
  void report(std::int64_t now_ns);
  void finish_if_done();

  void on_chunk(Exchange& exchange, const Chunk& chunk, std::int64_t time_ns) override;
  void on_ended(Exchange& exchange) override;
  void on_released(Exchange& exchange, bool reusable) override;
  void on_stale(Exchange& exchange) override;
  void on_own_time(OwnWait of, std::int64_t own_ns) override { poller.note(of, own_ns); }
  [[nodiscard]] std::string cleaned(std::string message, const Work& work) const override {
    return without_secrets(std::move(message), secrets, work.body);
  }

  Route route;
  std::vector<std::string> secrets = secrets_of(route.target);
  ClientOptions options;
  ChunkReader reader;
  asio::io_context io{1};
  Poller poller{io};
  ReadBuffer buffer{};
  std::vector<std::shared_ptr<Channel>> idle;
  std::unordered_map<Exchange*, std::unique_ptr<Exchange>> live;
  std::vector<std::unique_ptr<Exchange>> dead;  // let go outside their own calls

  // Of the stage that runs.
  Stage stage;
  WorkSource* source = nullptr;
  StageOutcome outcome;
  std::optional<Ready> next;
  std::deque<Waiting> waiting;
  asio::steady_timer due_timer{io}, tick_timer{io};
  std::optional<OwnState> own;
  Progress progress;
  std::int64_t shortest_cancel_ns = INT64_MAX;  // of the requests of all stages
  std::int64_t open = 0, retrying = 0, next_deadline_check_ns = 0, next_report_ns = 0;
  bool fill_posted = false, finished = false;
};

void Client::State::prepare_next() {
  next.reset();
  if (auto work = source->next()) {
    std::string text = request_text(route.target, *work);
    next = Ready{.work = *std::move(work), .text = std::move(text)};
  }
}

// Open loop.
void Client::State::arm() {
  if (!next) return finish_if_done();
  due_timer.expires_at(time_point(outcome.start_ns + next->work.offset_ns));
  due_timer.async_wait([this](boost::system::error_code error) {
    if (!error) on_due();
  });
}

void Client::State::on_due() {
  const std::int64_t begin = monotonic_ns();
  for (std::int64_t now = begin; next && outcome.start_ns + next->work.offset_ns <= now; now = monotonic_ns()) {
    if (now - begin > kMaxSendingNs) return asio::post(io, [this] { on_due(); });
    const std::int64_t scheduled = outcome.start_ns + next->work.offset_ns;
    dispatch(*std::exchange(next, std::nullopt), scheduled);
    prepare_next();
  }
  arm();
}

// Closed loop.
void Client::State::fill() {
  fill_posted = false;
  const std::int64_t begin = monotonic_ns();
  while (next && open + retrying < *stage.concurrency) {
    const std::int64_t now = monotonic_ns();
    if (now - begin > kMaxSendingNs) return post_fill();
    if (stage.duration_ns && now - outcome.start_ns >= *stage.duration_ns) next.reset();
    if (!next) break;
    dispatch(*std::exchange(next, std::nullopt), now);
    prepare_next();
  }
  finish_if_done();
}

void Client::State::post_fill() {
  fill_posted = true;
  asio::post(io, [this] { fill(); });
}

void Client::State::dispatch(Ready ready, std::int64_t scheduled_ns) {
  RequestRecord record{.request = static_cast<std::int64_t>(outcome.requests.size()),
                       .conversation = ready.work.conversation,
                       .scheduled_ns = scheduled_ns,
                       .dispatched_ns = monotonic_ns()};
  record.prompt_tokens_asked = ready.work.prompt_tokens;
  record.output_tokens_asked = ready.work.output_tokens;
  outcome.requests.push_back(record);
  if (stage.max_open && open >= *stage.max_open) {
    ++outcome.waited_for_cap;
    waiting.push_back({std::move(ready), std::move(record)});
    return;
  }
  begin(std::move(ready), std::move(record), false);
}

void Client::State::admit() {
  while (!waiting.empty() && (!stage.max_open || open < *stage.max_open)) {
    Waiting first = std::move(waiting.front());
    waiting.pop_front();
    begin(std::move(first.ready), std::move(first.record), false);
  }
}

void Client::State::begin(Ready ready, RequestRecord record, bool fresh) {
  if (ready.work.cancel_after_ns) shortest_cancel_ns = std::min(shortest_cancel_ns, *ready.work.cancel_after_ns);
  if (record.admitted_ns == 0) record.admitted_ns = monotonic_ns();
  outcome.peak_open = std::max(outcome.peak_open, ++open);
  ++progress.sent;
  std::shared_ptr<Channel> channel;
  while (!fresh && !channel && !idle.empty()) {
    if (idle.back()->is_open() && !idle.back()->is_spent())
      channel = std::move(idle.back());
    else
      idle.back()->close();
    idle.pop_back();
  }
  const bool connect = !channel;
  if (connect) channel = std::make_shared<Channel>(io, poller, route, buffer);
  outcome.connections += connect ? 1 : 0;
  auto exchange = std::make_unique<Exchange>(*this, reader, std::move(record), std::move(ready.work), std::move(ready.text));
  Exchange& started = *exchange;
  live.emplace(&started, std::move(exchange));
  started.start(channel);
  if (connect) channel->open();
}

void Client::State::on_chunk(Exchange& exchange, const Chunk& chunk, std::int64_t time_ns) {
  if (!options.keep_chunks) return;
  ChunkRecord record{.time_ns = time_ns,
                     .request = static_cast<std::uint32_t>(exchange.record().request),
                     .bytes = static_cast<std::uint32_t>(std::min<std::int64_t>(chunk.bytes, UINT32_MAX)),
                     .usage_tokens = 0,
                     .kind = chunk.kind};
  if (const auto waited_ns = exchange.waited_ns()) record.set_read_lag(*waited_ns);
  if (chunk.usage && chunk.usage->output_tokens && is_output(chunk.kind))
    record.usage_tokens = static_cast<std::uint32_t>(*chunk.usage->output_tokens);
  outcome.chunks.add(record);
}

void Client::State::on_ended(Exchange& exchange) {
  --open;
  const RequestRecord& record = exchange.record();
  if (worth_retrying(record.outcome) && record.retries < options.retries && !outcome.stopped) {
    retry(exchange);
  } else {
    outcome.requests[static_cast<std::size_t>(record.request)] = record;
    ++progress.ended;
    if (record.outcome != Outcome::ok) ++progress.failed;
    if (record.first_token_ns) progress.recent_ttft_ns = *record.first_token_ns - record.scheduled_ns;
    source->ended(record, exchange.answer());
  }
  admit();
  if (stage.concurrency && !fill_posted) post_fill();
  finish_if_done();
}

void Client::State::retry(Exchange& exchange) {
  ++retrying;
  RequestRecord record = exchange.record();
  RequestRecord again{.request = record.request,
                      .conversation = record.conversation,
                      .scheduled_ns = record.scheduled_ns,
                      .dispatched_ns = record.dispatched_ns,
                      .admitted_ns = record.admitted_ns};
  again.prompt_tokens_asked = record.prompt_tokens_asked;
  again.output_tokens_asked = record.output_tokens_asked;
  again.retries = record.retries + 1;
  auto timer = std::make_shared<asio::steady_timer>(io, std::chrono::nanoseconds(retry_delay_ns(exchange)));
  Ready ready{.work = exchange.work(), .text = exchange.request_text()};
  timer->async_wait([this, timer, again, ready = std::move(ready)](boost::system::error_code error) mutable {
    --retrying;
    if (!error && !finished && !outcome.stopped) begin(std::move(ready), again, false);
  });
}

void Client::State::on_released(Exchange& exchange, bool reusable) {
  auto channel = exchange.take_channel();
  if (channel && reusable && channel->is_open())
    idle.push_back(std::move(channel));
  else if (channel)
    channel->close();
  const auto found = live.find(&exchange);
  if (found == live.end()) return;
  dead.push_back(std::move(found->second));
  live.erase(found);
}

void Client::State::on_stale(Exchange& exchange) {
  --open;
  RequestRecord record = exchange.record();
  record.sent_ns.reset();
  ++record.reconnects;
  begin({.work = exchange.work(), .text = exchange.request_text()}, std::move(record), true);
  --progress.sent;
  on_released(exchange, false);
}

void Client::State::arm_tick(std::int64_t due_ns) {
  tick_timer.expires_at(time_point(due_ns));
  tick_timer.async_wait([this, due_ns](boost::system::error_code error) {
    if (!error) on_tick(due_ns);
  });
}

void Client::State::on_tick(std::int64_t due_ns) {
  const std::int64_t now = monotonic_ns();
  if (auto sample = own->tick(due_ns, now, open)) {
    sample->waits = poller.take_waits();
    outcome.samples.push_back(*sample);
  }
  dead.clear();
  if (now >= next_deadline_check_ns) check_deadlines(now);
  if (!outcome.stopped && options.stop && options.stop()) stop_all(now);
  if (options.progress && now >= next_report_ns) report(now);
  finish_if_done();
  if (!finished) arm_tick(std::max(due_ns + OwnState::kTickNs, now));
}

// Those that live now: ending one may begin another.
std::vector<Exchange*> Client::State::exchanges() const {
  std::vector<Exchange*> all;
  for (const auto& [exchange, owner] : live) all.push_back(exchange);
  return all;
}

void Client::State::check_deadlines(std::int64_t now_ns) {
  next_deadline_check_ns =
      now_ns + std::clamp<std::int64_t>(std::min(options.timeout_ns, shortest_cancel_ns) / 50, OwnState::kTickNs, 100'000'000);
  for (Exchange* exchange : exchanges()) {
    const RequestRecord& record = exchange->record();
    const std::int64_t since = record.sent_ns.value_or(exchange->started_ns());
    const auto waits = exchange->waits_since_ns();
    if (exchange->ended()) {
      if (now_ns - record.end_ns > kLingerNs) on_released(*exchange, false);
    } else if (!record.sent_ns && now_ns - since > options.connect_timeout_ns) {
      exchange->abort(Outcome::refused, "timed out while connecting", now_ns);
    } else if (waits && (now_ns - *waits > kMaxDoneWaitNs || now_ns - since > options.timeout_ns)) {
      exchange->stop_waiting(now_ns);
    } else if (now_ns - since > options.timeout_ns) {
      exchange->abort(Outcome::timeout,
                      "no complete response within " + core::format_duration(static_cast<double>(options.timeout_ns)), now_ns);
    } else if (exchange->work().cancel_after_ns && record.sent_ns && now_ns - since > *exchange->work().cancel_after_ns) {
      exchange->abort(Outcome::cancelled, "cancelled as planned", now_ns);
    }
  }
}

void Client::State::stop_all(std::int64_t now_ns) {
  outcome.stopped = true;
  next.reset();
  for (auto& [ready, record] : waiting) {
    record.outcome = Outcome::cancelled;
    record.detail = "the run was stopped";
    record.end_ns = now_ns;
    outcome.requests[static_cast<std::size_t>(record.request)] = record;
  }
  outcome.not_sent += static_cast<std::int64_t>(waiting.size());
  waiting.clear();
  for (Exchange* exchange : exchanges())
    if (!exchange->ended()) exchange->abort(Outcome::cancelled, "the run was stopped", now_ns);
}

void Client::State::report(std::int64_t now_ns) {
  next_report_ns = now_ns + kProgressNs;
  progress.elapsed_ns = now_ns - outcome.start_ns;
  progress.open = open;
  progress.waiting = static_cast<std::int64_t>(waiting.size());
  options.progress(progress);
}

void Client::State::finish_if_done() {
  if (finished || next || open > 0 || retrying > 0 || !waiting.empty()) return;
  finished = true;
  outcome.end_ns = monotonic_ns();
  io.stop();
}

core::Result<Client> Client::open(const Target& target, ClientOptions options) {
  AACO_ASSIGN(auto route, find_route(target, options.connect_timeout_ns));
  return Client(std::make_unique<State>(std::move(route), std::move(options)));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;

core::Result<ModelList> Client::models(std::int64_t timeout_ns) const { return list_models(state_->route, timeout_ns); }

core::Result<StageOutcome> Client::run(const Stage& stage, WorkSource& work) {
  State& state = *state_;
  state.stage = stage;
  state.source = &work;
  state.outcome = {};
  state.progress = {};
  state.waiting.clear();
  state.open = state.retrying = 0;
  state.next_deadline_check_ns = state.next_report_ns = 0;
  state.finished = state.fill_posted = false;
  state.prepare_next();
  state.own.emplace();
  state.outcome.start_ns = monotonic_ns();
  state.io.restart();
  state.arm_tick(state.outcome.start_ns + OwnState::kTickNs);
  if (stage.concurrency)
    state.fill();
  else
    state.arm();
  if (!state.finished) {
    try {
      state.io.run();
    } catch (const std::exception& failure) {
      return core::fail(core::ErrorCode::io, std::string("the event loop failed: ") + failure.what());
    }
  }
  state.tick_timer.cancel();
  state.due_timer.cancel();
  // What was seen since the end of the last window. A load without one is shorter than a window.
  const SocketWaits rest = state.poller.take_waits();
  if (!state.outcome.samples.empty()) add_waits(state.outcome.samples.back().waits, rest);
  while (!state.live.empty()) state.on_released(*state.live.begin()->first, false);
  state.dead.clear();
  state.io.restart();
  state.io.poll();  // handlers of what was closed
  return std::move(state.outcome);
}

}  // namespace aaco::serving
