#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/session.h"

namespace aaco::tracelake::store {

// What tells whether session.json is the file that was indexed.
struct FileIdentity {
  std::uint64_t inode = 0;
  std::int64_t size_bytes = 0, modified_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};
// False where there is no such file.
bool identify(const std::string& file, FileIdentity& identity);

struct IndexedSession {
  FileIdentity identity;
  trace::SessionManifest head;  // as head_of() leaves it
};
// Keys are paths below the root: "2026-11-21/<id>".
using SessionIndex = std::unordered_map<std::string, IndexedSession>;

// The members of a manifest that lists of sessions need: id, kind, tag, state, version, time, fingerprint, and of the outcome
// model, backend, provider, batch, threads, median latency and files.
trace::SessionManifest head_of(const trace::SessionManifest& manifest);

// <root>/.index, one line per session. What is damaged or of another version is an empty index: it is only ever a copy of what
// the sessions say.
SessionIndex read_index(const std::string& root);
SessionIndex parse_index(std::string_view text);
std::string index_text(const SessionIndex& index);
// Best effort: a root that cannot be written to has no index.
void write_index(const std::string& root, const SessionIndex& index);

}  // namespace aaco::tracelake::store
