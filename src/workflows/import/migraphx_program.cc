#include "workflows/import/migraphx_program.h"

namespace aaco::workflows {

core::Status store_partition(const std::vector<importers::ImportResult>& results, SessionDraft& draft) {
  for (const auto& result : results)
    if (const core::Json& program = result.facts["migraphx"]; program.is_object())
      return draft.writer().write_json("runtime/migraphx_partition.json", program);
  return {};
}

}  // namespace aaco::workflows
