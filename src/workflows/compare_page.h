#pragma once

#include <string>
#include <string_view>

#include "core/environment.h"
#include "core/json.h"
#include "core/result.h"

namespace aaco::workflows {

// The verdict document (docs/formats/verdict.md) as one self-contained HTML page; `text` is shown where no script runs. Fails
// with unsupported where this AACO was built without the page.
core::Result<std::string> render_comparison(const core::Json& verdict, std::string_view text, const core::Paths& paths);

}  // namespace aaco::workflows
