#include "server/reader.h"

#include <boost/asio/buffer.hpp>
#include <limits>

#include "core/numbers.h"
#include "core/strings.h"
#include "server/target.h"

namespace aaco::server {
namespace {

namespace http = boost::beast::http;

auto invalid(std::string message) { return core::fail(core::ErrorCode::invalid_argument, std::move(message)); }

core::Status check_framing(const Request& request) {
  if (request.count("transfer-encoding") > 0) return invalid("Transfer-Encoding is not supported: send Content-Length");
  if (request.count("content-length") > 1) return invalid("several Content-Length headers");
  if (request.count("upgrade") > 0) return invalid("unsupported header: upgrade");
  if (request.count("host") != 1) return invalid("expected exactly one Host header");
  for (const char* name : {"origin", "authorization", "content-type", "cookie"})
    if (request.count(name) > 1) return invalid("repeated header: " + std::string(name));
  return {};
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void limit_head(Parser& parser) {
  parser.header_limit(kMaxHeadBytes);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());  // Boost 1.74 takes none for 0
}

bool has_folded_line(std::string_view head) {
  return head.find("\n ") != std::string_view::npos || head.find("\n\t") != std::string_view::npos;
}

core::Result<Request> read_head(const Parser& parser) {
  const auto& message = parser.get();
  Request request;
  request.method = view(message.method_string());
  for (const auto& field : message) request.headers.emplace_back(core::to_lower(view(field.name_string())), view(field.value()));
  AACO_TRY(check_framing(request));
  if (const auto length = request.header("content-length")) {
    request.body_bytes = core::parse_i64(*length).value_or(std::numeric_limits<std::int64_t>::max());
    request.has_body = request.body_bytes > 0;
  }
  if (request.count("expect") > 0) {
    request.expects_continue = core::to_lower(request.header("expect").value_or("")) == "100-continue";
    if (!request.expects_continue || !request.has_body) return invalid("unsupported header: expect");
  }
  AACO_ASSIGN(Target target, parse_target(view(message.target())));
  request.path = std::move(target.path);
  request.parameters = std::move(target.parameters);
  return request;
}

core::Result<Request> read_request(std::string_view bytes) {
  Parser parser;
  limit_head(parser);
  parser.body_limit(kMaxBodyBytes);
  parser.eager(true);
  boost::beast::error_code error;
  if (has_folded_line(bytes.substr(0, bytes.find("\r\n\r\n")))) return invalid(std::string(kFoldedLine));
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error) return invalid("invalid HTTP request: " + error.message());
  if (!parser.is_header_done()) return invalid("incomplete HTTP request");
  AACO_ASSIGN(Request request, read_head(parser));
  if (!parser.is_done()) return invalid("incomplete HTTP request");
  request.body = parser.get().body();
  return request;
}

}  // namespace aaco::server
