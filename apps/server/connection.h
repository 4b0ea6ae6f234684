#pragma once

#include <array>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/hub.h"
#include "server/reader.h"
#include "server/transport.h"

namespace aaco::server {

inline constexpr std::chrono::seconds kHeadTime{10};  // for a whole head, waiting for it included, and for a TLS handshake
inline constexpr std::chrono::seconds kBodyTime{10};
inline constexpr std::chrono::seconds kWriteTime{60};
inline constexpr std::size_t kReadBytes = 4096;        // at a time, of a head
inline constexpr std::chrono::seconds kLingerTime{2};  // for what a client still sends after a refusal

class Reception;

// One client: reads a request, answers it, and goes on until either side closes. After a refused or damaged request it closes, so
// that nothing that follows can be taken for a request.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::unique_ptr<Transport> transport, Hub& hub);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  void close_if_idle();

 private:
  void read_head();
  void parse_head();
  void on_head(boost::beast::error_code error);
  void ask_for_body(Match match);
  void take_body(Match match);
  void read_body(Match match);
  void receive(const Match& match);
  void handle(Match match);
  void stream();
  void answer(const Response& response, bool close);
  template <class Message>
  void write(std::shared_ptr<Message> message);
  void on_written(boost::beast::error_code error, bool close);
  void end();
  void linger();
  void close();

  std::unique_ptr<Transport> transport_;
  Hub& hub_;
  boost::beast::flat_buffer buffer_{kMaxHeadBytes + kMaxBodyBytes};
  std::optional<Parser> parser_;
  std::array<char, 4096> unread_{};
  Request request_;
  std::string peer_;
  std::int64_t started_ns_ = 0;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool idle_ = true;
  bool folded_ = false;  // the head has a folded line
  std::size_t head_bytes_ = 0;
};

// What damaged or refused a request's bytes.
Response refusal_of(boost::beast::error_code error);
// The client has gone: nobody to answer.
bool is_gone(boost::beast::error_code error);

}  // namespace aaco::server
