#include "workflows/compare_page.h"

#include "core/files.h"
#include "report/render.h"

namespace aaco::workflows {

core::Result<std::string> render_comparison(const core::Json& verdict, std::string_view text, const core::Paths& paths) {
  const std::string file = core::join_path(paths.share, "web/compare.html");
  const auto page = core::read_file(file);
  if (!page)
    return core::fail(core::ErrorCode::unsupported, "this build does not include the comparison page (" + file + " is missing)",
                      "run scripts/bootstrap.sh and build again; the text and --json work without it");
  return report::fill_page(*page, verdict, text);
}

}  // namespace aaco::workflows
