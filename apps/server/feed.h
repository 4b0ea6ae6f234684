#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/route.h"
#include "server/stream.h"

namespace aaco::server {

inline constexpr std::size_t kMaxStreams = 1024;
inline constexpr std::int64_t kTick_ns = 100'000'000;  // 10 Hz

class LiveSource;

// The live stream: samples the machine and the running sessions ten times per second while somebody reads, and sends each reader
// the same event. Used from the thread of the io_context; sampling has a thread of its own.
class Feed {
 public:
  Feed(boost::asio::io_context& io, const workflows::Services& services);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  [[nodiscard]] bool full() const { return streams_.size() >= kMaxStreams; }
  // Takes over the client of an accepted request.
  void accept(std::unique_ptr<Transport> transport, const std::string& head);
  // What changed of the jobs is part of the events.
  void set_jobs(const workflows::Jobs* jobs);
  [[nodiscard]] StreamCounters counters() const;
  // Closes every stream.
  void stop();
  // Waits for the sample under way.
  void join() { sampler_.join(); }

 private:
  void tick();
  void publish(const Event& history, const Event& event);

  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  boost::asio::thread_pool sampler_{1};
  std::unique_ptr<LiveSource> source_;
  std::set<std::shared_ptr<Stream>> streams_, fresh_;  // fresh: without the history yet
  bool ticking_ = false, stopped_ = false;
  StreamCounters past_;  // of streams that are gone
};

}  // namespace aaco::server
