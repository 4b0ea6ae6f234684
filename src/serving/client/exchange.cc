#include "serving/client/exchange.h"

#include <fmt/format.h>

#include <utility>

#include "core/clock.h"
#include "core/json.h"
#include "core/strings.h"
#include "serving/client/reply_text.h"
#include "serving/usage.h"

namespace aaco::serving {
namespace {

constexpr std::size_t kMaxErrorBody = 64 << 10;  // what is kept of a reply that is no stream
constexpr std::size_t kMaxDetail = 300;
constexpr std::string_view kExpected = "an event stream";

// Finish reasons of an answer that the server could not end (SGLang and vLLM: abort, gateways: error).
bool gave_up(std::string_view finish_reason) { return finish_reason == "error" || finish_reason == "abort"; }

}  // namespace

std::string request_header(const Target& target, std::string_view method, std::string_view path, std::string_view more) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: aaco\r\n{}", method, target.request_target(path),
                                 target.host_header(), more);
  if (target.proxy && !target.tls && !target.proxy_authorization.empty())
    text += fmt::format("Proxy-Authorization: {}\r\n", target.proxy_authorization);
  for (const auto& [name, value] : target.headers) text += fmt::format("{}: {}\r\n", name, value);
  return text;
}

std::string request_text(const Target& target, const Work& work) {
  const std::string more = fmt::format(
      "Content-Type: application/json\r\nAccept: text/event-stream\r\nAccept-Encoding: identity\r\nContent-Length: {}\r\n",
      work.body.size());
  return request_header(target, "POST", work.path, more) + "\r\n" + work.body;
}

Exchange::Exchange(Host& host, ChunkReader& reader, RequestRecord record, Work work, std::string text)
    : host_(host), reader_(reader), record_(std::move(record)), work_(std::move(work)), text_(std::move(text)) {}

Exchange::~Exchange() {
  if (!channel_) return;
  channel_->listen(nullptr);
  channel_->close();
}

std::shared_ptr<Channel> Exchange::take_channel() {
  if (channel_) channel_->listen(nullptr);
  return std::move(channel_);
}

void Exchange::start(std::shared_ptr<Channel> channel) {
  started_ns_ = core::monotonic_ns();
  channel_ = std::move(channel);
  reused_ = channel_->used();
  channel_->listen(this);
  if (channel_->is_open()) record_.sent_ns = channel_->send(text_);
}

void Exchange::on_open(std::int64_t connect_ns, std::optional<std::int64_t> tls_ns) {
  record_.connect_ns = connect_ns;
  record_.tls_ns = tls_ns;
  record_.sent_ns = channel_->send(text_);
}

void Exchange::on_bytes(std::string_view bytes, std::int64_t time_ns) {
  const std::int64_t began_ns = channel_->reading_since_ns();
  if (own_ns_ == 0) own_of_ = record_.first_token_ns ? &SocketWaits::gap_own_ns : &SocketWaits::event_own_ns;
  take_bytes(bytes, time_ns);
  own_ns_ += core::monotonic_ns() - began_ns;
  if (stream_.incomplete() && !ended_) return;
  host_.on_own_time(own_of_, std::exchange(own_ns_, 0));
}

void Exchange::take_bytes(std::string_view bytes, std::int64_t time_ns) {
  const auto status = response_.feed(bytes, [&](std::string_view body) { return take_body(body, time_ns); });
  if (response_.have_header()) take_header(time_ns);
  if (!status) {
    end(Outcome::protocol, status.error().message, time_ns);
    return release(false);
  }
  if (!response_.complete()) return;
  conclude(time_ns, false);
  release(response_.keep_alive());
}

void Exchange::take_header(std::int64_t time_ns) {
  if (record_.headers_ns) return;
  record_.headers_ns = time_ns;
  record_.http_status = response_.status();
  is_stream_ = response_.status() == 200 && response_.content_type().starts_with("text/event-stream");
  retry_after_ = response_.retry_after();
}

core::Status Exchange::take_body(std::string_view body, std::int64_t time_ns) {
  take_header(time_ns);
  if (ended_) return {};  // after [DONE]
  if (is_stream_)
    return stream_.feed(body, [&](std::string_view event, std::string_view data) { take_event(event, data, time_ns); });
  body_ += body.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, body_.size()));
  return {};
}

void Exchange::take_event(std::string_view event, std::string_view data, std::int64_t time_ns) {
  if (ended_ || data.empty()) return;
  const auto chunk = reader_.read(event, data);
  if (!chunk) return end(Outcome::protocol, chunk.error().message, time_ns);
  take_chunk(**chunk, time_ns);
}

