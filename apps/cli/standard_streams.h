#pragma once

#include "cli/context.h"

namespace aaco::cli {

// Gives the program the standard streams that it was started without (`>&-`, as some daemons do): else the first files it opens
// would take their numbers, and what is printed would be written into them. To be called before anything is opened.
void open_missing_streams();

// Writes out what standard output still holds. What it did not take is an error of the verb, as for a file, except where the
// reader has gone (`| head`). `failed` is the exit code where the verb itself went well.
void finish_output(Context& context, ExitCode failed);

}  // namespace aaco::cli
