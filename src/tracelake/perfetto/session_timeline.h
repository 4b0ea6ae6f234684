#pragma once

#include <string>

#include "core/result.h"
#include "trace/account.h"
#include "trace/session.h"
#include "tracelake/perfetto/timeline_writer.h"

namespace aaco::tracelake::perfetto {

// Puts the tables of a session on a timeline, one after another, in bounded memory. Does not finish() the writer.
core::Result<trace::Account> write_session(const std::string& session_path, const trace::SessionManifest& manifest,
                                           TimelineWriter& writer);

}  // namespace aaco::tracelake::perfetto
