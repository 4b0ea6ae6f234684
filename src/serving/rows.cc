#include "serving/rows.h"

#include <string>
#include <vector>

namespace aaco::serving {
namespace {

trace::LlmRequestRow row_of(const RequestRecord& record, trace::Sink& sink) {
  trace::LlmRequestRow row{.request = record.request,
                           .conversation = record.conversation,
                           .scheduled_ns = record.scheduled_ns,
                           .dispatched_ns = record.dispatched_ns,
                           .admitted_ns = record.admitted_ns,
                           .sent_ns = record.sent_ns,
                           .headers_ns = record.headers_ns,
                           .first_chunk_ns = record.first_chunk_ns,
                           .first_token_ns = record.first_token_ns,
                           .last_token_ns = record.last_token_ns,
                           .end_ns = record.end_ns,
                           .connect_ns = record.connect_ns,
                           .tls_ns = record.tls_ns};
  row.outcome = sink.name(to_string(record.outcome));
  row.detail = sink.name(record.detail);
  if (record.http_status) row.http_status = *record.http_status;
  row.finish_reason = sink.name(record.finish_reason);
  row.prompt_tokens_asked = record.prompt_tokens_asked;
  row.output_tokens_asked = record.output_tokens_asked;
  row.prompt_tokens = record.usage.prompt_tokens;
  row.output_tokens = record.usage.output_tokens;
  row.cached_tokens = record.usage.cached_tokens;
  if (row.output_tokens) row.token_source = sink.name(record.token_source);
  row.content_chunks = record.content_chunks;
  row.content_bytes = record.content_bytes;
  row.retries = record.retries;
  row.reconnects = record.reconnects;
  row.server_prompt_ns = record.server_prompt_ns;
  row.server_decode_ns = record.server_decode_ns;
  return row;
}

void write_chunks(const StageOutcome& stage, std::int64_t first_request, trace::Sink& sink) {
  struct Seen {
    std::int64_t chunks = 0, tokens = 0;
  };
  std::vector<Seen> seen(stage.requests.size());
  stage.chunks.for_each([&](const ChunkRecord& chunk) {
    Seen& so_far = seen[chunk.request];
    trace::LlmChunkRow row{.request = first_request + chunk.request, .chunk = so_far.chunks++, .time_ns = chunk.time_ns};
    row.kind = sink.name(to_string(chunk.kind));
    row.bytes = chunk.bytes;
    if (chunk.usage_tokens > 0) {
      row.tokens = std::max<std::int64_t>(0, chunk.usage_tokens - so_far.tokens);
      so_far.tokens = chunk.usage_tokens;
    }
    if (chunk.read_lag_10us != ChunkRecord::kReadLagUnknown && chunk.read_lag_ns() >= kLongEventNs) {
      trace::SystemEventRow late{.time_ns = chunk.time_ns, .metric = sink.name("client.chunk_read_lag_ns")};
      late.entity = sink.name("client");
      late.value = static_cast<double>(chunk.read_lag_ns());
      sink.add(late);
    }
    sink.add(row);
  });
}

void write_samples(const StageOutcome& stage, trace::Sink& sink) {
  const auto add = [&](std::int64_t time_ns, std::string_view metric, double value) {
    trace::SystemEventRow row{.time_ns = time_ns, .metric = sink.name(metric)};
    row.entity = sink.name("client");
    row.value = value;
    sink.add(row);
  };
  for (const ClientSample& sample : stage.samples) {
    const auto window = static_cast<double>(sample.window_ns);
    add(sample.time_ns, "client.loop_lag_ns", static_cast<double>(sample.loop_lag_ns));
    const auto add_wait = [&](std::string_view metric, const std::optional<std::int64_t>& ns) {
      if (ns) add(sample.time_ns, metric, static_cast<double>(*ns));
    };
    add_wait("client.read_lag_ns", sample.waits.read_lag_ns);
    add_wait("client.write_wait_ns", sample.waits.write_wait_ns);
    add_wait("client.tls_record_wait_ns", sample.waits.tls_record_ns);
    for (const std::int64_t ns : sample.waits.event_own_ns) add_wait("client.event_own_ns", ns);
    for (const std::int64_t ns : sample.waits.gap_own_ns) add_wait("client.gap_own_ns", ns);
    add_wait("client.tls_own_ns", sample.waits.tls_own_ns);
    add(sample.time_ns, "client.cpu_ratio", static_cast<double>(sample.cpu_ns) / window);
    if (sample.run_queue_ns) add(sample.time_ns, "client.run_queue_ratio", static_cast<double>(*sample.run_queue_ns) / window);
    add(sample.time_ns, "client.open_requests", static_cast<double>(sample.open_requests));
  }
}

}  // namespace

void write_rows(const StageOutcome& stage, std::string_view phase, std::string_view load, std::int64_t first_request,
                trace::Sink& sink) {
  for (const RequestRecord& record : stage.requests) {
    trace::LlmRequestRow row = row_of(record, sink);
    row.request += first_request;
    row.phase = sink.name(phase);
    row.load = sink.name(load);
    sink.add(row);
  }
  write_chunks(stage, first_request, sink);
  write_samples(stage, sink);
}

}  // namespace aaco::serving
