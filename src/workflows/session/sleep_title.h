#pragma once

#include <string>
#include <string_view>

namespace aaco::workflows {

// A thread that waits uninterruptibly for storage: not in vfork, where a parent waits for its child. By the columns `detail` and
// `call` of its off_cpu row.
bool is_storage_sleep(std::string_view detail, std::string_view call);

// What it slept for, in words: "storage", "pipe or network", "a tracer (strace, gdb)". Where nothing is known of the reason, the
// call: "in system call msgrcv"; without a call "cause not recorded".
std::string sleep_title(std::string_view detail, std::string_view call);

}  // namespace aaco::workflows
