#include "serving/response.h"

#include <gtest/gtest.h>

namespace aaco::serving {
namespace {

struct Reading {
  bool ok = true, complete = false, keep_alive = false;
  int status = 0;
  std::string body, content_type, retry_after;
};

Reading read(const std::string& text, std::size_t size = 100000, bool closes = false) {
  ResponseReader reader;
  Reading reading;
  for (std::size_t at = 0; at < text.size() && reading.ok; at += size)
    reading.ok =
        static_cast<bool>(reader.feed(std::string_view(text).substr(at, size), [&](std::string_view body) -> core::Status {
          reading.body += body;
          return {};
        }));
  if (closes && reading.ok) reading.ok = static_cast<bool>(reader.close());
  reading.complete = reader.complete();
  reading.keep_alive = reader.keep_alive();
  reading.status = reader.status();
  reading.content_type = reader.content_type();
  reading.retry_after = reader.retry_after();
  return reading;
}

const std::string kChunked =
    "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=1\r\n "
    "world\r\n0\r\n\r\n";

TEST(Response, Chunked) {
  const Reading reading = read(kChunked);
  EXPECT_EQ(reading.body, "hello world");
  EXPECT_TRUE(reading.complete && reading.keep_alive);
  EXPECT_EQ(reading.content_type, "text/event-stream");
}
TEST(Response, ChunkedByteByByte) { EXPECT_EQ(read(kChunked, 1).body, "hello world"); }
TEST(Response, ChunkedInPiecesOfSeven) { EXPECT_EQ(read(kChunked, 7).body, "hello world"); }
TEST(Response, ContentLength) { EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 3).body, "hi"); }
TEST(Response, UntilClose) {
  const Reading reading = read("HTTP/1.1 200 OK\r\n\r\nhello", 4, true);
  EXPECT_TRUE(reading.ok && reading.complete);
  EXPECT_FALSE(reading.keep_alive);
}
TEST(Response, StatusAndRetryAfter) {
  const Reading reading = read("HTTP/1.1 429 Slow\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reading.status, 429);
  EXPECT_EQ(reading.retry_after, "3");
}
const std::string kContinued = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
TEST(Response, InterimResponsesAreSkipped) {
  for (const std::size_t size : {1, 25, 100}) {
    const Reading reading = read(kContinued, size);
    EXPECT_EQ(reading.status, 200);
    EXPECT_EQ(reading.body, "hi");
    EXPECT_TRUE(reading.complete && reading.keep_alive);
  }
}
TEST(Response, AnInterimResponseAloneIsNotComplete) {
  EXPECT_FALSE(read("HTTP/1.1 100 Continue\r\n\r\n").complete);
  EXPECT_FALSE(read("HTTP/1.1 100 Continue\r\n\r\n", 100, true).ok);
}
TEST(Response, LocationOfARedirection) {
  ResponseReader reader;
  const std::string text = "HTTP/1.1 307 Moved\r\nLocation: https://other/v1\r\nContent-Length: 0\r\n\r\n";
  ASSERT_TRUE(reader.feed(text, [](std::string_view) -> core::Status { return {}; }));
  EXPECT_EQ(reader.location(), "https://other/v1");
}
TEST(Response, ConnectionCloseIsNotReusable) {
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").keep_alive);
}
TEST(Response, BytesAfterTheEndAreNotReusable) {
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab").keep_alive);
}
TEST(Response, CutChunkIsNotComplete) { EXPECT_FALSE(read(kChunked.substr(0, kChunked.size() - 8), 100, true).ok); }
TEST(Response, CutHeaderIsNotComplete) { EXPECT_FALSE(read("HTTP/1.1 200", 100, true).ok); }
TEST(Response, ClosedWithoutAByte) {
  ResponseReader reader;
  EXPECT_FALSE(reader.close());
  EXPECT_FALSE(reader.started());
}
TEST(Response, RefusesOtherProtocols) { EXPECT_FALSE(read("SSH-2.0-OpenSSH_9.2\r\n\r\n").ok); }
TEST(Response, RefusesBadChunkSize) { EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").ok); }
TEST(Response, RefusesEndlessHeader) { EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nX: " + std::string(200000, 'x')).ok); }
TEST(Response, RefusesUnknownEncoding) {
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx").ok);
}
TEST(Response, RefusesDamagedGzip) {
  EXPECT_FALSE(read("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot gzip, no").ok);
}

}  // namespace
}  // namespace aaco::serving
