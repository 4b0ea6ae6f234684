#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// A server of the OpenAI streaming API with faults on request, for tests. The first part of the path names the scenario and its
// parameters: http://127.0.0.1:PORT/plain,period_us=1000,first_ms=50/v1. scenarios.cc lists them. A thread per connection; it
// stamps each event at the write.
namespace aaco::serving_test {

struct Written {
  std::int64_t time_ns = 0;  // monotonic, before the write
  std::int64_t tokens = 0;   // in this event; 0: an event without content
};

// What the server did with one request.
struct Served {
  std::string scenario;
  std::int64_t index = 0;        // among all requests of the server
  std::int64_t received_ns = 0;  // the request was complete
  std::vector<Written> events;
  std::int64_t finished_ns = 0;
  std::int64_t max_tokens = 0;
  std::string body;
};

class FaultServer {
 public:
  FaultServer();
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& scenario) const;
  // What was served so far, in the order in which the requests came.
  [[nodiscard]] std::vector<Served> log() const;
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int fd);

  int listener_ = -1, port_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Served>> log_;
  std::vector<std::thread> threads_;
  std::vector<int> open_;
  std::thread acceptor_;
};

// A request as a scenario sees it, and the connection it answers on.
class Peer {
 public:
  Peer(int fd, Served& served, std::mutex& mutex, const std::atomic<bool>& stop, std::map<std::string, std::int64_t> parameters)
      : fd_(fd), served_(served), mutex_(mutex), stop_(stop), parameters_(std::move(parameters)) {}
  [[nodiscard]] std::int64_t parameter(const std::string& name, std::int64_t otherwise) const;
  [[nodiscard]] std::int64_t index() const { return served_.index; }
  [[nodiscard]] std::int64_t max_tokens() const { return served_.max_tokens; }
  bool raw(const std::string& bytes);
  // The header of an event stream, chunked.
  bool stream_header(const std::string& more = {});
  bool chunk(const std::string& bytes);  // as one HTTP chunk
  bool event(const std::string& data, std::int64_t tokens);
  bool end();  // the last HTTP chunk
  void sleep_until(std::int64_t time_ns) const;
  void stamp(std::int64_t tokens);
  void reset();  // closes with RST
  [[nodiscard]] std::int64_t received_ns() const { return served_.received_ns; }
  std::string line_end = "\n";
  bool close_after = false;

 private:
  int fd_;
  Served& served_;
  std::mutex& mutex_;
  const std::atomic<bool>& stop_;
  std::map<std::string, std::int64_t> parameters_;
};

// Answers one request; false for a scenario that is not known.
bool answer(const std::string& scenario, Peer& peer);

}  // namespace aaco::serving_test
