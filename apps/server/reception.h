#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "server/hub.h"
#include "server/reader.h"
#include "server/transport.h"
#include "server/upload_pace.h"

namespace aaco::server {

inline constexpr std::size_t kUploadChunkBytes = 256 * 1024;
inline constexpr std::int64_t kMaxUploadTime_ns = 3'600'000'000'000;

// The body of a request as it arrives, written to an upload. At most one chunk is in memory.
class Reception : public std::enable_shared_from_this<Reception> {
 public:
  // Empty: the client has gone.
  using Done = std::function<void(std::optional<Response>)>;
  // `parser` has read the head. Transport, hub and buffer must outlive this.
  Reception(Transport& transport, Hub& hub, boost::beast::flat_buffer& buffer, Parser&& parser,
            std::unique_ptr<workflows::Upload> upload, Done done);
  ~Reception();
  Reception(const Reception&) = delete;
  Reception& operator=(const Reception&) = delete;
  void read();

 private:
  void on_chunk(boost::beast::error_code error);
  void on_stored(const core::Status& stored);

  Transport& transport_;
  Hub& hub_;
  boost::beast::flat_buffer& buffer_;
  boost::beast::http::request_parser<boost::beast::http::buffer_body> parser_;
  std::unique_ptr<workflows::Upload> upload_;
  Done done_;
  std::vector<char> chunk_;
  std::int64_t started_ns_;
  std::int64_t asked_ns_ = 0;  // when the client was last asked for bytes
  UploadPace pace_;
  bool drips_ = false;
};

}  // namespace aaco::server
