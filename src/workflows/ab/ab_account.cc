#include "workflows/ab/ab_account.h"

#include <array>
#include <optional>

namespace aaco::workflows {
namespace {

using trace::LoopBlockRow;

struct Member {
  const char* name;
  std::optional<std::int64_t> LoopBlockRow::*place;
};
constexpr std::array kMembers = {Member{"caller_cpu_ns", &LoopBlockRow::caller_cpu_ns},
                                 Member{"caller_wait_ns", &LoopBlockRow::caller_wait_ns},
                                 Member{"process_cpu_ns", &LoopBlockRow::process_cpu_ns},
                                 Member{"process_wait_ns", &LoopBlockRow::process_wait_ns},
                                 Member{"process_system_ns", &LoopBlockRow::process_system_ns},
                                 Member{"minor_faults", &LoopBlockRow::minor_faults},
                                 Member{"major_faults", &LoopBlockRow::major_faults},
                                 Member{"voluntary_switches", &LoopBlockRow::voluntary_switches},
                                 Member{"involuntary_switches", &LoopBlockRow::involuntary_switches},
                                 Member{"migrations", &LoopBlockRow::migrations},
                                 Member{"storage_bytes", &LoopBlockRow::storage_bytes},
                                 Member{"throttled_ns", &LoopBlockRow::throttled_ns},
                                 Member{"machine_busy_ns", &LoopBlockRow::machine_busy_ns},
                                 Member{"allowed_busy_ns", &LoopBlockRow::allowed_busy_ns},
                                 Member{"steal_ns", &LoopBlockRow::steal_ns},
                                 Member{"iowait_ns", &LoopBlockRow::iowait_ns},
                                 Member{"interrupts", &LoopBlockRow::interrupts}};

}  // namespace

core::Json account_json(const LoopBlockRow& row) {
  core::Json out = core::Json::object({});
  for (const Member& member : kMembers) out.set_if(member.name, row.*member.place);
  return out;
}

void read_account(const core::Json& document, LoopBlockRow& row) {
  for (const Member& member : kMembers) row.*member.place = document[member.name].as_i64();
}

}  // namespace aaco::workflows
