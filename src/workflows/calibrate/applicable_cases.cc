#include "workflows/calibrate/applicable_cases.h"

#include <fmt/format.h>

namespace aaco::workflows {

core::Status leave_out_peers(int devices, std::vector<laboratory::BenchmarkSuite>& suites, std::vector<std::string>& left_out) {
  std::size_t applicable = 0;
  for (auto& suite : suites) {
    std::erase_if(suite.cases, [&](const laboratory::BenchmarkCase& one) {
      if (one.kind != laboratory::CaseKind::transfer || one.op != "peer" || one.size("peer") < devices) return false;
      left_out.push_back(one.id + ": " + (devices == 1 ? "one GPU" : fmt::format("this process sees {} GPUs", devices)));
      return true;
    });
    applicable += suite.cases.size();
  }
  if (applicable > 0 || left_out.empty()) return {};
  return core::fail(core::ErrorCode::unsupported, "no case of the suite applies to this machine: " + left_out.front(),
                    "copies between GPUs need a machine with several");
}

}  // namespace aaco::workflows
