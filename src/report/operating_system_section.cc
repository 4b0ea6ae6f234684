#include "report/operating_system_section.h"

namespace aaco::report {
namespace {

using core::Json;

Json to_json(const OperatingSystem::Thread& thread) {
  return Json::object({{"name", thread.name},
                       {"thread_id", thread.thread_id},
                       {"process_id", thread.process_id},
                       {"run_ns", thread.run_ns},
                       {"run_queue_ns", thread.run_queue_ns},
                       {"off_cpu_ns", thread.off_cpu_ns},
                       {"migrations", thread.migrations},
                       {"page_faults", thread.page_faults}});
}

Json to_json(const OperatingSystem::Reason& reason) {
  Json out = Json::object({{"kind", reason.kind},
                           {"detail", reason.detail},
                           {"call", reason.call},
                           {"count", reason.count},
                           {"total_ns", reason.total_ns},
                           {"longest_ns", reason.longest_ns}});
  if (reason.bytes > 0) out.set("bytes", reason.bytes);
  if (reason.woken_ns > 0) out.set("woken_wait_ns", reason.woken_ns);
  return out;
}

Json to_json(const OperatingSystem::Frame& frame) {
  Json children = Json::array();
  for (const auto& child : frame.children) children.push(to_json(child));
  return Json::object(
      {{"name", frame.name}, {"total_ns", frame.total_ns}, {"kernel", frame.kernel}, {"children", std::move(children)}});
}

}  // namespace

Json to_json(const OperatingSystem& section) {
  Json threads = Json::array(), reasons = Json::array();
  for (const auto& thread : section.threads) threads.push(to_json(thread));
  for (const auto& reason : section.reasons) reasons.push(to_json(reason));
  Json out =
      Json::object({{"thread_count", section.thread_count}, {"threads", std::move(threads)}, {"reasons", std::move(reasons)}});
  if (section.waits) out.set("waits", to_json(*section.waits));
  return out;
}

}  // namespace aaco::report
