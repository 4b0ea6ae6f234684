#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <utility>

#include "collectors/ebpf/interval_builder.h"

namespace aaco::collectors::ebpf {
namespace {

// The order of include/linux/interrupt.h, as /proc/softirqs shows it.
constexpr std::array<std::string_view, 10> kSoftInterrupts = {"hi",       "timer",   "net_tx", "net_rx",  "block",
                                                              "irq_poll", "tasklet", "sched",  "hrtimer", "rcu"};

// The calls in which threads wait, and those that a memory or I/O storm is made of.
constexpr auto kCalls = std::to_array<std::pair<std::int32_t, std::string_view>>({
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_readv, "readv"},
    {SYS_writev, "writev"},
    {SYS_pread64, "pread64"},
    {SYS_pwrite64, "pwrite64"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_mmap, "mmap"},
    {SYS_munmap, "munmap"},
    {SYS_mprotect, "mprotect"},
    {SYS_madvise, "madvise"},
    {SYS_mremap, "mremap"},
    {SYS_brk, "brk"},
    {SYS_msync, "msync"},
    {SYS_ioctl, "ioctl"},
    {SYS_futex, "futex"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "clock_nanosleep"},
    {SYS_sched_yield, "sched_yield"},
    {SYS_ppoll, "ppoll"},
    {SYS_pselect6, "pselect6"},
    {SYS_epoll_pwait, "epoll_pwait"},
    {SYS_wait4, "wait4"},
    {SYS_waitid, "waitid"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_connect, "connect"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_fsync, "fsync"},
    {SYS_fdatasync, "fdatasync"},
    {SYS_sync, "sync"},
    {SYS_splice, "splice"},
    {SYS_sendfile, "sendfile"},
    {SYS_execve, "execve"},
    {SYS_clone, "clone"},
    {SYS_exit, "exit"},
    {SYS_exit_group, "exit_group"},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    {SYS_rt_sigsuspend, "rt_sigsuspend"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_io_getevents, "io_getevents"},
    {SYS_membarrier, "membarrier"},
    {SYS_flock, "flock"},
    {SYS_getdents64, "getdents64"},
    {SYS_statx, "statx"},
    {SYS_fcntl, "fcntl"},
    {SYS_semtimedop, "semtimedop"},
    {SYS_semop, "semop"},
    {SYS_msgrcv, "msgrcv"},
    {SYS_msgsnd, "msgsnd"},
    {SYS_mq_timedreceive, "mq_timedreceive"},
    {SYS_mq_timedsend, "mq_timedsend"},
    {SYS_recvmmsg, "recvmmsg"},
    {SYS_sendmmsg, "sendmmsg"},
    {SYS_tee, "tee"},
    {SYS_preadv, "preadv"},
    {SYS_pwritev, "pwritev"},
    {SYS_syncfs, "syncfs"},
    {SYS_sync_file_range, "sync_file_range"},
    {SYS_fallocate, "fallocate"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_renameat2, "renameat2"},
    {SYS_copy_file_range, "copy_file_range"},
#ifdef SYS_poll
    {SYS_poll, "poll"},
    {SYS_select, "select"},
    {SYS_epoll_wait, "epoll_wait"},
    {SYS_pause, "pause"},
    {SYS_vfork, "vfork"},
    {SYS_unlink, "unlink"},
    {SYS_rename, "rename"},
#endif
});

constexpr std::uint32_t kInterruptible = 1, kUninterruptible = 2, kStopped = 4, kTraced = 8, kNoLoad = 0x400;
// Since Linux 6.1: of a thread in the freezer of cgroup version 1, and of a sleep that a freezer may prolong.
constexpr std::uint32_t kFreezable = 0x2000, kFrozen = 0x8000;

}  // namespace

std::string_view soft_interrupt_name(std::uint32_t vector) {
  return vector < kSoftInterrupts.size() ? kSoftInterrupts.at(vector) : std::string_view();
}

std::string_view block_operation_name(std::uint32_t operation) {
  switch (operation) {  // enum req_op of include/linux/blk_types.h
    case 0: return "read";
    case 1: return "write";
    case 2: return "flush";
    case 3: return "discard";
    default: return "";
  }
}

std::string_view gpu_domain_name(std::uint32_t domain) {
  constexpr std::array<std::string_view, 3> kDomains = {"system", "gtt", "vram"};  // TTM_PL_* of include/drm/ttm/ttm_placement.h
  if (domain < kDomains.size()) return kDomains.at(domain);
  return domain == wire_domain_unknown ? "unknown" : "driver's own";
}

// Bits of the page-fault error code of x86: 1 is a write, 4 an instruction.
std::string_view fault_name(std::uint32_t error_code) {
#if defined(__x86_64__)
  if ((error_code & 16U) != 0) return "execute";
  return (error_code & 2U) != 0 ? "write" : "read";
#else
  (void)error_code;
  return "";
#endif
}

std::string call_name(std::int32_t call) {
  const auto* const found = std::find_if(kCalls.begin(), kCalls.end(), [call](const auto& known) { return known.first == call; });
  return found != kCalls.end() ? std::string(found->second) : "syscall " + std::to_string(call);
}

std::string_view off_cpu_reason(std::uint32_t state, bool in_call) {
  if ((state & wire_state_iowait) != 0) return "io";
  if ((state & kStopped) != 0) return "stopped";
  if ((state & kTraced) != 0) return "traced";
  if ((state & kFrozen) != 0) return "frozen";
#if defined(__x86_64__)  // elsewhere the call is not known
  // Version 2 keeps threads where they handle signals, on the way back to the program: no call of the program sleeps there.
  if ((state & kInterruptible) != 0 && (state & kFreezable) != 0 && !in_call) return "frozen";
#else
  (void)in_call;
#endif
  if ((state & kInterruptible) != 0) return "sleep";
  if ((state & kUninterruptible) != 0) return (state & kNoLoad) != 0 ? "idle" : "disk_sleep";
  return "sleep";
}

}  // namespace aaco::collectors::ebpf
