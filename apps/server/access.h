#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "server/message.h"

namespace aaco::server {

inline constexpr int kMaxWrongTokens = 10;                            // of one address within
inline constexpr std::int64_t kWrongTokenWindow_ns = 60'000'000'000;  // this long
inline constexpr std::size_t kMaxAddresses = 1024;                    // remembered

struct Secrets {
  std::string token;        // of scripts and, as a cookie, of browsers
  std::string code;         // of the one-time link; empty: there is none
  std::string cookie_name;  // differs by port: browsers share cookies between the ports of a host
};
// 256 bits from the operating system, as hexadecimal digits.
std::string make_token();

// Compares in a time that depends on the lengths only.
bool same_secret(std::string_view a, std::string_view b);

// Who may ask what: checked before a request reaches a handler. Used from one thread.
class Access {
 public:
  Access(Secrets secrets, std::vector<std::string> hosts, const core::Clock& clock, bool tls = false)
      : secrets_(std::move(secrets)), hosts_(std::move(hosts)), clock_(clock), tls_(tls) {}

  // Against DNS rebinding and requests of other sites: Host, Origin and Sec-Fetch-Site must name this server.
  [[nodiscard]] std::optional<Response> refuse_origin(const Request& request) const;
  // 401 without a valid token, 429 after too many wrong ones from this address. A valid one always passes: whoever shares the
  // address with a guesser (a proxy, a tunnel) is not locked out, and 256 bits are not guessed.
  std::optional<Response> refuse_token(const Request& request);
  // The one-time link: sets the cookie and leads to the dashboard. A used one leads there too where the cookie is valid.
  Response open(const Request& request);

 private:
  struct Wrong {
    std::int64_t since_ns = 0;
    int count = 0;
  };
  [[nodiscard]] std::optional<Response> refuse_guesser(const Request& request) const;
  void count_wrong(const std::string& peer);

  Secrets secrets_;
  std::vector<std::string> hosts_;  // "127.0.0.1:8501", lower case
  const core::Clock& clock_;
  bool tls_;
  std::map<std::string, Wrong> wrong_;
};

}  // namespace aaco::server
