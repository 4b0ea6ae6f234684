#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace aaco::tracelake::store {

// session.json holds the hash of every file of its bundle but its own. Its last member, `seal`, is the SHA-256 of the text
// before that member: a hand, an editor or a disk that changed the file afterwards shows.
std::string sealed(const core::Json& manifest);

enum class Seal { whole, missing, broken };  // missing: as sessions of earlier versions are, and open ones
Seal seal_of(std::string_view text);

}  // namespace aaco::tracelake::store
