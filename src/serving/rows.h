#pragma once

#include <cstdint>
#include <string_view>

#include "serving/client.h"
#include "trace/sink.h"

namespace aaco::serving {

// Writes a stage as rows of llm_requests, llm_chunks and system_events (the client's own state, metrics client.*).
// `first_request` is the number of requests of the stages before it. The sink's status() says whether they were stored.
void write_rows(const StageOutcome& stage, std::string_view phase, std::string_view load, std::int64_t first_request,
                trace::Sink& sink);

}  // namespace aaco::serving
