#include "server/hub.h"

#include <boost/asio/post.hpp>
#include <exception>

#include "core/clock.h"
#include "core/json.h"
#include "server/connection.h"

namespace aaco::server {
namespace {

constexpr std::size_t kMaxLoggedMethod = 16;

Response answer(const Match& match, const Site& site) {
  try {
    auto response = match.route->handler(match.call, site);
    return response ? std::move(*response) : refusal(response.error());
  } catch (const std::exception& problem) {  // of a library below, such as bad_alloc
    return refusal(500, std::string("internal error: ") + problem.what());
  }
}

}  // namespace

void Hub::warm_lists() {
  boost::asio::post(quick_.thread, [this] { (void)lists_.page({}, services_.paths); });  // a list that fails says why itself
}

tl::expected<Match, Response> Hub::admit(const Request& request) {
  if (auto refused = access_->refuse_origin(request)) return tl::unexpected(std::move(*refused));
  if (request.path_text() == "/open" && request.method == "GET") return tl::unexpected(access_->open(request));
  auto match = find_route(routes_, request);
  if (match && match->route->open) return match;
  if (auto refused = access_->refuse_token(request)) return tl::unexpected(std::move(*refused));
  return match;
}

void Hub::run_handler(Match match, std::function<void(Response)> done) {
  const Lane lane = match.route->lane;
  Worker& worker = lane == Lane::quick ? quick_ : lane == Lane::query ? queries_ : lane == Lane::fleet ? fleets_ : slow_;
  if (worker.waiting == kMaxWaiting) {
    Response response = refusal(503, "too many requests are waiting", "try again later");
    response.headers.emplace_back("Retry-After", "1");
    return done(std::move(response));
  }
  ++worker.waiting;
  counters_.connections = static_cast<std::int64_t>(open_.size());
  counters_.streams = feed_.counters();
  boost::asio::post(worker.thread, [this, &worker, match = std::move(match), done = std::move(done),
                                    counters = counters_]() mutable {
    const Site site{services_,   routes_,     counters, jobs_ ? jobs_->get() : nullptr, &lists_, jobs_ ? nullptr : &jobs_.error(),
                    &telemetry_, fleet_.get()};
    Response response = answer(match, site);
    boost::asio::post(io_, [&worker, done = std::move(done), response = std::move(response)]() mutable {
      --worker.waiting;
      done(std::move(response));
    });
  });
}

tl::expected<std::unique_ptr<workflows::Upload>, Response> Hub::begin_upload(const std::string& name) {
  if (!jobs_) return tl::unexpected(refusal(jobs_.error()));
  if (uploads_ >= kMaxArrivingUploads) {
    Response response = refusal(503, "too many uploads are arriving", "try again later");
    response.headers.emplace_back("Retry-After", "10");
    return tl::unexpected(std::move(response));
  }
  auto upload = (*jobs_)->begin_upload(name);
  if (upload) return std::move(*upload);
  if (upload.error().code == core::ErrorCode::exhausted)
    return tl::unexpected(refusal(429, upload.error().message, upload.error().remedy));
  return tl::unexpected(refusal(upload.error()));
}

std::int64_t Hub::max_upload_bytes() const { return jobs_ ? (*jobs_)->policy().max_upload_bytes : INT64_MAX; }

void Hub::run_on_disk(std::function<core::Status()> work, std::function<void(const core::Status&)> done) {
  boost::asio::post(disk_.thread, [this, work = std::move(work), done = std::move(done)]() mutable {
    boost::asio::post(io_, [done = std::move(done), status = work()] { done(status); });
  });
}

void Hub::log(const Request& request, const Response& response, std::int64_t started_ns) {
  const core::SystemClock clock;
  const std::int64_t took_ns = core::monotonic_ns() - started_ns;
  ++counters_.answers[response.status];
  counters_.answer_ns += took_ns;
  // The path only: a query may hold the code of the one-time link.
  log_(core::Json::object({{"time", core::iso8601_utc(clock.now_ns(core::ClockId::realtime))},
                           {"peer", request.peer},
                           {"method", request.method.substr(0, kMaxLoggedMethod)},
                           {"path", request.method.empty() ? "-" : request.path_text()},
                           {"status", response.status},
                           {"bytes", response.body.size()},
                           {"duration_us", took_ns / 1000}})
           .dump(-1));
}

void Hub::begin_stop() {
  stopping_ = true;
  feed_.stop();
  const std::set<Connection*> open = open_;
  for (Connection* connection : open) connection->close_if_idle();
}

void Hub::join() {
  feed_.join();
  quick_.thread.join();
  slow_.thread.join();
  fleets_.thread.join();
  disk_.thread.join();
  queries_.thread.join();
  if (jobs_) jobs_->reset();
}

}  // namespace aaco::server
