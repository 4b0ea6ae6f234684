#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analytics/llm.h"

// What connections cost a load: opening them (TCP and TLS), and waits of their sockets.
namespace aaco::analytics::llm {

struct ConnectionWaits {
  std::int64_t opened = 0;  // complete requests that opened a connection
  std::optional<double> connect_p50_ns, connect_max_ns;
  std::int64_t handshakes = 0;  // of these with TLS
  std::optional<double> handshake_p50_ns, handshake_max_ns;
  std::optional<double>
      handshake_own_max_ns;                  // the longest part that was the client's own: bytes that it had not read, computing
  std::optional<double> write_wait_max_ns;   // a request waited for room in the socket
  std::optional<double> record_wait_max_ns;  // a part of a TLS record waited for its end
  std::vector<std::string> moved;            // results that may have moved by more than their interval, a sentence each
  std::string limit;                         // of these the one that was the client's own; empty: none
  std::string text;                          // the TLS handshakes in a sentence; empty: none
};
ConnectionWaits judge_connections(const Load& load, const OwnState& state);

// Adds the client's own part to the reasons why it was the limit.
void judge_own_connections(const ConnectionWaits& waits, OwnLimit& limit);

}  // namespace aaco::analytics::llm
