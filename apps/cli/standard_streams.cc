#include "cli/standard_streams.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

namespace aaco::cli {

void open_missing_streams() {
  // open() takes the lowest number that is free, so that each lands where it belongs
  for (const int number : {0, 1, 2})
    if (fcntl(number, F_GETFD) == -1 && errno == EBADF) open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY);
}

void finish_output(Context& context, ExitCode failed) {
  context.flush();
  const int problem = context.output_problem;
  if (problem == 0 || problem == EPIPE) return;
  const int before = context.exit_code;
  context.fail(core::Error{core::ErrorCode::io, "standard output: " + std::generic_category().message(problem),
                           "the output is incomplete; write it to a device with free space"});
  context.exit_code = before == kFine ? static_cast<int>(failed) : before;
}

}  // namespace aaco::cli
