#include <fmt/format.h>

#include <algorithm>

#include "analytics/llm.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {

void judge_tpot(ComparedSide& side) {
  std::int64_t known = 0, in_one_piece = 0;
  for (const ComparedSession& session : side.sessions) {
    const auto tpot = session.series.find("llm.tpot_p50_ns");
    known += tpot == session.series.end() ? 0 : static_cast<std::int64_t>(tpot->second.size());
    in_one_piece += session.in_one_piece;
  }
  if (in_one_piece == 0) return;
  side.tpot_unknown = static_cast<double>(in_one_piece) >= analytics::llm::kBuffered * static_cast<double>(known + in_one_piece);
  for (ComparedSession& session : side.sessions) {
    // One of whose responses most arrived in one piece states no TPOT, and its series may be too short.
    const auto tpot = session.series.find("llm.tpot_p50_ns");
    const bool enough = tpot != session.series.end() && tpot->second.size() >= kFewestSteps;
    session.without_tpot = side.tpot_unknown || (!enough && find_metric(session.metrics, "llm.tpot_p50_ns") == nullptr);
    if (!session.without_tpot) continue;
    std::erase_if(session.series, [](const auto& one) { return one.first.starts_with(kTpotMetrics); });
    std::erase_if(session.metrics, [](const auto& one) { return one.id.starts_with(kTpotMetrics); });
  }
}

std::string tpot_note(const ComparedSide& side, std::string_view letter) {
  std::int64_t in_one_piece = 0, responses = 0;
  std::size_t without = 0;
  for (const ComparedSession& session : side.sessions) {
    in_one_piece += session.in_one_piece;
    responses += session.responses;
    without += session.without_tpot ? 1 : 0;
  }
  if (in_one_piece == 0) return {};
  const std::string why = fmt::format("unknown for {} of {} responses, which arrived in one piece", in_one_piece, responses);
  if (side.tpot_unknown) return fmt::format("{}: TPOT is not compared: it is {}", letter, why);
  return fmt::format(
      "{}: TPOT is {}{}", letter, why,
      without == 0 ? ""
                   : fmt::format("; {} session{} with none or too few known ones left out", without, without == 1 ? "" : "s"));
}

std::string quantile_note(const ComparedSide& side, std::string_view letter) {
  if (side.sessions.size() < 2 || side.sessions.front().kind != "llm") return {};
  return fmt::format("{}: quantiles are the geometric mean of {} sessions' quantiles, not those of all requests together", letter,
                     side.sessions.size());
}

}  // namespace aaco::workflows
