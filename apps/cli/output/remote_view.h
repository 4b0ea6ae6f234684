#pragma once

#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "report/live.h"

namespace aaco::cli {

// The live view of another `aaco serve`.
class RemoteView {
 public:
  // `url`: http://HOST:PORT or https://HOST:PORT. `token_file` empty: that of a server of this user on this machine. Fails with
  // invalid_argument for another URL and with not_found where there is no token.
  static core::Result<RemoteView> open(const std::string& url, const std::string& token_file,
                                       const core::Environment& environment, const core::Paths& paths);
  // One answer; where the server does not answer, the error says why, and the next call tries again.
  [[nodiscard]] core::Result<report::LiveView> read() const;
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  RemoteView(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}
  std::string url_, token_;
};

}  // namespace aaco::cli
