#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "analytics/fleet.h"
#include "analytics/fleet/rules.h"
#include "stats/multiple.h"

namespace aaco::analytics::fleet {
namespace {

// Kinds that explain the other metrics of the same unit, strongest explanation first: memory errors slow a device, a device that
// slows does not cause memory errors. Kinds of one list become one finding.
constexpr std::array<std::string_view, 6> kOfDevice = {"ecc_storm", "driver_resets", "thermal",
                                                       "bad_link",  "slow_gpu",      "power_outlier"};
constexpr std::array<std::string_view, 2> kOfHost = {"noisy_neighbour", "slow_host"};
constexpr std::array<std::string_view, 2> kOfClock = {"clock_skew", "late_rows"};

constexpr double kMinShareOfKind = 0.25;  // of the largest severity

std::size_t family_of(std::string_view kind) {
  const auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), kind) != list.end(); };
  if (in(kOfDevice)) return 0;
  if (in(kOfHost)) return 1;
  if (in(kOfClock)) return 2;
  return 3 + rule_of(kind == "missing_rows" ? "missing_ratio" : "duplicate_ratio");
}

std::size_t rank_of(std::string_view kind) {
  const auto place = [&](const auto& list) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), kind) - list.begin());
  };
  return place(kOfDevice) + place(kOfHost) + place(kOfClock);
}

void correct(Tests& tests) {
  std::vector<double> p;
  for (const Test& test : tests.tests) p.push_back(test.evidence.p);
  const std::vector<double> q = stats::benjamini_hochberg_adjusted(p);
  for (std::size_t i = 0; i < q.size(); ++i) tests.tests[i].evidence.q = q[i];
}

void add_evidence(Finding& finding, const Test& test) {
  if (finding.evidence.empty()) {
    finding.node = test.unit.node;
    finding.device = test.unit.device;
    finding.hardware = test.unit.hardware;
    finding.since_unix_ns = test.evidence.since_unix_ns;
    finding.until_unix_ns = test.evidence.until_unix_ns;
  }
  if (finding.job.empty()) finding.job = test.job;
  finding.since_unix_ns = std::min(finding.since_unix_ns, test.evidence.since_unix_ns);
  finding.until_unix_ns = std::max(finding.until_unix_ns, test.evidence.until_unix_ns);
  finding.lasting = finding.lasting || test.lasting;
  finding.severity = std::max(finding.severity, test.severity);
  finding.evidence.push_back(test.evidence);
}

// The strongest explanation whose evidence is not small beside the others': a slow device works more than its waiting peers and
// is a little hotter for it, which does not make it a thermal fault.
std::string_view kind_of_tests(const std::vector<const Test*>& tests, double severity) {
  std::string_view kind;
  for (const Test* test : tests)
    if (test->severity >= kMinShareOfKind * severity && (kind.empty() || rank_of(test->rule->kind) < rank_of(kind)))
      kind = test->rule->kind;
  return kind;
}

// Evidence of the finding's kind first, then by its P value.
void order_evidence(Finding& finding) {
  std::stable_sort(finding.evidence.begin(), finding.evidence.end(), [&](const Evidence& a, const Evidence& b) {
    const auto key = [&](const Evidence& one) {
      return std::tuple(rules()[rule_of(one.metric)].kind != finding.kind, one.p, -std::fabs(one.effect));
    };
    return key(a) < key(b);
  });
}

}  // namespace

std::vector<Finding> findings(Tests tests) {
  correct(tests);
  std::map<std::tuple<std::string, std::int32_t, std::size_t>, std::vector<const Test*>> found;
  for (const Test& test : tests.tests)
    if (test.large_enough && test.evidence.q <= kFalseDiscoveryRate)
      found[{test.unit.node, test.unit.device, family_of(test.rule->kind)}].push_back(&test);
  std::vector<Finding> out;
  for (const auto& [key, significant] : found) {
    Finding finding;
    for (const Test* test : significant) add_evidence(finding, *test);
    finding.kind = kind_of_tests(significant, finding.severity);
    order_evidence(finding);
    out.push_back(std::move(finding));
  }
  std::stable_sort(out.begin(), out.end(), [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return out;
}

}  // namespace aaco::analytics::fleet
