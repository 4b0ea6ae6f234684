#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "serving/chunk.h"
#include "serving/client.h"
#include "serving/client/channel.h"
#include "serving/event_stream.h"
#include "serving/record.h"
#include "serving/response.h"

namespace aaco::serving {

// One attempt at a request, from its channel to the end of its response. The answer ends with its last output or finish reason,
// which [DONE] or the end of the response tells; the response may end later, and only then may the channel carry the next
// request.
class Exchange final : public Channel::Listener {
 public:
  class Host {
   public:
    virtual ~Host() = default;
    virtual void on_chunk(Exchange& exchange, const Chunk& chunk, std::int64_t time_ns) = 0;
    // The answer has ended: the record is final.
    virtual void on_ended(Exchange& exchange) = 0;
    // The response has ended, after on_ended: `reusable` says whether the channel is.
    virtual void on_released(Exchange& exchange, bool reusable) = 0;
    // A reused channel was closed by the server before the request arrived there.
    virtual void on_stale(Exchange& exchange) = 0;
    // The client was busy for this long with reading and parsing an event, or what came with it.
    using OwnWait = std::vector<std::int64_t> SocketWaits::*;
    virtual void on_own_time(OwnWait of, std::int64_t own_ns) = 0;
    // A server's message without the secrets of the request.
    [[nodiscard]] virtual std::string cleaned(std::string message, const Work& work) const = 0;
  };

  Exchange(Host& host, ChunkReader& reader, RequestRecord record, Work work, std::string text);
  ~Exchange() override;
  // Sends over a channel that is open, or as soon as it is.
  void start(std::shared_ptr<Channel> channel);
  // Ends it from the client's side.
  void abort(Outcome outcome, const std::string& why, std::int64_t now_ns);
  // Ends it as complete: the server gave its finish reason, and holds the response open without [DONE].
  void stop_waiting(std::int64_t now_ns);

  [[nodiscard]] const RequestRecord& record() const { return record_; }
  RequestRecord& mutable_record() { return record_; }
  [[nodiscard]] const Work& work() const { return work_; }
  [[nodiscard]] const std::string& answer() const { return answer_; }
  [[nodiscard]] const std::string& retry_after() const { return retry_after_; }
  [[nodiscard]] std::string request_text() const { return text_; }
  [[nodiscard]] bool ended() const { return ended_; }
  // The last output or finish reason, where only [DONE] is missing.
  [[nodiscard]] std::optional<std::int64_t> waits_since_ns() const {
    return record_.finish_reason.empty() ? std::nullopt : answered_ns_;
  }
  [[nodiscard]] std::int64_t started_ns() const { return started_ns_; }
  std::shared_ptr<Channel> take_channel();
  // Of the bytes that are read now, as Channel::waited_ns().
  [[nodiscard]] std::optional<std::int64_t> waited_ns() const { return channel_ ? channel_->waited_ns() : std::nullopt; }

  void on_open(std::int64_t connect_ns, std::optional<std::int64_t> tls_ns) override;
  void on_bytes(std::string_view bytes, std::int64_t time_ns) override;
  void on_lost(Outcome kind, const std::string& why, bool orderly, std::int64_t time_ns) override;

 private:
  void take_bytes(std::string_view bytes, std::int64_t time_ns);
  void take_header(std::int64_t time_ns);
  core::Status take_body(std::string_view body, std::int64_t time_ns);
  void take_event(std::string_view event, std::string_view data, std::int64_t time_ns);
  void take_chunk(const Chunk& chunk, std::int64_t time_ns);
  // The answer is complete: [DONE] was read, or the response ended after a finish reason.
  void finish(bool done, std::int64_t time_ns);
  // The response is complete, and the answer has not ended by itself.
  void conclude(std::int64_t time_ns, bool cut);
  void end(Outcome outcome, std::string detail, std::int64_t time_ns);
  void release(bool reusable);

  Host& host_;
  ChunkReader& reader_;
  RequestRecord record_;
  Work work_;
  std::string text_;  // the request
  std::shared_ptr<Channel> channel_;
  ResponseReader response_;
  EventStream stream_;
  std::string body_;  // of a response that is no event stream
  std::string answer_, retry_after_;
  std::optional<std::int64_t> answered_ns_;   // the last output or finish reason
  std::int64_t started_ns_ = 0, own_ns_ = 0;  // own: of the event that is not complete
  Host::OwnWait own_of_ = &SocketWaits::event_own_ns;
  bool ended_ = false, released_ = false, is_stream_ = false, reused_ = false;
};

// The header of a request to a path below the base path, without the empty line that ends it. `more`: lines of this request.
std::string request_header(const Target& target, std::string_view method, std::string_view path, std::string_view more);
// The text of the request as it goes over the wire.
std::string request_text(const Target& target, const Work& work);

}  // namespace aaco::serving
