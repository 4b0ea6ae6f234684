#include "report/render.h"
#include "report/text/page.h"
#include "report/text/sections.h"

namespace aaco::report {

std::string render_text(const ReportModel& model, const TextOptions& options) {
  TextPage page(options);
  write_head(page, model);
  write_scaling(page, model);
  write_time(page, model);
  write_gpu(page, model);
  write_why(page, model);
  write_system(page, model);
  write_hardware(page, model);
  if (options.brief) return page.take();
  write_attainable(page, model);
  write_phases(page, model);
  write_latency(page, model);
  write_telemetry(page, model);
  write_environment(page, model);
  write_accounts(page, model);
  write_metrics(page, model);
  return page.take();
}

}  // namespace aaco::report
