#pragma once

#include <string>

#include "core/environment.h"
#include "core/result.h"
#include "report/paper.h"

namespace aaco::workflows {

// The paper as one self-contained HTML page in the style of the report, with its text where no script runs. Fails with
// unsupported where this AACO was built without the page.
core::Result<std::string> render_paper(const report::Paper& paper, const core::Paths& paths);
// The same into a file.
core::Status write_paper(const report::Paper& paper, const std::string& file, const core::Paths& paths);

}  // namespace aaco::workflows
