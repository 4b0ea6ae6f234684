#include "hooks/preload/loader.h"

#include <dlfcn.h>

#include "hooks/preload/state.h"

// dlsym, dlopen, dlmopen and dlclose; dlvsym stays the C library's, it finds theirs. What the dynamic loader answers depends on
// who asks, so a call that is none of our business jumps on with its caller's address in place.
namespace aaco::hooks {

struct Answer {
  void* address;
  std::uint64_t is_answer;  // 0: jump on
};

extern "C" {
__attribute__((visibility("hidden"))) void* aaco_hook_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) void* aaco_hook_real_dlopen = nullptr;
__attribute__((visibility("hidden"))) void* aaco_hook_real_dlmopen = nullptr;
__attribute__((visibility("hidden"), used)) Answer aaco_hook_dlsym(void* handle, const char* name);
__attribute__((visibility("hidden"), used)) Answer aaco_hook_dlopen(const char* file, int flags);
__attribute__((visibility("hidden"), used)) Answer aaco_hook_dlmopen(long where, const char* file, int flags);
}

// Call with the arguments in registers, keep them, jump on where the answer is none.
__asm__(R"(
.macro aaco_pass name
  .globl \name
  .type \name, @function
\name:
  endbr64
  pushq %rdi
  pushq %rsi
  pushq %rdx
  call aaco_hook_\name
  movq %rdx, %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  testq %rcx, %rcx
  jne 1f
  jmp *aaco_hook_real_\name(%rip)
1: ret
  .size \name, .-\name
.endm
.text
aaco_pass dlsym
aaco_pass dlopen
aaco_pass dlmopen
)");

namespace {
using Close = int (*)(void*);
constinit Close real_dlclose = nullptr;
}  // namespace

void* real_dlsym(void* handle, const char* name) {
  return reinterpret_cast<void* (*)(void*, const char*)>(aaco_hook_real_dlsym)(handle, name);
}

void prepare_loader() {
  if (aaco_hook_real_dlsym != nullptr) return;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.3.4"})
    if (aaco_hook_real_dlmopen == nullptr) aaco_hook_real_dlmopen = dlvsym(RTLD_NEXT, "dlmopen", version);
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"}) {
    if (aaco_hook_real_dlopen == nullptr) aaco_hook_real_dlopen = dlvsym(RTLD_NEXT, "dlopen", version);
    if (real_dlclose == nullptr) real_dlclose = reinterpret_cast<Close>(dlvsym(RTLD_NEXT, "dlclose", version));
  }
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"})
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  __atomic_store_n(&aaco_hook_real_dlsym, found, __ATOMIC_RELEASE);
}

namespace {

constinit void* kept_loaded[kFunctionCount] = {};

// As a look-up by name does of the caller's own: what it found stays loaded.
void keep_loaded(std::size_t function, void* address) {
  if (__atomic_load_n(&kept_loaded[function], __ATOMIC_RELAXED) == address) return;
  Dl_info info;
  if (real_dlsym(RTLD_NEXT, kFunctions[function].name) != address || dladdr(address, &info) == 0 || info.dli_fname == nullptr)
    return;
  reinterpret_cast<void* (*)(const char*, int)>(aaco_hook_real_dlopen)(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  __atomic_store_n(&kept_loaded[function], address, __ATOMIC_RELAXED);
}

// Of a name in the global scope, where this library's own symbol is found first.
Answer answer_for_all(std::size_t function) {
  void* const address = real_of(function, 0);
  if (address == nullptr) return {nullptr, 1};
  keep_loaded(function, address);
  return {kHookEntries[function * kSlots], 1};
}

}  // namespace

Answer aaco_hook_dlsym(void* handle, const char* name) {
  prepare_loader();
  const int function = find_function(name, false);
  // RTLD_NEXT asks from inside another library in between, which is not to find this one again.
  if (function < 0 || handle == RTLD_NEXT) return {nullptr, 0};
  const auto index = static_cast<std::size_t>(function);
  if (handle == RTLD_DEFAULT) return answer_for_all(index);
  void* const address = real_dlsym(handle, name);
  if (address == aaco_hook_exports(index)) return answer_for_all(index);
  return {wrapper_of(index, address), 1};
}

// What is bound deeply finds the runtimes of its own dependencies before this library.
Answer aaco_hook_dlopen(const char*, int flags) {
  prepare_loader();
  if ((flags & RTLD_DEEPBIND) != 0 && shared.control != nullptr)
    __atomic_fetch_add(&shared.control->deep_bound, 1, __ATOMIC_RELAXED);
  return {nullptr, 0};
}

// A namespace of its own has no preloaded library: what is called in it is not seen, and the recording says so.
Answer aaco_hook_dlmopen(long where, const char*, int) {
  prepare_loader();
  if (where != LM_ID_BASE && shared.control != nullptr) __atomic_fetch_add(&shared.control->namespaces, 1, __ATOMIC_RELAXED);
  return {nullptr, 0};
}

}  // namespace aaco::hooks

// The addresses of a library that is gone are forgotten: another may come to its place.
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept {
  aaco::hooks::prepare_loader();
  const int result = aaco::hooks::real_dlclose(handle);
  aaco::hooks::forget_unloaded();
  return result;
}
