#include "workflows/compare/llm_series.h"

#include <algorithm>
#include <string_view>

#include "analytics/llm.h"
#include "core/files.h"
#include "core/json.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using Series = std::map<std::string, std::vector<double>>;

void add(Series& series, std::string_view name, const std::optional<double>& value) {
  if (!value) return;
  for (const char* statistic : {"mean", "p50", "p90", "p95", "p99"})
    series["llm." + std::string(name) + "_" + statistic + "_ns"].push_back(*value);
}

}  // namespace

core::Result<LlmSeries> llm_series(const std::string& session_path) {
  LlmSeries llm;
  Series& series = llm.values;
  const std::string file = core::join_path(session_path, "metrics/llm_summary.json");
  if (!core::exists(file)) return llm;
  AACO_ASSIGN(const core::Json summary, core::read_json_file(file));
  trace::NameTable names;
  AACO_ASSIGN(auto requests, tracelake::read_table<trace::LlmRequestRow>(session_path, names));
  std::erase_if(requests, [&](const auto& row) {
    return names.text(row.phase) != "measure" || names.text(row.outcome) != "ok" ||
           names.text(row.load) != summary["counts"].text();
  });
  std::stable_sort(requests.begin(), requests.end(),
                   [](const auto& a, const auto& b) { return a.scheduled_ns < b.scheduled_ns; });
  for (const auto& row : requests) {
    const auto times = analytics::llm::times_of(row);
    ++llm.responses;
    llm.in_one_piece += row.content_chunks > 1 && row.first_token_ns && row.first_token_ns == row.last_token_ns ? 1 : 0;
    add(series, "ttft", times.ttft_ns);
    add(series, "ttft_sent", times.ttft_sent_ns);
    add(series, "tpot", times.tpot_ns);
    add(series, "e2el", times.e2el_ns);
    add(series, "e2el_sent", times.e2el_sent_ns);
  }
  return llm;
}

}  // namespace aaco::workflows
