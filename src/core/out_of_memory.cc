#include "core/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace aaco::core {
namespace {

const char* program_name = "";
int exit_code = 1;
std::terminate_handler before = nullptr;

void write_text(const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

// Allocates nothing.
[[noreturn]] void end() {
  if (const std::exception_ptr problem = std::current_exception()) {
    try {
      std::rethrow_exception(problem);
    } catch (const std::bad_alloc&) {
      write_text(program_name);
      write_text(
          ": out of memory\n  hint: use less at once (a smaller batch, model or time range), or raise the memory limit (ulimit "
          "-v, cgroup)\n");
      ::_exit(exit_code);
    } catch (...) {  // not ours to explain
    }
  }
  if (before != nullptr) before();
  std::abort();
}

}  // namespace

void exit_when_out_of_memory(const char* program, int code) {
  program_name = program;
  exit_code = code;
  if (const auto earlier = std::set_terminate(&end); earlier != &end) before = earlier;
}

}  // namespace aaco::core
