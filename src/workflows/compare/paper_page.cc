#include "workflows/paper_page.h"

#include "core/files.h"
#include "report/render.h"

namespace aaco::workflows {

core::Result<std::string> render_paper(const report::Paper& paper, const core::Paths& paths) {
  const std::string file = core::join_path(paths.share, "web/paper.html");
  const auto page = core::read_file(file);
  if (!page)
    return core::fail(core::ErrorCode::unsupported, "this build does not include the page (" + file + " is missing)",
                      "run scripts/bootstrap.sh and build again; the text and --json work without it");
  return report::fill_page(*page, report::paper_json(paper), report::paper_text(paper));
}

core::Status write_paper(const report::Paper& paper, const std::string& file, const core::Paths& paths) {
  AACO_ASSIGN(const std::string page, render_paper(paper, paths));
  return core::write_file_atomic(file, page);
}

}  // namespace aaco::workflows
