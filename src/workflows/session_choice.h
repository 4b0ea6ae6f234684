#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result.h"
#include "trace/session.h"

namespace aaco::workflows {

// What sessions are chosen by: model, backend, kind, tag, fingerprint, each with the value that is wanted.
using SessionWhere = std::map<std::string, std::string>;

// Fails with invalid_argument on anything else.
core::Status check_where(const SessionWhere& where);
// What a session says of one of them; empty: nothing.
std::string fact_of(const trace::SessionManifest& manifest, const std::string& key);
// Equal for sessions that measured the same thing as far as they say: kind and fingerprint, and of imported traces, which do not
// say what ran, the tag too, of recordings the program's name (the fingerprints of older versions have no command).
std::string same_thing(const trace::SessionManifest& manifest);
// noted_tags: those that people gave it besides the one of its measurement.
bool is_meant(const trace::SessionManifest& manifest, const SessionWhere& where, const std::vector<std::string>& noted_tags = {});

}  // namespace aaco::workflows
