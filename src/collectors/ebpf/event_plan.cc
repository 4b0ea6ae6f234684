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
     "gpu_sched",
     "tracepoint"},
    {"GPU job",  // as of Linux 6.17
     {"gpu_queue_new", "gpu_run_new", "gpu_done_new"},
     {"gpu_scheduler/drm_sched_job_queue", "gpu_scheduler/drm_sched_job_run", "gpu_scheduler/drm_sched_job_done"},
     false,
     "gpu_sched",
     "tracepoint"},
    {"GPU fence",
     {"fence_new", "fence_done", "fence_end"},
     {"dma_fence/dma_fence_init", "dma_fence/dma_fence_signaled", "dma_fence/dma_fence_destroy"},
     false,
     "drm",
     "tracepoint"},
    {"wait for a GPU fence",
     {"fence_wait", "fence_waited"},
     {"dma_fence/dma_fence_wait_start", "dma_fence/dma_fence_wait_end"},
     false,
     "drm",
     "tracepoint"},
    {"GPU buffer",
     {"buffer_new", "buffer_new_paged", "buffer_end"},
     {"drm_gem_private_object_init", "drm_gem_object_init", "drm_gem_object_release"},
     false,
     "drm",
     "kprobe"},
    {"GPU memory",
     {"memory_ask", "memory_given", "memory_freed"},
     {"ttm_resource_alloc", "ttm_resource_alloc", "ttm_resource_free"},
     false,
     "ttm",
     "kprobe"},
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
    {"dma_fence/dma_fence_init", "context", &WireLayout::fence_context},
    {"dma_fence/dma_fence_init", "seqno", &WireLayout::fence_number},
    {"dma_fence/dma_fence_signaled", "context", &WireLayout::fence_context},
    {"dma_fence/dma_fence_signaled", "seqno", &WireLayout::fence_number},
    {"dma_fence/dma_fence_destroy", "context", &WireLayout::fence_context},
    {"dma_fence/dma_fence_destroy", "seqno", &WireLayout::fence_number},
    {"dma_fence/dma_fence_wait_start", "seqno", &WireLayout::fence_number},
    {"dma_fence/dma_fence_wait_end", "seqno", &WireLayout::fence_number},
});

}  // namespace

std::span<const EventPlan> event_plans() { return kPlans; }

std::string_view way_prefix(std::string_view way) {
  if (way == "tp_btf") return "btf";
  if (way == "raw_tp") return "raw";
  if (way == "kprobe") return "kp";
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

std::string tracefs_of(const SysRoot& root) {
  for (const char* folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (core::exists(core::join_path(root.at(folder), "events/sched"))) return root.at(folder);
  return root.at("/sys/kernel/tracing");
}

std::set<std::string, std::less<>> probed_functions(std::string_view kallsyms) {
  std::set<std::string_view> wanted;
  for (const EventPlan& plan : kPlans)
    if (plan.only_way == "kprobe") wanted.insert(plan.points.begin(), plan.points.end());
  std::set<std::string, std::less<>> found;
  for (const std::string_view line : core::split_lines(kallsyms)) {
    const auto begin = line.rfind(' ');  // "address kind name\t[module]"
    if (begin == std::string_view::npos) continue;
    const std::string_view name = line.substr(begin + 1, line.find('\t', begin) - begin - 1);
    if (!name.empty() && wanted.contains(name)) found.emplace(name);
  }
  return found;
}

std::vector<Attachment> worth_telling(const std::vector<Attachment>& choice,
                                      const std::function<bool(std::string_view module)>& has_module) {
  std::vector<Attachment> told;
  for (std::size_t i = 0; i < choice.size() && i < kPlans.size(); ++i) {
    const Attachment& one = choice[i];
    const auto named_alike = [&one](const Attachment& other) { return other.event == one.event; };
    const auto heard = [&](const Attachment& other) { return named_alike(other) && !other.way.empty(); };
    if (one.way.empty()) {
      const std::string_view module = kPlans.at(i).module;
      if (!module.empty() && !has_module(module)) continue;
      if (std::any_of(choice.begin(), choice.end(), heard) || std::any_of(told.begin(), told.end(), named_alike)) continue;
    }
    told.push_back(one);
  }
  return told;
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
