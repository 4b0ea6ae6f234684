#pragma once

namespace aaco::hooks {

// Finds the C library's dlsym and dlvsym, which the library's own take the place of.
void prepare_loader();
void* real_dlsym(void* handle, const char* name);

}  // namespace aaco::hooks
