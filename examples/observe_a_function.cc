// Measures a function of this program, keeps the iterations as a session in the lake, and reads the metrics back.
//   observe_a_function [SESSIONS_FOLDER]
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "analytics/latency.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/random.h"
#include "trace/metric.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"

namespace {

using namespace aaco;

// What is measured: sorting of ten thousand numbers.
double work(core::Random& random) {
  std::vector<double> values(10'000);
  for (double& value : values) value = random.uniform();
  std::sort(values.begin(), values.end());
  return std::accumulate(values.begin(), values.end(), 0.0);
}

core::Result<std::string> observe(const std::string& root) {
  trace::SessionManifest manifest;
  manifest.id = core::make_session_id(core::SystemClock().now_ns(core::ClockId::realtime), core::system_entropy());
  manifest.kind = "run";
  manifest.tag = "example";
  manifest.created_realtime_ns = core::SystemClock().now_ns(core::ClockId::realtime);
  AACO_ASSIGN(auto writer, tracelake::BundleWriter::create(root, manifest));

  core::Random random(1);
  double sum = 0;
  const trace::NameId measure = writer->sink().name("measure");
  const std::int64_t begin = core::monotonic_ns();
  for (std::int64_t iteration = 0; iteration < 400; ++iteration) {
    const std::int64_t start = core::monotonic_ns();
    sum += work(random);
    writer->sink().add(trace::IterationRow{
        .iteration = iteration, .phase = measure, .start_ns = start, .duration_ns = core::monotonic_ns() - start});
  }
  manifest.phases.push_back({"measure", begin, core::monotonic_ns()});
  manifest.outcome = trace::outcome_from_json(core::Json::object({{"sum", sum}}));
  return writer->close(manifest);
}

core::Result<trace::Metrics> metrics_of(const std::string& session) {
  trace::NameTable names;
  AACO_ASSIGN(const auto iterations, tracelake::read_table<trace::IterationRow>(session, names));
  return analytics::metrics::latency_metrics(iterations, names, 1).metrics;
}

}  // namespace

int main(int argc, char** argv) {
  const auto session = observe(argc > 1 ? argv[1] : "sessions");
  if (!session) return std::fprintf(stderr, "%s\n", session.error().text().c_str()), 3;
  const auto metrics = metrics_of(*session);
  if (!metrics) return std::fprintf(stderr, "%s\n", metrics.error().text().c_str()), 3;
  std::printf("%s\n%s\n", session->c_str(), trace::to_json(*metrics).dump().c_str());
  return trace::find_metric(*metrics, "latency.p50_ns") != nullptr ? 0 : 3;
}
