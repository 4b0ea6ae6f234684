#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "trace/session.h"

namespace aaco::workflows {

// What sessions are chosen by: model, backend, kind, tag, fingerprint, each with the value that is wanted.
using SessionWhere = std::map<std::string, std::string>;

// Fails with invalid_argument on anything else.
core::Status check_where(const SessionWhere& where);
// What a session says of one of them; empty: nothing.
std::string fact_of(const trace::SessionManifest& manifest, const std::string& key);
bool is_meant(const trace::SessionManifest& manifest, const SessionWhere& where);

}  // namespace aaco::workflows
