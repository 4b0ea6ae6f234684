#pragma once

#include <string>
#include <string_view>

#include "serving/record.h"

namespace aaco::serving {

// Of a status that is not 200.
Outcome outcome_of_status(int status);

// What a reply says that is not what was asked for, for a person: the message of an error document, otherwise its kind and
// beginning. `expected`: "an event stream".
std::string describe_reply(int status, std::string_view content_type, std::string_view body, std::string_view expected);

}  // namespace aaco::serving
