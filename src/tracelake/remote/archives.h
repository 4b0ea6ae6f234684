#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "tracelake/engine.h"
#include "tracelake/engine/schema.h"

namespace aaco::tracelake::remote {

// Packed bundles in chunks: session_id, chunk (from 0), bytes.
inline constexpr std::string_view kArchiveTable = "bundle_archives";

core::Result<bool> has_archive(const RemoteServer& server, const std::string& session_id);
// Sends a file as rows of one part; answers their number.
core::Result<std::int64_t> send_archive(const RemoteServer& server, RemoteSchema& schema, const std::string& session_id,
                                        const std::string& part, const std::string& file);

}  // namespace aaco::tracelake::remote
