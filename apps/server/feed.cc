#include "server/feed.h"

#include <boost/asio/post.hpp>
#include <chrono>

#include "core/clock.h"
#include "server/live_source.h"

namespace aaco::server {

Feed::Feed(boost::asio::io_context& io, const workflows::Services& services)
    : io_(io), timer_(io), source_(std::make_unique<LiveSource>(services)) {}

Feed::~Feed() = default;

void Feed::set_jobs(const workflows::Jobs* jobs) { source_->set_jobs(jobs); }

void Feed::accept(std::unique_ptr<Transport> transport, const std::string& head) {
  auto stream = std::make_shared<Stream>(std::move(transport), [this](Stream& gone) {
    past_.sent += gone.sent();
    past_.thinned += gone.thinned();
    const auto self = gone.shared_from_this();
    streams_.erase(self);
    fresh_.erase(self);
  });
  streams_.insert(stream);
  fresh_.insert(stream);
  stream->start(head);
  if (!ticking_ && !stopped_) {
    ticking_ = true;
    timer_.expires_after(std::chrono::nanoseconds(0));
    tick();
  }
}

// Ticks at fixed times; one that the sampler is too late for is left out.
void Feed::tick() {
  timer_.async_wait([this](boost::system::error_code error) {
    if (error || stopped_) return;
    if (streams_.empty()) {
      ticking_ = false;
      return;
    }
    boost::asio::post(sampler_, [this, fresh = !fresh_.empty()] {
      Event event = std::make_shared<const std::string>(event_text("tick", source_->tick()));
      Event history;
      if (fresh) history = std::make_shared<const std::string>("retry: 2000\n" + event_text("history", source_->history()));
      boost::asio::post(io_, [this, history = std::move(history), event = std::move(event)] { publish(history, event); });
    });
  });
}

void Feed::publish(const Event& history, const Event& event) {
  if (stopped_) return;
  const std::int64_t now_ns = core::monotonic_ns();
  const auto streams = streams_;  // a stream that ends leaves the set
  for (const auto& stream : streams) {
    if (fresh_.contains(stream)) {
      if (!history) continue;
      stream->deliver(history);
      fresh_.erase(stream);
    }
    stream->deliver(event);
    if (stream->stalled_since_ns() != 0 && now_ns - stream->stalled_since_ns() > kMaxStall_ns) {
      ++past_.closed;
      stream->close();
    }
  }
  const auto period = std::chrono::nanoseconds(kTick_ns);
  const auto now = std::chrono::steady_clock::now();
  auto next = timer_.expiry() + period;
  while (next <= now) next += period;
  timer_.expires_at(next);
  tick();
}

StreamCounters Feed::counters() const {
  StreamCounters all = past_;
  all.open = static_cast<std::int64_t>(streams_.size());
  for (const auto& stream : streams_) {
    all.sent += stream->sent();
    all.thinned += stream->thinned();
  }
  return all;
}

void Feed::stop() {
  stopped_ = true;
  timer_.cancel();
  const auto streams = streams_;
  for (const auto& stream : streams) stream->close();
}

}  // namespace aaco::server
