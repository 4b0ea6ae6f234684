#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "server/access.h"
#include "server/feed.h"
#include "server/route.h"
#include "server/telemetry.h"

namespace aaco::server {

class Connection;

inline constexpr std::size_t kMaxConnections = 256;
inline constexpr int kMaxArrivingUploads = 4;
inline constexpr int kMaxWaiting = 32;  // requests of a lane, the running one included

// What the connections share. Used from the thread of the io_context; only run_handler() leaves it.
class Hub {
 public:
  Hub(std::vector<Route> routes, const workflows::Services& services, std::function<void(std::string_view)> log)
      : routes_(std::move(routes)),
        services_(services),
        log_(std::move(log)),
        telemetry_(services.paths.sessions),
        feed_(io_, services) {}
  // Call before the first request; without it requests for jobs are refused.
  void set_jobs(core::Result<std::unique_ptr<workflows::Jobs>> jobs) {
    jobs_ = std::move(jobs);
    if (jobs_) feed_.set_jobs(jobs_->get());
  }
  // Call once, before the first request. An empty name: no fleet.
  void set_fleet(const std::string& from) { fleet_ = std::make_unique<workflows::FleetView>(from, services_); }
  // Call once, before the first request.
  void guard(Secrets secrets, std::vector<std::string> hosts, bool tls) {
    access_.emplace(std::move(secrets), std::move(hosts), clock_, tls);
  }

  // Reads the lake's index in the background, so that the first list does not wait for it. Call once; requests may come
  // meanwhile.
  void warm_lists();

  boost::asio::io_context& io() { return io_; }
  Feed& feed() { return feed_; }
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] std::size_t connections() const { return open_.size(); }

  // Host, origin, route and token of a request whose head was read.
  tl::expected<Match, Response> admit(const Request& request);
  // Runs the handler on its lane and calls `done` on the io_context's thread; refuses when too many wait.
  void run_handler(Match match, std::function<void(Response)> done);
  // Where a client's file goes, or why it is refused.
  tl::expected<std::unique_ptr<workflows::Upload>, Response> begin_upload(const std::string& name);
  [[nodiscard]] std::int64_t max_upload_bytes() const;
  void count_upload(int change) { uploads_ += change; }
  // Runs `work` on the thread that writes uploads and calls `done` on the io_context's.
  void run_on_disk(std::function<core::Status()> work, std::function<void(const core::Status&)> done);
  void log(const Request& request, const Response& response, std::int64_t started_ns);

  void add(Connection& connection) { open_.insert(&connection); }
  void remove(Connection& connection) { open_.erase(&connection); }
  void count_refused_connection() { ++counters_.refused_connections; }
  // Closes idle connections; the others close after their answer.
  void begin_stop();
  // Waits for running handlers.
  void join();

 private:
  struct Worker {
    explicit Worker(std::size_t threads = 1) : thread(threads) {}
    boost::asio::thread_pool thread;
    int waiting = 0;
  };
  core::SystemClock clock_;
  std::optional<Access> access_;
  std::vector<Route> routes_;
  const workflows::Services& services_;
  std::function<void(std::string_view)> log_;
  core::Result<std::unique_ptr<workflows::Jobs>> jobs_;
  workflows::SessionLists lists_;
  Telemetry telemetry_;
  std::unique_ptr<workflows::FleetView> fleet_;
  std::set<Connection*> open_;
  Counters counters_;
  bool stopping_ = false;
  boost::asio::io_context io_{1};  // its handlers own connections, which leave open_ when they go
  Worker quick_, slow_, disk_, fleets_, queries_{2};
  int uploads_ = 0;  // that are arriving
  Feed feed_;
};

}  // namespace aaco::server