void Exchange::take_chunk(const Chunk& chunk, std::int64_t time_ns) {
  if (!record_.first_chunk_ns) record_.first_chunk_ns = time_ns;
  if (is_output(chunk.kind)) {
    if (!record_.first_token_ns) record_.first_token_ns = time_ns;
    record_.last_token_ns = time_ns;
    ++record_.content_chunks;
    record_.content_bytes += chunk.bytes;
    record_.tool_call = record_.tool_call || chunk.kind == ChunkKind::tool_call;
    record_.reasoning = record_.reasoning || chunk.kind == ChunkKind::reasoning;
    answer_ += chunk.text;
  }
  if (!chunk.finish_reason.empty()) record_.finish_reason = chunk.finish_reason;
  if (is_output(chunk.kind) || !chunk.finish_reason.empty()) answered_ns_ = time_ns;
  if (chunk.usage) record_.usage = *chunk.usage;
  if (chunk.server_prompt_ns) record_.server_prompt_ns = chunk.server_prompt_ns;
  if (chunk.server_decode_ns) record_.server_decode_ns = chunk.server_decode_ns;
  host_.on_chunk(*this, chunk, time_ns);
  if (chunk.kind == ChunkKind::error)
    end(Outcome::stream_error, chunk.error.empty() ? "error event in the stream" : chunk.error, time_ns);
  if (chunk.kind == ChunkKind::done) finish(true, time_ns);
}

void Exchange::finish(bool done, std::int64_t time_ns) {
  const std::int64_t ended_ns = answered_ns_.value_or(time_ns);
  record_.done = done;
  record_.held_ns = time_ns - ended_ns;
  end(Outcome::ok, {}, ended_ns);
}

void Exchange::conclude(std::int64_t time_ns, bool cut) {
  if (ended_) return;
  if (!response_.location().empty() && *record_.http_status >= 300 && *record_.http_status < 400)
    return end(Outcome::protocol, fmt::format("HTTP {}: redirected to {}", *record_.http_status, response_.location()), time_ns);
  if (record_.http_status && *record_.http_status != 200)
    return end(outcome_of_status(*record_.http_status),
               describe_reply(*record_.http_status, response_.content_type(), body_, kExpected), time_ns);
  if (!cut && !is_stream_)
    return end(Outcome::protocol, describe_reply(200, response_.content_type(), body_, kExpected), time_ns);
  // The line of [DONE] may have no end. Without it an answer that gave its reason to finish is whole.
  if (!cut && core::trim(stream_.unfinished()) == kDone) return finish(true, answered_ns_.value_or(time_ns));
  if (!record_.finish_reason.empty()) return finish(false, time_ns);
  end(Outcome::truncated,
      cut ? "the connection was closed within the stream" : "the stream ended without a finish reason or [DONE]", time_ns);
}

void Exchange::on_lost(Outcome kind, const std::string& why, bool orderly, std::int64_t time_ns) {
  if (ended_) return release(false);
  if (reused_ && !response_.started() && kind == Outcome::reset) {
    channel_.reset();
    return host_.on_stale(*this);
  }
  if (orderly && response_.have_header()) {
    const bool cut = !response_.close();
    if (record_.http_status) conclude(time_ns, cut);
  }
  if (!ended_) {
    if (kind == Outcome::reset && orderly)
      end(Outcome::reset, "the server closed the connection before a response was complete", time_ns);
    else
      end(kind, why, time_ns);
  }
  release(false);
}

void Exchange::abort(Outcome outcome, const std::string& why, std::int64_t now_ns) {
  end(outcome, why, now_ns);
  release(false);
}

void Exchange::stop_waiting(std::int64_t now_ns) {
  finish(false, now_ns);
  release(false);
}

void Exchange::end(Outcome outcome, std::string detail, std::int64_t time_ns) {
  if (ended_) return;
  ended_ = true;
  if (outcome == Outcome::ok && gave_up(record_.finish_reason)) {
    outcome = Outcome::stream_error;
    detail = fmt::format("the server ended the answer with finish reason '{}'", record_.finish_reason);
  }
  record_.outcome = outcome;
  if (!detail.empty()) detail = host_.cleaned(std::move(detail), work_);
  detail.resize(std::min(detail.size(), kMaxDetail));
  record_.detail = core::Json::parse(core::Json(std::move(detail)).dump(-1)).value_or(core::Json()).text();  // valid UTF-8
  if (!record_.finish_reason.empty()) record_.finish_reason = host_.cleaned(record_.finish_reason, work_);
  record_.end_ns = time_ns;
  if (outcome == Outcome::ok) check_usage(record_);
  host_.on_ended(*this);
}

void Exchange::release(bool reusable) {
  if (released_) return;
  released_ = true;
  host_.on_released(*this, reusable);
}

}  // namespace aaco::serving
