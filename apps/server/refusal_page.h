#pragma once

#include <optional>

#include "server/message.h"

namespace aaco::server {

// Whether a person follows a link with a browser: it asks for HTML, and for a whole page. Pages in a frame are the dashboard's,
// which reads refusals itself.
bool wants_page(const Request& request);

// A refusal as a page that says what happened and what to do next, with the same status and headers; empty where the answer is no
// refusal.
std::optional<Response> refusal_page(const Request& request, const Response& response);

}  // namespace aaco::server
