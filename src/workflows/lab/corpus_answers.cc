#include "workflows/lab/corpus_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include "analytics/gaps.h"
#include "core/files.h"
#include "tracelake/lake.h"
#include "workflows/diff.h"
#include "workflows/import.h"

namespace aaco::workflows {
namespace {

using core::Json;
using laboratory::corpus::Answer;
using laboratory::corpus::Case;
using laboratory::corpus::Words;

constexpr std::string_view kCannotTell = "cannot-tell";
constexpr double kMinOverlap = 0.5;   // of a gap of the corpus, for a gap of the table to be that one
constexpr double kCoverageBy = 0.02;  // shares and FLOPs agree within
constexpr double kLowCoverage = 0.9;

Answer nothing(std::string cause, std::string note) {
  Answer out;
  out.class_id = kCannotTell;
  out.cause = std::move(cause);
  out.note = std::move(note);
  return out;
}

// The class that the cause decides goes before the one stated beside it.
void put_cause(Answer& answer, const Words::Word& word) {
  answer.cause = word.cause;
  if (answer.class_id.empty()) answer.class_id = word.class_id;
}

std::optional<std::regex> expression(const std::string& text) {
  try {  // std::regex throws on what it does not know
    return std::regex(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

std::string_view cause_id(const Json& document) {
  const Json& cause = document["cause"];
  return cause.is_object() ? cause["id"].text() : cause.text();
}

double sum_of(const Json& list, std::string_view key) {
  double sum = 0;
  for (const Json& one : list.items()) sum += one[key].as_f64().value_or(0);
  return sum;
}

const Json& gpus_of(const SessionOutcome& session) { return session.manifest.outcome.gpu["gpus"]; }

double wanted_ns(const Case& one) {
  const auto median = one.values.find("median_ns"), duration = one.values.find("duration_ns");
  return median != one.values.end() ? median->second : duration != one.values.end() ? duration->second : 0;
}

// The kernel of the case: of those whose name matches, the one whose mean is nearest to the time that the query found.
const Json* kernel_of(const SessionOutcome& session, const Case& one) {
  const auto pattern = expression(one.kernel.empty() ? ".*" : one.kernel);
  const double wanted = wanted_ns(one);
  const Json* best = nullptr;
  double least = std::numeric_limits<double>::max();
  for (const Json& gpu : gpus_of(session).items())
    for (const Json& kernel : gpu["kernel_limits"]["kernels"].items()) {
      const std::string name(kernel["name"].text());
      if (!pattern || !std::regex_search(name, *pattern)) continue;
      const double mean = kernel["time_ns"].as_f64().value_or(0) / std::max(1.0, kernel["count"].as_f64().value_or(1));
      const double off = wanted > 0 && mean > 0 ? std::abs(std::log(mean / wanted)) : 0;
      if (off < least) least = off, best = &kernel;
    }
  return best;
}

// Whether the case is about the execution that is left out of the kernel's limit.
bool is_outlier(const Json& kernel, const Case& one) {
  const double outlier = kernel["outlier_ns"].as_f64().value_or(0), wanted = wanted_ns(one);
  const double others =
      (kernel["time_ns"].as_f64().value_or(0) - outlier) / std::max(1.0, kernel["count"].as_f64().value_or(1) - 1);
  return outlier > 0 && wanted > 0 && others > 0 && std::abs(std::log(outlier / wanted)) < std::abs(std::log(others / wanted));
}

bool is_counted(std::string_view type, const std::vector<std::string>& operators) {
  if (operators.empty()) return type.ends_with("mm") || type.ends_with("linear") || type.ends_with("matmul");
  return std::any_of(operators.begin(), operators.end(),
                     [&](const std::string& one) { return type == one || one.ends_with("::" + std::string(type)); });
}

// FLOPs of the products: of the operators' sites where these say them, else of the kernels that are products.
double product_flops(const SessionOutcome& session, const std::vector<std::string>& operators) {
  double sites = 0, kernels = 0;
  for (const Json& gpu : gpus_of(session).items()) {
    for (const auto& [name, flops] : gpu["sites"]["operator_flops"].members())
      if (is_counted(name, operators)) sites += flops.as_f64().value_or(0);
    for (const Json& kernel : gpu["kernel_limits"]["kernels"].items())
      if (kernel["family"].text() == "gemm") kernels += kernel["flops"].as_f64().value_or(0);
  }
  return sites > 0 ? sites : kernels;
}

}  // namespace

const core::Result<SessionOutcome>& CorpusAnswers::session(const std::vector<std::string>& files,
                                                           const std::vector<std::string>& captures) {
  std::vector<std::string> key = files;
  key.emplace_back();
  key.insert(key.end(), captures.begin(), captures.end());
  auto found = sessions_.find(key);
  if (found != sessions_.end()) return found->second;
  ImportRequest request;
  for (const std::string& file : files) request.paths.push_back(path_of(file));
  for (const std::string& file : captures) request.captures.push_back(path_of(file));
  services_.progress("importing " + files.front());
  return sessions_.emplace(std::move(key), import(request, services_)).first->second;
}

std::string CorpusAnswers::path_of(const std::string& file) const {
  return core::join_path(file.starts_with("own/") ? cases_ : data_, file);
}

std::optional<Answer> CorpusAnswers::answer(const Case& one) {
  for (const std::string& file : one.others)
    if (!core::exists(path_of(file))) return std::nullopt;
  if (!core::exists(path_of(one.file))) return std::nullopt;
  std::vector<std::string> files = {one.file}, captures;
  if (one.kind == "kernel") files.insert(files.end(), one.others.begin(), one.others.end());
  if (one.kind == "coverage") captures = one.others;
  const auto& read = session(files, captures);
  if (!read) return nothing(words_.reason_in(read.error().message), read.error().text());
  Answer out;
  if (one.kind == "headline") {
    out = headline_answer(read->path, read->manifest, words_);
  } else if (one.kind == "gap") {
    out = gap_answer(read->path, one.start_ns, one.length_ns, words_);
  } else if (one.kind == "kernel") {
    out = kernel(*read, one);
  } else if (one.kind == "coverage") {
    out = coverage(*read, one);
  } else {
    const auto& other = session({one.others.front()}, {});
    out = other ? pair(*read, *other) : nothing("", other.error().text());
  }
  const auto& list = read->manifest.outcome.files.items();
  out.format = list.empty() ? "" : list.front()["format"].text();
  return out;
}

Answer headline_answer(const std::string& session_path, const trace::SessionManifest& manifest, const Words& words) {
  const std::string path = core::join_path(session_path, "metrics/bottleneck.json");
  const auto document = core::exists(path) ? core::read_json_file(path) : core::Result<Json>(Json());
  std::string reason;
  for (const auto& warning : manifest.warnings)
    if (reason.empty()) reason = words.reason_of(warning.id);
  if (!document || document->is_null() || (*document)["bottleneck_class"].text().empty()) return nothing(reason, "no bottleneck");
  Answer out;
  out.class_id = words.class_of((*document)["bottleneck_class"].text());
  put_cause(out, words.cause_of(cause_id(*document)));
  out.frame = (*document)["cause"]["title"].text();
  if (out.cause.empty() && out.class_id == kCannotTell) out.cause = reason;
  const auto& ranking = (*document)["ranking"].items();
  if (ranking.size() > 1) out.second = words.class_of(ranking[1]["class"].text());
  if (out.class_id != kCannotTell) out.confidence = (*document)["confidence"].as_f64();  // what cannot be told has no probability
  out.evidence_class = (*document)["evidence_class"].text();
  return out;
}

Answer gap_answer(const std::string& path, std::int64_t start_ns, std::int64_t length_ns, const Words& words) {
  trace::NameTable names;
  const auto gaps = tracelake::read_table<trace::GapRow>(path, names);
  if (!gaps) return nothing("", gaps.error().text());
  const trace::GapRow* best = nullptr;
  std::int64_t most = 0;
  for (const auto& row : *gaps) {
    const std::int64_t overlap = std::min(row.end_ns, start_ns + length_ns) - std::max(row.start_ns, start_ns);
    if (overlap > most) most = overlap, best = &row;
  }
  if (best == nullptr || static_cast<double>(most) < kMinOverlap * static_cast<double>(length_ns))
    return nothing("", "the session has no gap there");
  Answer out;
  const std::string_view named = names.text(best->host_cause);
  put_cause(out, words.cause_of(named.empty() || named == "unknown" ? names.text(best->cause) : named));
  if (out.class_id.empty()) out.class_id = kCannotTell;
  out.frame = names.text(best->evidence);
  if (std::string evidence = analytics::gaps::evidence_class_of(*best, names); !evidence.empty()) {
    out.confidence = best->confidence;
    out.evidence_class = std::move(evidence);
  }
  return out;
}

Answer CorpusAnswers::kernel(const SessionOutcome& session, const Case& one) const {
  const Json* found = kernel_of(session, one);
  if (found == nullptr) return nothing("no-work-known", "no work of this kernel is known");
  const std::string_view limit = (*found)["limit"].text();
  if (is_outlier(*found, one)) return nothing("", "an execution that is an outlier, for which no limit is claimed");
  Answer out;
  put_cause(out, words_.cause_of(limit == "unknown" ? (*found)["evidence_class"].text() : limit));
  if (const std::string_view cause = cause_id(*found); !cause.empty()) out.cause = words_.cause_of(cause).cause;
  if (out.class_id.empty()) out.class_id = kCannotTell;
  if (out.class_id == kCannotTell) return out;
  out.confidence = (*found)["confidence_ratio"].as_f64();
  out.evidence_class = (*found)["evidence_class"].text();
  return out;
}

Answer CorpusAnswers::coverage(const SessionOutcome& session, const Case& one) const {
  const auto value = [&](const char* key) {
    const auto found = one.values.find(key);
    return found != one.values.end() ? found->second : 0;
  };
  double kernels = 0, launched = 0, sum_ns = 0;
  for (const auto& metric : session.metrics) {
    if (metric.id == "gpu.kernel_count") kernels += metric.value;
    if (metric.id == "gpu.kernel_sum_ns") sum_ns += metric.value;
    if (metric.id == "gpu.orphan_kernel_count") launched -= metric.value;
  }
  launched += kernels;
  const double named = sum_of(gpus_of(session), "attributed_kernel_count"),
               named_ns = sum_of(gpus_of(session), "attributed_kernel_ns");
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  Answer out;
  bool agrees = false;
  if (one.call == "graph_capture") {
    agrees = share(named_ns, sum_ns) >= value("replayed_share_of_kernel_time") - kCoverageBy;
    if (share(named_ns, sum_ns) < kLowCoverage) out.claims.emplace_back("low-coverage");
    out.note = fmt::format("{:.4f} of the kernel time has an operator", share(named_ns, sum_ns));
  } else if (one.call == "flops_of_capture") {
    const double found = product_flops(session, one.operators) / 1e9;
    agrees = std::abs(found - value("gflop")) <= kCoverageBy * value("gflop");
    out.note = fmt::format("{:.1f} GFLOP, {:.1f} by shapes", found, value("gflop"));
  } else {
    agrees = std::abs(share(launched, kernels) - value("launch_share")) <= kCoverageBy &&
             std::abs(share(named, kernels) - value("operator_share")) <= kCoverageBy;
    out.note =
        fmt::format("{:.4f} of the kernels have a launch, {:.4f} an operator", share(launched, kernels), share(named, kernels));
  }
  out.cause = agrees ? one.truth.cause : "wrong-coverage";
  return out;
}

Answer CorpusAnswers::pair(const SessionOutcome& a, const SessionOutcome& b) const {
  DiffRequest request;
  request.baseline = {a.path};
  request.candidate = {b.path};
  request.use_history = request.store = false;
  const auto outcome = diff(request, services_);
  if (!outcome) return nothing("", outcome.error().text());
  Answer out;
  out.note = outcome->verdict;
  if (!outcome->comparable) {
    out = nothing("", outcome->verdict);
    for (const auto& difference : outcome->differences) {
      if (difference.severity != hardware::Severity::hard) continue;
      const bool device = difference.key.find("device") != std::string::npos || difference.key.find("gpu") != std::string::npos;
      const std::string word = device ? "other-device" : words_.cause_of(difference.key).cause;
      if (out.cause.empty()) out.cause = word;
      out.claims.push_back(word);
    }
    return out;
  }
  if (outcome->verdict == "regression") out.claims = {"regression", "slower"};
  if (!outcome->cause && (outcome->verdict == "inconclusive" || outcome->verdict == "equivalent"))
    return nothing("noise", outcome->verdict);
  if (outcome->cause) {
    const auto& causes = outcome->cause->details["causes"].items();
    if (!causes.empty()) put_cause(out, words_.cause_of(causes.front()["cause"].text()));
    if (causes.size() > 1) out.second = words_.cause_of(causes[1]["cause"].text()).class_id;
  }
  if (out.class_id.empty()) out.class_id = kCannotTell;
  return out;
}

}  // namespace aaco::workflows
