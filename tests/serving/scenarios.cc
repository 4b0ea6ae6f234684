#include <cstdint>
#include <functional>
#include <string>

#include "core/clock.h"
#include "tests/serving/fault_server.h"

// The faults. Tokens are due at received + first_ms + i * period_us.
namespace aaco::serving_test {
namespace {

std::string content(const std::string& text) {
  return R"({"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":")" + text +
         R"("},"finish_reason":null}]})";
}
const char* kRole = R"({"choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]})";
const char* kEmpty = R"({"choices":[{"index":0,"delta":{"content":""},"finish_reason":null}]})";
const char* kFinish = R"({"choices":[{"index":0,"delta":{},"finish_reason":"length"}]})";
std::string usage(std::int64_t output) {
  return R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":)" + std::to_string(output) +
         R"(,"prompt_tokens_details":{"cached_tokens":3}}})";
}

std::int64_t due(const Peer& peer, std::int64_t token) {
  return peer.received_ns() + peer.parameter("first_ms", 0) * 1'000'000 + token * peer.parameter("period_us", 0) * 1'000;
}

void tokens(Peer& peer) {
  for (std::int64_t i = 0; i < peer.max_tokens(); ++i) {
    peer.sleep_until(due(peer, i));
    if (!peer.event(content(" tok"), 1)) return;
  }
}

void finish(Peer& peer, bool with_usage = true, bool done = true) {
  peer.event(kFinish, 0);
  if (with_usage) peer.event(usage(peer.max_tokens() * peer.parameter("usage_percent", 100) / 100), 0);
  if (done) peer.event("[DONE]", 0);
  peer.end();
}

// The response ends late_ms after the finish reason.
enum class Done : std::uint8_t { never, at_once, late };
void end_late(Peer& peer, std::int64_t late_ms, Done done = Done::never) {
  peer.stream_header();
  tokens(peer);
  peer.event(kFinish, 0);
  peer.event(usage(peer.max_tokens()), 0);
  if (done == Done::at_once) peer.event("[DONE]", 0);
  peer.sleep_until(core::monotonic_ns() + peer.parameter("late_ms", late_ms) * 1'000'000);
  if (done == Done::late) peer.event("[DONE]", 0);
  peer.end();
}

void plain(Peer& peer) {
  peer.stream_header();
  peer.event(kRole, 0);
  tokens(peer);
  finish(peer);
}

void status(Peer& peer, const std::string& line, const std::string& type, const std::string& body, const std::string& more = {}) {
  peer.raw("HTTP/1.1 " + line + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           more + "\r\n" + body);
}

// Three tokens in each chunk but the last.
void merged(Peer& peer) {
  peer.stream_header();
  peer.event(kRole, 0);
  for (std::int64_t i = 0; i < peer.max_tokens(); i += 3) {
    peer.sleep_until(due(peer, i));
    const std::int64_t count = std::min<std::int64_t>(3, peer.max_tokens() - i);
    peer.event(content(std::string(static_cast<std::size_t>(count), 'x')), count);
  }
  finish(peer);
}

// Each event in two writes 2 ms apart, cut within the HTTP chunk.
void halves(Peer& peer) {
  peer.stream_header();
  for (std::int64_t i = 0; i < peer.max_tokens(); ++i) {
    const std::string text = "data: " + content(" half") + "\n\n";
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    const std::string whole = size + text + "\r\n";
    peer.raw(whole.substr(0, 30));
    peer.sleep_until(core::monotonic_ns() + 2'000'000);
    peer.stamp(1);
    peer.raw(whole.substr(30));
  }
  finish(peer);
}

void comments(Peer& peer) {
  peer.stream_header();
  peer.chunk(": keep-alive\n\n");
  peer.event(kRole, 0);
  for (std::int64_t i = 0; i < peer.max_tokens(); ++i) {
    peer.chunk(": ping\n\nid: 4\nretry: 10\n\n");
    peer.event(content(" c"), 1);
  }
  finish(peer);
}

std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

// A gzip member of one stored block (RFC 1951 and 1952).
std::string gzip(const std::string& text) {
  const auto little = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
  };
  const auto size = static_cast<std::uint32_t>(text.size());
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + '\x01' + little(size, 2) + little(~size, 2) + text +
         little(crc32(text), 4) + little(size, 4);
}

