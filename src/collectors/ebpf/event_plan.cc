#include "collectors/ebpf/event_plan.h"

#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::collectors::ebpf {
namespace {

constexpr auto kPlans = std::to_array<EventPlan>({
    {"switch", {"switch"}, {"sched/sched_switch"}, true},
    {"wakeup", {"waking", "wakeup", "wakeup_new"}, {"sched/sched_waking", "sched/sched_wakeup", "sched/sched_wakeup_new"}, true},
    {"process tree", {"fork", "exit"}, {"sched/sched_process_fork", "sched/sched_process_exit"}, true},
    {"migration", {"migrate"}, {"sched/sched_migrate_task"}},
    {"page fault", {"fault"}, {"exceptions/page_fault_user"}},
    {"interrupt", {"irq_entry", "irq_exit"}, {"irq/irq_handler_entry", "irq/irq_handler_exit"}},
    {"timer interrupt", {"timer_entry", "timer_exit"}, {"irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit"}},
    {"soft interrupt", {"softirq_entry", "softirq_exit"}, {"irq/softirq_entry", "irq/softirq_exit"}},
    {"block I/O", {"issue", "complete"}, {"block/block_rq_issue", "block/block_rq_complete"}},
    {"GPU job",
     {"gpu_queue", "gpu_run", "gpu_done"},
     {"gpu_scheduler/drm_sched_job", "gpu_scheduler/drm_run_job", "gpu_scheduler/drm_sched_process_job"},
     false,
     true},
    {"GPU job (Linux 6.17)",
     {"gpu_queue_new", "gpu_run_new", "gpu_done_new"},
     {"gpu_scheduler/drm_sched_job_queue", "gpu_scheduler/drm_sched_job_run", "gpu_scheduler/drm_sched_job_done"},
     false,
     true},
});

struct FieldPlan {
  std::string_view point, field;
  WireU32 WireLayout::*member;
};

constexpr auto kFields = std::to_array<FieldPlan>({
    {"sched/sched_switch", "prev_pid", &WireLayout::switch_prev_pid},
    {"sched/sched_switch", "prev_state", &WireLayout::switch_prev_state},
    {"sched/sched_switch", "next_pid", &WireLayout::switch_next_pid},
    {"sched/sched_waking", "pid", &WireLayout::waking_pid},
    {"sched/sched_wakeup", "pid", &WireLayout::wakeup_pid},
    {"sched/sched_wakeup_new", "pid", &WireLayout::wakeup_new_pid},
    {"sched/sched_migrate_task", "pid", &WireLayout::migrate_pid},
    {"sched/sched_migrate_task", "dest_cpu", &WireLayout::migrate_cpu},
    {"sched/sched_process_fork", "child_pid", &WireLayout::fork_child_pid},
    {"exceptions/page_fault_user", "error_code", &WireLayout::fault_error},
    {"irq/irq_handler_exit", "irq", &WireLayout::irq_number},
    {"irq/softirq_exit", "vec", &WireLayout::softirq_vector},
    {"block/block_rq_issue", "dev", &WireLayout::issue_device},
    {"block/block_rq_issue", "sector", &WireLayout::issue_sector},
    {"block/block_rq_issue", "nr_sector", &WireLayout::issue_sectors},
    {"block/block_rq_issue", "rwbs", &WireLayout::issue_operation},
    {"block/block_rq_complete", "dev", &WireLayout::complete_device},
    {"block/block_rq_complete", "sector", &WireLayout::complete_sector},
    {"gpu_scheduler/drm_sched_job", "fence", &WireLayout::gpu_queue_fence},
    {"gpu_scheduler/drm_run_job", "fence", &WireLayout::gpu_run_fence},
    {"gpu_scheduler/drm_sched_process_job", "fence", &WireLayout::gpu_done_fence},
    {"gpu_scheduler/drm_sched_job_queue", "fence_context", &WireLayout::gpu_queue_fence},
    {"gpu_scheduler/drm_sched_job_queue", "fence_seqno", &WireLayout::gpu_queue_number},
    {"gpu_scheduler/drm_sched_job_run", "fence_context", &WireLayout::gpu_run_fence},
    {"gpu_scheduler/drm_sched_job_run", "fence_seqno", &WireLayout::gpu_run_number},
    {"gpu_scheduler/drm_sched_job_done", "fence_context", &WireLayout::gpu_done_fence},
    {"gpu_scheduler/drm_sched_job_done", "fence_seqno", &WireLayout::gpu_done_number},
});

}  // namespace

std::span<const EventPlan> event_plans() { return kPlans; }

std::string_view way_prefix(std::string_view way) {
  if (way == "tp_btf") return "btf";
  if (way == "raw_tp") return "raw";
  return way == "tracepoint" ? "tp" : "";
}

std::optional<WireU32> field_offset(std::string_view format, std::string_view field) {
  constexpr std::string_view kField = "field:", kOffset = "offset:";
  constexpr std::int64_t kMaxOffset = 4096;
  for (std::string_view line : core::split_lines(format)) {
    line = core::trim(line);
    if (!line.starts_with(kField)) continue;
    const auto parts = core::split(line, ';');
    std::string_view declaration = parts.front();
    declaration = declaration.substr(0, declaration.find('['));  // an array: char rwbs[10]
    const auto space = declaration.find_last_of(" *");
    if (space == std::string_view::npos || declaration.substr(space + 1) != field) continue;
    for (std::string_view part : parts) {
      part = core::trim(part);
      if (!part.starts_with(kOffset)) continue;
      const auto offset = core::parse_i64(part.substr(kOffset.size()));
      if (offset && *offset >= 0 && *offset < kMaxOffset) return static_cast<WireU32>(*offset);
    }
  }
  return std::nullopt;
}

WireLayout read_layout(const std::string& tracefs, std::vector<std::string>& missing) {
  WireLayout layout{};
  for (const FieldPlan& plan : kFields) {
    const auto text = core::read_file(core::join_path(tracefs, "events/" + std::string(plan.point) + "/format"), 1 << 20);
    const auto offset = text ? field_offset(*text, plan.field) : std::nullopt;
    if (offset)
      layout.*plan.member = *offset;
    else
      missing.emplace_back(plan.point);
  }
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return layout;
}

}  // namespace aaco::collectors::ebpf
