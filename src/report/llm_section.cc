#include "report/llm_section.h"

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const Llm::Level& level) {
  Json failures = Json::object();
  for (const auto& [kind, count] : level.failures) failures.set(kind, count);
  Json out = Json::object({{"load", level.load}, {"requests", level.requests}, {"complete", level.complete}});
  if (!level.failures.empty()) out.set("failures", std::move(failures));
  if (level.retries > 0) out.set("retries", level.retries);
  if (level.usage_rejected > 0) out.set("usage_rejected", level.usage_rejected);
  out.set("metrics", trace::to_json(level.metrics));
  if (!level.client_limit.empty())
    out.set("client_limit", Json::texts(level.client_limit)).set("client_verdict", level.client_verdict);
  out.set_if("vouched_per_second", level.vouched_per_second);
  if (!level.handshakes.empty()) out.set("handshakes", level.handshakes);
  if (!level.connection_waits.empty()) out.set("connection_waits", Json::texts(level.connection_waits));
  if (!level.server_causes.empty()) out.set("server_causes", Json::texts(level.server_causes));
  if (level.slow_tokens > 0) out.set("slow_tokens", level.slow_tokens);
  Json causes = Json::object();
  for (const auto& [cause, count] : level.slow_causes) causes.set(cause, count);
  if (!level.slow_causes.empty()) out.set("slow_causes", std::move(causes));
  return out;
}

Json to_json(const Llm::SlowRequest& slow) {
  Json out = Json::object(
      {{"request", slow.request}, {"load", slow.load}, {"e2el_ns", slow.e2el_ns}, {"client_queue_ns", slow.client_queue_ns}});
  out.set_if("first_token_ns", slow.first_token_ns)
      .set_if("longest_gap_ns", slow.longest_gap_ns)
      .set_if("output_tokens", slow.output_tokens);
  Json chunks = Json::array();
  for (const double time : slow.chunk_ns) chunks.push(time);
  if (!slow.chunk_ns.empty()) out.set("chunk_ns", std::move(chunks));
  if (slow.resent > 0) out.set("resent", slow.resent);
  if (!slow.cause.empty()) out.set("cause", slow.cause);
  return out;
}

}  // namespace

Json to_json(const Llm& section) {
  Json levels = Json::array(), slow = Json::array();
  for (const Llm::Level& level : section.levels) levels.push(to_json(level));
  for (const Llm::SlowRequest& request : section.slow) slow.push(to_json(request));
  Json out = Json::object({{"summary", section.summary}});
  if (!section.slo.empty()) out.set("slo", section.slo);
  if (!section.knee.empty()) out.set("knee", section.knee);
  if (!section.counts.empty()) out.set("counts", section.counts);
  out.set("levels", std::move(levels));
  if (!section.slow.empty()) out.set("slow", std::move(slow));
  return out;
}

}  // namespace aaco::report
