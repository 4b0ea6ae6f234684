#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string_view>

#include "core/result.h"
#include "server/message.h"

namespace aaco::server {

using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// Sets the limit of heads; the route of a request decides how large its body may be.
void limit_head(Parser& parser);
inline constexpr std::string_view kFoldedLine = "invalid HTTP request: a header continues on the next line";
// Whether a line of the head goes on in the next one (obsolete folding): implementations read it as one value, as two, or not at
// all.
bool has_folded_line(std::string_view head);
// The request of a complete head; the body is not in it yet. Refuses what two HTTP implementations could frame differently
// (Transfer-Encoding, several Content-Length), upgrades, an Expect other than 100-continue with a body, and a missing or repeated
// Host.
core::Result<Request> read_head(const Parser& parser);
// A whole request from bytes, as the tests and the fuzz target feed it.
core::Result<Request> read_request(std::string_view bytes);

}  // namespace aaco::server