void zipped(Peer& peer) {
  peer.stream_header("Content-Encoding: gzip\r\n");
  std::string text = std::string("data: ") + kRole + "\n\n";
  for (std::int64_t i = 0; i < peer.max_tokens(); ++i) text += "data: " + content(" z") + "\n\n";
  text += "data: " + usage(peer.max_tokens()) + "\n\ndata: [DONE]\n\n";
  peer.stamp(peer.max_tokens());
  peer.chunk(gzip(text));
  peer.end();
}

void slow_headers(Peer& peer) {
  const std::string header = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char byte : header) {
    peer.sleep_until(core::monotonic_ns() + 1'000'000);
    peer.raw(std::string(1, byte));
  }
  tokens(peer);
  finish(peer);
}

// One event with megabytes in one line.
void line_of(Peer& peer, std::size_t mebibytes) {
  peer.stream_header();
  peer.event(content(std::string(mebibytes << 20, 'x')), 1);
  finish(peer);
}
void long_line(Peer& peer) { line_of(peer, 10); }
// A small event, and one of megabytes after it: the time between them is the client's own.
void long_second(Peer& peer) {
  peer.stream_header();
  peer.event(content("a"), 1);
  peer.event(content(std::string(std::size_t{10} << 20, 'x')), 1);
  finish(peer);
}
void oversized_line(Peer& peer) { line_of(peer, 20); }

// Content-Length instead of chunks.
void sized(Peer& peer) {
  std::string body;
  for (std::int64_t i = 0; i < peer.max_tokens(); ++i) body += "data: " + content(" s") + "\r\n\r\n";
  body += "data: " + usage(peer.max_tokens()) + "\r\n\r\ndata: [DONE]\r\n\r\n";
  status(peer, "200 OK", "text/event-stream; charset=utf-8", body);
}

void tools(Peer& peer) {
  peer.stream_header();
  peer.event(
      R"({"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]})",
      0);
  peer.sleep_until(peer.received_ns() + 30'000'000);
  peer.event(R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}}]})", 1);
  finish(peer);
}

void continuous(Peer& peer) {
  peer.stream_header();
  peer.event(kRole, 0);
  std::int64_t sent = 0;
  while (sent < peer.max_tokens()) {
    const std::int64_t count = std::min<std::int64_t>(1 + sent % 3, peer.max_tokens() - sent);
    sent += count;
    peer.event(
        R"({"choices":[{"delta":{"content":"x"}}],"usage":{"prompt_tokens":7,"completion_tokens":)" + std::to_string(sent) + "}}",
        count);
  }
  finish(peer);
}

void gave_up(Peer& peer) {
  peer.stream_header();
  tokens(peer);
  peer.event(R"({"choices":[{"delta":{},"finish_reason":"abort"}]})", 0);
  peer.event(usage(peer.max_tokens()), 0);
  peer.event("[DONE]", 0);
  peer.end();
}
// No finish reason, and no end of the last line.
void unended_done(Peer& peer) {
  peer.stream_header();
  tokens(peer);
  peer.chunk("data: [DONE]");
  peer.end();
}

