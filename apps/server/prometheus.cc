#include "server/prometheus.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <map>
#include <set>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "server/handlers.h"
#include "server/telemetry.h"

namespace aaco::server {
namespace {

void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void one(std::string& text, std::string_view name, std::string_view type, std::string_view help, double value) {
  head(text, name, type, help);
  text += fmt::format("{} {}\n", name, value);
}

void sessions_text(std::string& text, const std::vector<workflows::SessionLine>& lines) {
  std::map<std::string, std::size_t> states;
  for (const auto& line : lines) ++states[line.state.starts_with("damaged") ? "damaged" : line.state];
  head(text, "aaco_sessions", "gauge", "Stored sessions by state");
  for (const auto& [state, count] : states) text += fmt::format("aaco_sessions{{state=\"{}\"}} {}\n", label_value(state), count);
  head(text, "aaco_latency_p50_seconds", "gauge", "Median latency of the newest session of each workload");
  std::set<std::string> seen;
  for (auto line = lines.rbegin(); line != lines.rend() && seen.size() < kMaxWorkloads; ++line) {
    if (!line->p50_ns || line->state != "complete" || !seen.insert(line->kind + '\n' + line->what).second) continue;
    text += fmt::format("aaco_latency_p50_seconds{{kind=\"{}\",workload=\"{}\"}} {}\n", label_value(line->kind),
                        label_value(line->what), *line->p50_ns / 1e9);
  }
}

void jobs_text(std::string& text, const workflows::Jobs& jobs) {
  std::map<std::string, std::size_t> states;
  for (const workflows::Job& job : jobs.list()) ++states[job.state];
  head(text, "aaco_jobs", "gauge", "Jobs by state");
  for (const auto& [state, count] : states) text += fmt::format("aaco_jobs{{state=\"{}\"}} {}\n", label_value(state), count);
}

double resident_bytes() {
  const auto statm = core::read_file("/proc/self/statm");
  const auto words = statm ? core::split_words(*statm) : std::vector<std::string_view>();
  const auto pages = words.size() > 1 ? core::parse_f64(words[1]) : std::nullopt;
  return pages.value_or(0) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"')
      out += std::string("\\") + c;
    else
      out += c == '\n' ? "\\n" : std::string(1, c);
  }
  return out;
}

OwnCost own_cost() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), resident_bytes()};
}

std::string prometheus_text(const std::vector<workflows::SessionLine>& lines, const Counters& counters, const OwnCost& cost) {
  std::string text;
  sessions_text(text, lines);
  head(text, "aaco_http_responses_total", "counter", "Answers by status");
  std::int64_t answers = 0;
  for (const auto& [status, count] : counters.answers) {
    text += fmt::format("aaco_http_responses_total{{code=\"{}\"}} {}\n", status, count);
    answers += count;
  }
  head(text, "aaco_http_response_seconds", "summary", "Time from a request's head to its answer");
  text += fmt::format("aaco_http_response_seconds_sum {}\naaco_http_response_seconds_count {}\n",
                      static_cast<double>(counters.answer_ns) / 1e9, answers);
  one(text, "aaco_http_connections", "gauge", "Open connections", static_cast<double>(counters.connections));
  one(text, "aaco_http_refused_connections_total", "counter", "Connections refused because too many were open",
      static_cast<double>(counters.refused_connections));
  one(text, "aaco_live_streams", "gauge", "Open live streams", static_cast<double>(counters.streams.open));
  one(text, "aaco_live_events_total", "counter", "Events sent to live streams", static_cast<double>(counters.streams.sent));
  one(text, "aaco_live_thinned_events_total", "counter", "Events left out for slow readers of live streams",
      static_cast<double>(counters.streams.thinned));
  one(text, "aaco_live_closed_streams_total", "counter", "Live streams closed because the reader took nothing for 30 s",
      static_cast<double>(counters.streams.closed));
  one(text, "process_cpu_seconds_total", "counter", "CPU time of this server", cost.cpu_seconds);
  one(text, "process_resident_memory_bytes", "gauge", "Resident memory of this server", cost.resident_bytes);
  return text;
}

core::Result<Response> get_prometheus(const Call&, const Site& site) {
  AACO_ASSIGN(const auto lines, workflows::list(site.services.paths.sessions));
  std::string text = prometheus_text(lines, site.counters, own_cost());
  if (site.telemetry != nullptr) text += telemetry_text(site.telemetry->read());
  if (site.jobs != nullptr) jobs_text(text, *site.jobs);
  return Response{.type = "text/plain; version=0.0.4; charset=utf-8", .body = std::move(text)};
}

}  // namespace aaco::server
