#pragma once

#include <string>
#include <string_view>

namespace aaco::analytics::advice {

// How to see whether the advice `id` helps: a command that compares what it is about, before and after. `session`: the present
// one. `idle`: metrics of the idle time that it is about; empty of other advice.
std::string command_of(std::string_view id, const std::string& session, const std::string& idle);

}  // namespace aaco::analytics::advice
