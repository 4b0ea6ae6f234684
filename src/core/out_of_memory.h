#pragma once

namespace aaco::core {

// From here on, a process that can not continue for lack of memory (std::bad_alloc that nobody catches) says so on standard error
// and exits with `code`, without destructors; otherwise it would abort with words of the C++ runtime. Whatever else terminates it
// does so as before. A later call replaces `program`, which must outlive the process, and `code`.
void exit_when_out_of_memory(const char* program, int code);

}  // namespace aaco::core
