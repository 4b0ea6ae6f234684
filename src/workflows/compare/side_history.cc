#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/compare/side_facts.h"
#include "workflows/diff_sides.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kMaxGroups = 50;     // of equal sessions, whose host is read
constexpr std::size_t kFewestHistory = 5;  // sessions, below which nothing is learnt of their scatter
constexpr std::size_t kMaxHistory = 50;    // the newest
constexpr std::size_t kMaxRead = 200;      // sessions of one hash, whose facts are read
constexpr std::size_t kMaxMembers = 12;    // of a group, whose facts are read

// Scatter of neighbours in time, so that a slow drift of the machine does not count (von Neumann's mean square successive
// difference). Not robust by design: where processes run in one of two modes, most neighbours are alike and the others count.
double pooled_deviation(const std::vector<std::vector<double>>& groups) {
  double squares = 0, pairs = 0;
  for (const auto& logs : groups)
    for (std::size_t i = 1; i < logs.size(); ++i, ++pairs) squares += (logs[i] - logs[i - 1]) * (logs[i] - logs[i - 1]);
  return pairs > 0 ? std::sqrt(squares / (2 * pairs)) : 0;
}

const std::string* host_of(const hardware::Fingerprint& fingerprint) {
  for (const auto& fact : fingerprint.facts)
    if (fact.key == "host") return &fact.value;
  return nullptr;
}

// The facts of a stored session as load_one() has them; empty: they cannot be read, and tell nothing.
std::optional<hardware::Fingerprint> facts_of_stored(const std::string& path) {
  const auto manifest = tracelake::read_manifest(path);
  auto fingerprint = stored_fingerprint(path);
  if (!manifest || !fingerprint) return std::nullopt;
  add_request_facts(manifest->request, *fingerprint);
  return *std::move(fingerprint);
}

std::string text_of(const hardware::Fingerprint& fingerprint) {
  std::string text;
  for (const auto& fact : fingerprint.facts) text += fact.key + "=" + fact.value + "\n";
  return text;
}

struct Member {
  std::string path;
  double median = 0;
};

// Medians of the newest members of a group with equal hashes, oldest first, apart by all their facts: what the hash leaves out
// (preloaded libraries, allocator settings, priorities) may be the change under test.
void add_by_facts(std::vector<Member> members, const std::string& host, std::vector<std::vector<double>>& groups) {
  if (members.size() > kMaxMembers) members.erase(members.begin(), members.end() - static_cast<std::ptrdiff_t>(kMaxMembers));
  std::map<std::string, std::vector<double>> by_facts;
  for (const Member& one : members) {
    const auto facts = facts_of_stored(one.path);
    const std::string* other = facts ? host_of(*facts) : nullptr;
    if (other != nullptr && *other == host) by_facts[text_of(*facts)].push_back(one.median);
  }
  for (auto& [text, medians] : by_facts)
    if (medians.size() >= 2) groups.push_back(std::move(medians));
}

// How far equal stored runs of any model differ on the host of `fingerprint`; 0: too few tell.
core::Result<double> machine_history(const hardware::Fingerprint& fingerprint, const Services& services) {
  const std::string* host = host_of(fingerprint);
  if (host == nullptr) return 0.0;
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(services.paths.sessions));
  std::map<std::string, std::vector<Member>> groups;  // by fingerprint, oldest first
  for (const auto& entry : entries) {
    const auto median = entry.manifest.outcome.p50_ns;
    if (entry.manifest.state != "complete" || entry.manifest.kind != "run" || entry.manifest.fingerprint.empty() || !median)
      continue;
    groups[entry.manifest.fingerprint].push_back({entry.path, *median});
  }
  std::vector<std::vector<double>> of_host;
  for (auto& [hash, group] : groups) {
    if (group.size() >= 2 && of_host.size() < kMaxGroups) add_by_facts(std::move(group), *host, of_host);
  }
  return analytics::regression::pooled_neighbour_deviation(of_host, kFewestHistory);
}

}  // namespace

core::Result<std::optional<BetweenHistory>> history_between(const ComparedSide& a, const ComparedSide& b,
                                                            const Services& services) {
  const std::string& hash = b.sessions.front().fingerprint_hash;
  if (hash.empty() || a.sessions.front().fingerprint_hash != hash) return std::optional<BetweenHistory>();
  std::set<std::string> own;
  for (const ComparedSide* side : {&a, &b})
    for (const ComparedSession& session : side->sessions) own.insert(session.id);
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(services.paths.sessions));
  // Only sessions with all the facts of A, or all those of B: each group tells its own scatter, and never the change under test.
  const std::string facts_a = text_of(a.sessions.front().fingerprint), facts_b = text_of(b.sessions.front().fingerprint);
  std::vector<double> of_a, of_b;  // newest first
  std::size_t read = 0;
  for (auto entry = entries.rbegin(); entry != entries.rend() && of_a.size() + of_b.size() < kMaxHistory; ++entry) {
    const auto& head = entry->manifest;
    if (head.state != "complete" || head.kind != "run" || head.fingerprint != hash || own.contains(head.id.text)) continue;
    if (!head.outcome.p50_ns || *head.outcome.p50_ns <= 0) continue;
    if (++read > kMaxRead) break;
    const auto facts = facts_of_stored(entry->path);
    const std::string text = facts ? text_of(*facts) : std::string();
    if (text == facts_a)
      of_a.push_back(std::log(*head.outcome.p50_ns));
    else if (text == facts_b)
      of_b.push_back(std::log(*head.outcome.p50_ns));
  }
  const std::size_t count = of_a.size() + of_b.size();
  if (count < kFewestHistory) return std::optional<BetweenHistory>();
  return std::optional(BetweenHistory{std::expm1(pooled_deviation({of_a, of_b})), static_cast<std::int64_t>(count)});
}

core::Result<double> between_runs(const ComparedSide& a, const ComparedSide& b, bool use_history, const Services& services) {
  std::vector<analytics::regression::RunScatter> scatter;
  for (const ComparedSide* side : {&a, &b})
    for (const ComparedSession& session : side->sessions) scatter.push_back(session.scatter);
  double machine_ratio = 0;
  if (use_history) {
    AACO_ASSIGN(machine_ratio, machine_history(b.sessions.front().fingerprint, services));
  }
  return analytics::regression::assumed_between_runs(scatter, machine_ratio);
}

}  // namespace aaco::workflows
