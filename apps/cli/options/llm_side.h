#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "workflows/llm_side.h"

namespace aaco::cli {

// Whether a side of `ab` is a load on a server: it has --url.
bool side_names_url(const std::vector<std::string>& words);
// The options of `aaco llm` as a side of `ab` has them: with --url a load on a server, otherwise a decoder in this process,
// without a curve over contexts unless it asks for one. Fails with invalid_argument, naming the side.
core::Result<workflows::LlmSide> parse_llm_side(const std::vector<std::string>& words, const std::string& name);
// Side B with the options of A that it does not have itself.
std::vector<std::string> with_options_of(const std::vector<std::string>& a, std::vector<std::string> b);

}  // namespace aaco::cli
