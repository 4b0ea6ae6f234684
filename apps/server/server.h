#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "workflows/services.h"

namespace aaco::server {

struct ServeRequest {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8501;             // 0: any free one
  std::vector<std::string> host_names;   // that clients may use besides the address and localhost
  bool insecure = false;                 // allows addresses beyond loopback without TLS
  std::string tls_certificate, tls_key;  // PEM files; both empty: no TLS
  bool one_time_link = false;            // for a browser
  std::string token_file;                // empty: one that goes with the server
  std::string fleet;                     // file, folder or engine of /api/v1/fleet; empty: none
  std::string policy_file;               // empty: the user's server.yaml, or the shipped one
};

// Where the server listens, for people.
struct Listening {
  std::string url;         // "http://127.0.0.1:8501"
  std::string link;        // with one_time_link: opens the dashboard once
  std::string token_file;  // what scripts read the token from
  std::string no_jobs;     // why jobs are refused; empty: they run
};

// Answers HTTP requests on one thread; handlers run on two more, one for quick and one for slow ones.
class Server {
 public:
  // Listens from here on. `log` takes one line of JSON per request, without a line end, on the thread of run(). `services` must
  // outlive the server. Fails with invalid_argument for an address beyond loopback without TLS or `insecure`, with conflict where
  // the port is taken, and with unsupported in a build without Boost.Beast.
  static core::Result<std::unique_ptr<Server>> open(const ServeRequest& request, const workflows::Services& services,
                                                    std::function<void(std::string_view)> log);
  virtual ~Server() = default;
  [[nodiscard]] virtual const Listening& listening() const = 0;
  // Until services.stop is set; requests under way are answered first.
  virtual void run() = 0;
};

}  // namespace aaco::server
