#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/files.h"
#include "tests/support/source_dir.h"
#include "workflows/session_draft.h"

// For tests of use cases: sessions with known content in a lake of their own.
namespace aaco::workflows {

struct MadeSession {
  std::string kind = "run", tag;
  core::Json request, outcome;   // as session.json has them
  std::vector<double> calls_ns;  // measured iterations, in order
  trace::Metrics metrics;
  std::vector<hardware::Fact> facts = {{"batch", "1"}};  // of the fingerprint
  std::function<void(trace::Sink&)> rows = [](trace::Sink&) {};
  std::vector<std::pair<std::string, core::Json>> documents;  // path in the bundle and content
  std::int64_t created_ns = 0;                                // 0: now
  bool interrupted = false;
};

class Lake {
 public:
  Lake() {
    services.paths.share = AACO_SOURCE_DIR;
    services.paths.sessions = in("sessions");
    services.paths.registry = in("registry");
    services.paths.cache = in("cache");
    services.paths.config = in("config");
    services.tool_version = "test";
    services.environment.set("AACO_BASELINES", in("baselines"));
  }
  [[nodiscard]] std::string in(const std::string& name) const { return core::join_path(folder_.path(), name); }
  std::string file(const std::string& name, std::string_view text) const {
    std::string path = in(name);
    if (!core::write_file_atomic(path, text)) throw std::runtime_error("cannot write " + path);
    return path;
  }
  SessionOutcome make(const MadeSession& made) const {
    auto draft = SessionDraft::begin(made.kind, made.tag, made.request, services).value();
    draft.manifest().outcome = trace::outcome_from_json(made.outcome);
    if (made.created_ns > 0) draft.manifest().created_realtime_ns = made.created_ns;
    const auto fingerprint = hardware::make_fingerprint(made.facts);
    draft.manifest().fingerprint = fingerprint.hash;
    check(draft.writer().write_json("env.json", core::Json::object({{"fingerprint", to_json(fingerprint)}})));
    std::int64_t at = 1'000;
    for (std::size_t i = 0; i < made.calls_ns.size(); ++i) {
      trace::IterationRow row;
      row.iteration = static_cast<std::int64_t>(i);
      row.phase = draft.sink().name("measure");
      row.start_ns = at;
      row.duration_ns = static_cast<std::int64_t>(made.calls_ns[i]);
      at += row.duration_ns;
      draft.sink().add(row);
    }
    made.rows(draft.sink());
    for (const auto& [path, document] : made.documents) check(draft.writer().write_json(path, document));
    return draft.finish(made.metrics, made.interrupted).value();
  }

  Services services;

 private:
  static void check(const core::Status& status) {
    if (!status) throw std::runtime_error(status.error().text());
  }
  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make(testing::TempDir(), "lake").value();
};

}  // namespace aaco::workflows
