#include "report/render.h"
#include "report/text/page.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

void write_sections(TextPage& page, const ReportModel& model, Place place) {
  for_each_section(model.sections, [&](const auto& entry, const auto& section) {
    if (entry.place == place) write_text(page, section, model);
  });
}

}  // namespace

std::string render_text(const ReportModel& model, const TextOptions& options) {
  TextPage page(options);
  write_head(page, model);
  write_sections(page, model, Place::top);
  write_time(page, model);
  write_sections(page, model, Place::after_time);
  write_why(page, model);
  write_sections(page, model, Place::after_advice);
  write_hardware(page, model);
  if (options.brief) return page.take();
  write_sections(page, model, Place::details);
  write_phases(page, model);
  write_latency(page, model);
  write_telemetry(page, model);
  write_environment(page, model);
  write_accounts(page, model);
  write_metrics(page, model);
  return page.take();
}

}  // namespace aaco::report