using Scenario = void (*)(Peer&);
struct Named {
  const char* name;
  Scenario run;
};
const Named kScenarios[] = {
    {"plain", plain},
    {"merged", merged},
    {"halves", halves},
    {"comments", comments},
    {"gzip", zipped},
    {"slow_headers", slow_headers},
    {"long_line", long_line},
    {"long_second", long_second},
    {"gave_up", gave_up},
    {"unended_done", unended_done},
    {"oversized_line", oversized_line},
    {"sized", sized},
    {"tools", tools},
    {"continuous", continuous},
    {"crlf",
     [](Peer& peer) {
       peer.line_end = "\r\n";
       plain(peer);
     }},
    {"cr",
     [](Peer& peer) {
       peer.line_end = "\r";
       plain(peer);
     }},
    {"empty_first",
     [](Peer& peer) {
       peer.stream_header();
       peer.event(kRole, 0);
       peer.event(kEmpty, 0);
       tokens(peer);
       finish(peer);
     }},
    {"whole", [](Peer& peer) { status(peer, "200 OK", "application/json", "{}"); }},
    {"no_done",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       finish(peer, true, false);
     }},
    {"held", [](Peer& peer) { end_late(peer, 50); }},
    {"late_done", [](Peer& peer) { end_late(peer, 300, Done::late); }},
    {"late_eof", [](Peer& peer) { end_late(peer, 300, Done::at_once); }},
    {"never_done", [](Peer& peer) { end_late(peer, 30'000); }},
    {"filtered",
     [](Peer& peer) {
       peer.stream_header();
       peer.event(kRole, 0);
       peer.event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]})", 0);
       peer.event(usage(0), 0);
       peer.event("[DONE]", 0);
       peer.end();
     }},
    {"no_usage",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       finish(peer, false);
     }},
    {"no_end",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       peer.end();
     }},
    {"cut",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       peer.close_after = true;
     }},
    {"reset",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       peer.sleep_until(core::monotonic_ns() + 20'000'000);
       peer.reset();
     }},
    {"cut_before_header", [](Peer& peer) { peer.close_after = true; }},
    // Every third request is read and dropped.
    {"drops",
     [](Peer& peer) {
       if (peer.index() % 3 == 2)
         peer.close_after = true;
       else
         plain(peer);
     }},
    {"closing",
     [](Peer& peer) {
       plain(peer);
       peer.close_after = true;
     }},
    {"stall",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       peer.sleep_until(core::monotonic_ns() + 30'000'000'000);
     }},
    // Every tenth request pauses for 60 ms before its third token.
    {"stall_one",
     [](Peer& peer) {
       peer.stream_header();
       peer.event(kRole, 0);
       for (std::int64_t i = 0; i < peer.max_tokens(); ++i) {
         if (i == 2 && peer.index() % 10 == 5) peer.sleep_until(core::monotonic_ns() + 60'000'000);
         peer.sleep_until(core::monotonic_ns() + 2'000'000);
         if (!peer.event(content(" tok"), 1)) return;
       }
       finish(peer);
     }},
    {"continue",
     [](Peer& peer) {
       peer.raw("HTTP/1.1 100 Continue\r\n\r\n");
       plain(peer);
     }},
    {"redirect",
     [](Peer& peer) { status(peer, "307 Temporary Redirect", "text/plain", "", "Location: http://elsewhere/v1\r\n"); }},
    {"never", [](Peer& peer) { peer.sleep_until(core::monotonic_ns() + 30'000'000'000); }},
    {"error_in_stream",
     [](Peer& peer) {
       peer.stream_header();
       tokens(peer);
       peer.event(R"({"error":{"message":"out of blocks","code":500}})", 0);
       peer.end();
     }},
    {"error_event",
     [](Peer& peer) {
       peer.stream_header();
       peer.chunk("event: error\ndata: engine died\n\n");
       peer.end();
     }},
    {"not_json",
     [](Peer& peer) {
       peer.stream_header();
       peer.event("hello", 0);
       peer.end();
     }},
    {"garbage",
     [](Peer& peer) {
       peer.raw("SSH-2.0-OpenSSH_9.2\r\n\r\n");
       peer.close_after = true;
     }},
    {"not_utf8",
     [](Peer& peer) {
       peer.stream_header();
       peer.event("{\"text\": \"\xff\xfe", 0);
       peer.end();
     }},
    {"http_429",
     [](Peer& peer) {
       status(peer, "429 Too Many Requests", "application/json", R"({"error":{"message":"slow down"}})", "Retry-After: 0.05\r\n");
     }},
    // After the first request: one complete, one refused, one cut, one with an error within the stream.
    {"mixed",
     [](Peer& peer) {
       const char* const kinds[] = {"plain", "http_429", "cut", "error_in_stream"};
       answer(peer.index() == 0 ? "plain" : kinds[peer.index() % 4], peer);
     }},
    {"only_first", [](Peer& peer) { answer(peer.index() == 0 ? "plain" : "http_500", peer); }},
    {"http_500", [](Peer& peer) { status(peer, "500 Internal Server Error", "application/json", R"({"detail":"boom"})"); }},
    {"http_401",
     [](Peer& peer) { status(peer, "401 Unauthorized", "application/json", R"({"error":{"message":"invalid API key"}})"); }},
    {"no_model",
     [](Peer& peer) {
       status(peer, "404 Not Found", "application/json", R"({"error":{"message":"The model `x` does not exist."}})");
     }},
    {"html", [](Peer& peer) { status(peer, "200 OK", "text/html", "<!DOCTYPE html><html><body>Welcome</body></html>"); }},
    {"document",
     [](Peer& peer) { status(peer, "200 OK", "application/json", R"({"choices":[{"message":{"content":"all at once"}}]})"); }},
};

}  // namespace

bool answer(const std::string& scenario, Peer& peer) {
  for (const Named& named : kScenarios) {
    if (scenario != named.name) continue;
    named.run(peer);
    return true;
  }
  return false;
}

}  // namespace aaco::serving_test
