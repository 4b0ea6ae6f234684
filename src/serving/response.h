#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::serving {

inline constexpr std::size_t kMaxHeaderBytes = 64 << 10;

// Reads one HTTP/1.1 response from bytes as they arrive, cut anywhere: chunked, of a stated length, or until the connection
// closes; interim responses (100 Continue) before it are skipped; a gzip body is decompressed as it arrives.
class ResponseReader {
 public:
  ResponseReader();
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;
  ~ResponseReader();

  // Calls on_body for each piece of the body. Fails with invalid_input on what is not HTTP/1.1 and on a damaged gzip body.
  core::Status feed(std::string_view bytes, const std::function<core::Status(std::string_view)>& on_body);
  // The connection was closed by the server. Fails with invalid_input where the response is not complete.
  core::Status close();

  [[nodiscard]] bool started() const;      // a byte arrived
  [[nodiscard]] bool have_header() const;  // the header is complete
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool keep_alive() const;  // after complete(): the connection may carry another request
  [[nodiscard]] int status() const;
  [[nodiscard]] std::string_view content_type() const;  // lower case
  [[nodiscard]] std::string_view retry_after() const;
  [[nodiscard]] std::string_view location() const;  // of a redirection

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aaco::serving
