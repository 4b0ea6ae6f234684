#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "serving/record.h"
#include "serving/target.h"

namespace aaco::serving {

struct Route;

// A request beside the load.
struct FetchRequest {
  std::string path;                 // below the target's base path
  std::optional<std::string> body;  // JSON of a POST; otherwise GET
  std::int64_t timeout_ns = 10'000'000'000;
  std::size_t reply_limit_bytes = 16 << 20;
};

// What became of a request for a document.
struct Fetched {
  Outcome outcome = Outcome::ok;  // ok: a whole reply, whatever its status
  std::string detail;             // of a failure
  int status = 0;
  std::string content_type, location, body;
};

// Requests single documents as the load requests its answers: the same proxy, certificates and headers.
class Fetcher {
 public:
  // Resolves the server's name and opens a first connection. Fails with io or timed_out where there is none.
  static core::Result<Fetcher> open(const Target& target, std::int64_t timeout_ns);
  // Blocks the caller's thread. Fails only where the event loop does.
  core::Result<Fetched> fetch(const FetchRequest& request) const;

 private:
  explicit Fetcher(std::shared_ptr<const Route> route) : route_(std::move(route)) {}
  std::shared_ptr<const Route> route_;
};

}  // namespace aaco::serving
