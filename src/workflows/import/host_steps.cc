#include "workflows/import/host_steps.h"

#include "analytics/steps.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

core::Status store_host_steps(SessionDraft& draft) {
  trace::NameTable names;
  analytics::steps::StepFinder finder(names);
  const trace::NameId operators = names.intern("cpu_op");
  bool has_operators = false;
  AACO_TRY(tracelake::scan_table<trace::ApiCallRow>(draft.writer().path(), names,
                                                    [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
                                                      for (const auto& row : rows) {
                                                        finder.add_call(row);
                                                        has_operators = has_operators || row.domain == operators;
                                                      }
                                                      return {};
                                                    }));
  if (!has_operators) return {};
  const auto steps = finder.finish();
  if (steps.iterations.empty())
    draft.warn("import.no_steps", "the trace is not divided into steps: " + steps.explanation,
               "use torch.profiler.schedule and call prof.step() after each step, or mark steps with record_function");
  for (trace::IterationRow row : steps.iterations) {
    row.phase = draft.sink().name(names.text(row.phase));
    draft.sink().add(row);
  }
  return draft.sink().status();
}

}  // namespace aaco::workflows
