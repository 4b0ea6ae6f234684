#include "collectors/proc/process_files.h"

#include "collectors/probe/scanner.h"

namespace aaco::collectors::proc {

using probe::Scanner;

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  Scanner words(text.substr(name_end + 1));
  const auto state = words.next_word();
  const auto parent = words.next_i64();
  if (!state || !parent || !words.skip_words(1)) return std::nullopt;  // group
  const auto session = words.next_i64();
  if (!session || !words.skip_words(3)) return std::nullopt;  // terminal, its group, flags
  ProcessStat stat{.state = state->front(), .parent = *parent, .session = *session};
  const auto take = [&](std::uint64_t& into) {
    const auto value = words.next_u64();
    into = value.value_or(0);
    return value.has_value();
  };
  std::uint64_t ignored = 0;
  if (!take(stat.minor_faults) || !take(ignored) || !take(stat.major_faults) || !take(ignored)) return std::nullopt;
  if (!take(stat.user_ticks) || !take(stat.system_ticks) || !take(stat.waited_user_ticks) || !take(stat.waited_system_ticks))
    return std::nullopt;
  if (!words.skip_words(2)) return std::nullopt;  // priority, nice
  const auto threads = words.next_i64();
  if (!threads || !take(ignored) || !take(stat.start_ticks) || !take(ignored)) return std::nullopt;
  const auto pages = words.next_i64();
  if (!pages) return std::nullopt;
  stat.threads = *threads;
  stat.rss_pages = *pages;
  return stat;
}

std::optional<SchedStat> parse_sched_stat(std::string_view text) {
  Scanner words(text);
  const auto run = words.next_u64();
  const auto wait = words.next_u64();
  const auto slices = words.next_u64();
  if (!slices) return std::nullopt;
  return SchedStat{*run, *wait, *slices};
}

ProcessStatus parse_process_status(std::string_view text) {
  constexpr std::uint64_t kKibibyte = 1024;
  ProcessStatus status;
  Scanner lines(text);
  while (const auto line = lines.next_line()) {
    const auto after = [&](std::string_view key) { return Scanner(line->substr(key.size())).next_u64(); };
    const auto bytes = [&](std::string_view key) -> std::optional<std::uint64_t> {
      const auto kib = after(key);
      if (!kib || *kib > UINT64_MAX / kKibibyte) return std::nullopt;
      return *kib * kKibibyte;
    };
    if (line->starts_with("VmHWM:")) status.peak_rss_bytes = bytes("VmHWM:");
    if (line->starts_with("VmSwap:")) status.swap_bytes = bytes("VmSwap:");
    if (line->starts_with("voluntary_ctxt_switches:")) status.voluntary_switches = after("voluntary_ctxt_switches:");
    if (line->starts_with("nonvoluntary_ctxt_switches:")) status.involuntary_switches = after("nonvoluntary_ctxt_switches:");
  }
  return status;
}

}  // namespace aaco::collectors::proc
