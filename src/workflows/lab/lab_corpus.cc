#include "workflows/lab_corpus.h"

#include <set>

#include "core/files.h"
#include "workflows/lab/corpus_answers.h"

namespace aaco::workflows {

namespace corpus = laboratory::corpus;
using core::Json;

core::Result<CorpusReport> score_corpus(const CorpusRequest& request, const Services& services) {
  AACO_ASSIGN(const auto cases, corpus::load_cases(request.folder));
  AACO_ASSIGN(const auto words, corpus::Words::load(core::join_path(services.paths.share, "data/rules/corpus_words.yaml")));
  AACO_TRY(core::make_writable_folder(services.paths.cache, "XDG_CACHE_HOME"));
  AACO_ASSIGN(const auto folder, core::TemporaryDirectory::make(services.paths.cache, "corpus"));
  Services own = services;
  own.paths.sessions = folder.path();
  CorpusAnswers answers(request.data, request.folder, words, own);
  CorpusReport report;
  report.shows_held = request.show_held;
  std::vector<corpus::Judgement> tune, held;
  std::set<std::string> files;
  for (const corpus::Case& one : cases) {
    if (services.stopping()) break;
    const auto answer = answers.answer(one);
    if (!answer) {
      ++report.missing;
      continue;
    }
    files.insert(one.file);
    (one.split == "held" ? held : tune).push_back(corpus::judge(one, *answer));
  }
  if (tune.empty() && held.empty())
    return core::fail(core::ErrorCode::not_found,
                      request.data + ": contains none of the files named by the cases in " + request.folder,
                      "name the root of the data: --data DIR, or AACO_REAL_DATA");
  report.files = static_cast<std::int64_t>(files.size());
  report.tune = corpus::score_of(tune);
  report.held = corpus::score_of(held);
  report.judgements = std::move(tune);
  if (request.show_held) report.judgements.insert(report.judgements.end(), held.begin(), held.end());
  return report;
}

Json to_json(const CorpusReport& report) {
  Json cases = Json::array();
  for (const auto& one : report.judgements) cases.push(corpus::to_json(one));
  Json held = corpus::to_json(report.held, report.shows_held);
  if (!report.shows_held) {  // by cause or class a case may stand alone
    Json groups = Json::object();
    groups.set("kind", held["groups"]["kind"]).set("origin", held["groups"]["origin"]);
    held.set("groups", std::move(groups));
  }
  return Json::object({{"schema_version", 1},
                       {"files", report.files},
                       {"cases_without_data", report.missing},
                       {"tune", corpus::to_json(report.tune, true)},
                       {"held", std::move(held)},
                       {"cases", std::move(cases)}});
}

}  // namespace aaco::workflows
