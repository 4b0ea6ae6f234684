#pragma once

#include <string>

#include "core/result.h"
#include "trace/sink.h"

namespace aaco::workflows {

// Table collective_calls from the flushed table collectives: bandwidths, and waits of ranks. Nothing for a trace without
// collectives, or with more than kMaxCollectives. Fails as the sink did.
inline constexpr std::size_t kMaxCollectives = 400'000;
core::Status store_collective_calls(const std::string& session_path, trace::Sink& sink);

}  // namespace aaco::workflows
