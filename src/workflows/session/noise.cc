#include "workflows/session/noise.h"

#include "analytics/noise.h"
#include "core/files.h"

namespace aaco::workflows {

using core::Json;
namespace noise = analytics::noise;

NoiseFound watch_noise(const LoopBlocks& blocks, const std::vector<runner::TimedCall>& calls, bool drop, SessionDraft& draft,
                       const core::Paths& paths) {
  NoiseFound found;
  const auto book = noise::NoiseBook::load(core::join_path(paths.share, "data/rules/noise.yaml"));
  if (!book) {
    draft.warn("noise.unknown", "could not check for external load: " + book.error().message, book.error().remedy);
    return found;
  }
  trace::NameTable names;
  const auto rows = blocks.rows(names);
  std::vector<noise::Call> series;
  series.reserve(calls.size());
  for (const auto& call : calls) series.push_back({call.block, static_cast<double>(call.duration_ns)});
  std::size_t plain = 0;
  for (const auto& row : rows) plain += names.text(row.phase) == "measure" ? 1 : 0;
  const auto marks = noise::disturbed_blocks(*book, rows, names);
  const auto account = noise::account_of(marks, plain, series);
  for (const auto& mark : marks) found.cause_of_block.emplace(mark.block, mark.cause);
  const bool dropped = drop && !marks.empty() && noise::can_drop(account);
  found.document = to_json(account, marks, *book);
  found.document.set("dropped", dropped);
  if (const auto written = draft.writer().write_json("metrics/noise.json", found.document); !written)
    draft.warn("noise.not_written", written.error().message, written.error().remedy);
  if (marks.empty()) return found;
  const std::string text = to_text(account, *book, draft.manifest().kind == "llm" ? "generations" : "iterations");
  if (dropped)
    draft.warn("noise.dropped", "disturbed iterations are excluded: " + text,
               "metrics/noise.json lists each block and its cause");
  else if (drop)
    draft.warn("noise.not_dropped", "too few undisturbed iterations to exclude the disturbed ones: " + text,
               "measure longer, or on an idle machine ('aaco capsule check')");
  else
    draft.warn("noise.disturbed", text, "use --drop-disturbed to exclude them, or --isolate to prevent them");
  return found;
}

Json noise_summary(const Json& document) {
  if (document.is_null()) return {};
  Json summary = Json::object();
  for (const char* key : {"blocks", "disturbed_blocks", "disturbed_ratio", "causes", "all", "undisturbed", "dropped"})
    summary.set_if(key, document[key]);
  return summary;
}

bool drops_disturbed(const trace::SessionManifest& manifest) { return manifest.outcome.noise["dropped"].as_bool() == true; }

void leave_out_disturbed(const trace::SessionManifest& manifest, std::vector<trace::IterationRow>& iterations) {
  if (drops_disturbed(manifest)) std::erase_if(iterations, [](const auto& row) { return row.disturbance != trace::NameId{}; });
}

}  // namespace aaco::workflows
