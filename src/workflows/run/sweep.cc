#include "workflows/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/clock.h"
#include "core/files.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {
namespace {

using core::Json;

// Every combination, the last dimension fastest.
std::vector<RunRequest> combinations(const SweepRequest& sweep) {
  std::vector<RunRequest> requests = {sweep.base};
  auto expand = [&](const auto& values, auto&& apply) {
    if (values.empty()) return;
    std::vector<RunRequest> next;
    for (const RunRequest& request : requests)
      for (const auto& value : values) {
        next.push_back(request);
        apply(next.back(), value);
      }
    requests = std::move(next);
  };
  expand(sweep.backends, [](RunRequest& request, const std::string& value) { request.backend = value; });
  expand(sweep.threads, [](RunRequest& request, std::int64_t value) { request.threads = static_cast<int>(value); });
  for (const auto& [name, sizes] : sweep.dimensions)
    expand(sizes, [&name = name](RunRequest& request, std::int64_t value) { request.dimensions[name] = value; });
  expand(sweep.batches, [](RunRequest& request, std::int64_t value) { request.batch = value; });
  return requests;
}

Json point_json(const SweepPoint& point) {
  Json dimensions = Json::object();
  for (const auto& [name, size] : point.request.dimensions) dimensions.set(name, size);
  Json out = Json::object({{"backend", point.request.backend},
                           {"batch", point.request.batch},
                           {"threads", point.request.threads},
                           {"dimensions", std::move(dimensions)}});
  if (!point.error.empty()) return out.set("error", point.error);
  return out.set("session_id", point.session_id).set("metrics", to_json(point.metrics));
}

struct Points {
  std::vector<SweepPoint> tried;
  std::optional<core::Error> first_error;
  [[nodiscard]] bool any_ran() const {
    return std::any_of(tried.begin(), tried.end(), [](const SweepPoint& point) { return point.error.empty(); });
  }
};

// Says before what a case does which one it is, and how long all of them will still take by what the earlier ones took.
Services counting(const Services& services, std::size_t done, std::size_t whole, std::int64_t spent_ns) {
  std::string before = fmt::format("case {} of {}", done + 1, whole);
  if (done > 0) {
    const double left_ns = static_cast<double>(spent_ns) / static_cast<double>(done) * static_cast<double>(whole - done);
    before += fmt::format(" (about {:.0f} s left in all)", std::ceil(left_ns / 1e9));
  }
  Services counted = services;
  counted.progress = [before, &services](std::string_view text) { services.progress(before + ": " + std::string(text)); };
  return counted;
}

Points try_all(const std::vector<RunRequest>& requests, SessionDraft& draft, const Services& services) {
  Points points;
  const std::int64_t begin_ns = core::monotonic_ns();
  for (const RunRequest& one : requests) {
    if (services.stopping()) break;
    auto run_outcome = run(one, counting(services, points.tried.size(), requests.size(), core::monotonic_ns() - begin_ns));
    SweepPoint point{one, {}, {}, {}, {}};
    if (run_outcome) {
      point.session_id = run_outcome->manifest.id.text;
      point.session_path = run_outcome->path;
      point.metrics = std::move(run_outcome->metrics);
    } else {
      point.error = run_outcome.error().message;
      if (!points.first_error) points.first_error = run_outcome.error();
      draft.warn("sweep.point_failed", "a sweep point failed: " + run_outcome.error().text());
    }
    points.tried.push_back(std::move(point));
  }
  return points;
}

core::Result<SweepOutcome> finish(SessionDraft& draft, const SweepRequest& request, std::vector<SweepPoint> tried,
                                  const Services& services) {
  SweepOutcome outcome;
  outcome.points = std::move(tried);
  outcome.interrupted = services.stopping();
  Json points = Json::array();
  for (const SweepPoint& point : outcome.points) points.push(point_json(point));
  AACO_TRY(draft.writer().write_json("metrics/sweep.json", Json::object({{"schema_version", 1}, {"points", points}})));
  draft.manifest().outcome.model = request.base.model;
  draft.manifest().outcome.points = std::move(points);
  outcome.id = draft.manifest().id.text;
  AACO_ASSIGN(const SessionOutcome session, draft.finish({}, services.stopping()));
  outcome.summary_path = session.path;
  return outcome;
}

}  // namespace

core::Result<SweepOutcome> sweep(const SweepRequest& request, const Services& services) {
  const auto requests = combinations(request);
  std::string open_path;
  Points points;
  {
    Json asked = Json::object({{"model", request.base.model}, {"points", requests.size()}});
    AACO_ASSIGN(SessionDraft draft, SessionDraft::begin("sweep", request.base.tag, std::move(asked), services));
    points = try_all(requests, draft, services);
    if (points.any_ran() || !points.first_error) {
      AACO_ASSIGN(SweepOutcome outcome, finish(draft, request, std::move(points.tried), services));
      outcome.asked = requests.size();
      return outcome;
    }
    open_path = draft.writer().path();
  }
  AACO_TRY(core::remove_tree(open_path));  // of which nothing ran leaves nothing; what ran is kept, also where closing fails
  return tl::unexpected(*std::move(points.first_error));
}

}  // namespace aaco::workflows
