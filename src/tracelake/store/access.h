#pragma once

#include <string>

#include "core/result.h"

namespace aaco::tracelake::store {

// A root that its group may write to and that passes its group on is shared: the root remembers it.
bool is_shared(const std::string& root);
// Makes the root where it is missing.
core::Status set_shared(const std::string& root, bool shared);

// The root of the lake, made for its owner alone where it is missing.
core::Status make_root(const std::string& root);
// <root>/<date>, with the access that the root calls for.
core::Status make_day(const std::string& root, const std::string& day);
// A new session's folder and what is in it: nobody else may write there, and only a shared root's group may read.
core::Status restrict_session(const std::string& root, const std::string& path);

}  // namespace aaco::tracelake::store
