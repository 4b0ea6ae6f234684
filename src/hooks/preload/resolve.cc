#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "hooks/preload/loader.h"
#include "hooks/preload/state.h"

namespace aaco::hooks {

namespace {

constinit void* reals[kFunctionCount][kSlots] = {};

// Beginnings of the file names of the libraries that have the functions.
constexpr const char* kLibraries[] = {"libamdhip64", "libcudart", "libcuda.so", "libhipblas", "libcublas",
                                      "libMIOpen",   "libcudnn",  "librccl",    "libnccl"};

bool is_runtime(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  for (const char* library : kLibraries)
    if (strncmp(name, library, strlen(library)) == 0) return true;
  return false;
}

bool is_own(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address), first = reinterpret_cast<std::uintptr_t>(aaco_hook_exports(0));
  if (at >= first && at < first + kFunctionCount * kStubBytes) return true;
  for (std::size_t i = 0; i < kFunctionCount * kSlots; ++i)
    if (kHookEntries[i] == address) return true;
  return false;
}

struct Loaded {
  static constexpr int kMax = 32;
  char path[kMax][256];
  int count = 0;
};

int note(dl_phdr_info* object, std::size_t, void* data) {
  auto& loaded = *static_cast<Loaded*>(data);
  if (loaded.count < Loaded::kMax && object->dlpi_name != nullptr && is_runtime(object->dlpi_name) &&
      strlen(object->dlpi_name) < sizeof loaded.path[0])
    strcpy(loaded.path[loaded.count++], object->dlpi_name);
  return 0;
}

// Of a library that is loaded where the global scope does not show it, as Python's modules are.
void* find_in_loaded(const Loaded& loaded, const char* name) {
  for (int i = 0; i < loaded.count; ++i) {
    void* const handle = dlopen(loaded.path[i], RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const address = real_dlsym(handle, name);
    dlclose(handle);
    if (address != nullptr && !is_own(address)) return address;
  }
  return nullptr;
}

constexpr std::size_t kBuckets = 1024;  // twice the functions and more
static_assert(kBuckets > 2 * kFunctionCount);
constinit std::int16_t buckets[kBuckets] = {};  // index + 1
constinit bool has_buckets = false;

constexpr std::size_t hash(const char* name) {
  std::uint32_t value = 2166136261U;
  for (; *name != 0; ++name) value = (value ^ static_cast<unsigned char>(*name)) * 16777619U;
  return value % kBuckets;
}

// Twice at once writes the same.
void fill_buckets() {
  for (std::size_t i = 0; i < kFunctionCount; ++i) {
    std::size_t at = hash(kFunctions[i].name);
    while (buckets[at] != 0 && buckets[at] != static_cast<std::int16_t>(i + 1)) at = (at + 1) % kBuckets;
    buckets[at] = static_cast<std::int16_t>(i + 1);
  }
  __atomic_store_n(&has_buckets, true, __ATOMIC_RELEASE);
}

int find_exact(const char* name) {
  for (std::size_t at = hash(name); buckets[at] != 0; at = (at + 1) % kBuckets)
    if (strcmp(kFunctions[buckets[at] - 1].name, name) == 0) return buckets[at] - 1;
  return -1;
}

// Which addresses are of loaded objects.
struct Kept {
  bool known[kFunctionCount][kSlots];
};

int count_unloaded(dl_phdr_info* object, std::size_t size, void* data) {
  if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs)
    *static_cast<unsigned long long*>(data) = object->dlpi_subs;
  return 1;
}

int keep(dl_phdr_info* object, std::size_t, void* data) {
  auto& kept = *static_cast<Kept*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t low = object->dlpi_addr + part.p_vaddr, high = low + part.p_memsz;
    for (std::size_t function = 0; function < kFunctionCount; ++function)
      for (unsigned slot = 0; slot < kSlots; ++slot) {
        const auto at = reinterpret_cast<std::uintptr_t>(__atomic_load_n(&reals[function][slot], __ATOMIC_RELAXED));
        if (at >= low && at < high) kept.known[function][slot] = true;
      }
  }
  return 0;
}

// Also in a namespace that the iteration does not show.
bool is_loaded(void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0;
}

constinit unsigned long long seen_unloaded = 0;

}  // namespace

void forget_unloaded() {
  unsigned long long unloaded = 0;
  dl_iterate_phdr(&count_unloaded, &unloaded);
  if (__atomic_exchange_n(&seen_unloaded, unloaded, __ATOMIC_RELAXED) == unloaded) return;
  Kept kept{};
  void* before[kFunctionCount][kSlots];
  for (std::size_t function = 0; function < kFunctionCount; ++function)
    for (unsigned slot = 0; slot < kSlots; ++slot)
      before[function][slot] = __atomic_load_n(&reals[function][slot], __ATOMIC_RELAXED);
  dl_iterate_phdr(&keep, &kept);
  for (std::size_t function = 0; function < kFunctionCount; ++function)
    for (unsigned slot = 0; slot < kSlots; ++slot)
      if (!kept.known[function][slot] && before[function][slot] != nullptr && !is_loaded(before[function][slot]))
        __atomic_compare_exchange_n(&reals[function][slot], &before[function][slot], static_cast<void*>(nullptr), false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void* real_of(std::size_t function, unsigned slot) {
  if (void* const known = __atomic_load_n(&reals[function][slot], __ATOMIC_RELAXED)) return known;
  if (slot != 0) return nullptr;
  const char* const name = kFunctions[function].name;
  prepare_loader();
  void* address = real_dlsym(RTLD_NEXT, name);
  if (address == nullptr) {
    Loaded loaded;
    dl_iterate_phdr(&note, &loaded);
    address = find_in_loaded(loaded, name);
  }
  if (address != nullptr) __atomic_store_n(&reals[function][0], address, __ATOMIC_RELAXED);
  return address;
}

void* wrapper_of(std::size_t function, void* address) {
  if (address == nullptr || is_own(address)) return address;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    void* taken = nullptr;
    void** const place = &reals[function][slot];
    if (slot == 0) taken = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (taken == address ||
        (slot != 0 &&
         (__atomic_compare_exchange_n(place, &taken, address, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || taken == address)))
      return kHookEntries[function * kSlots + slot];
  }
  return address;
}

int find_function(const char* name, bool lookup) {
  if (name == nullptr) return -1;
  if (!__atomic_load_n(&has_buckets, __ATOMIC_ACQUIRE)) fill_buckets();
  const int exact = find_exact(name);
  const std::size_t length = strlen(name);
  if (exact >= 0 || !lookup || length > 100) return exact;
  char newer[128];
  strcpy(newer, name);
  strcpy(newer + length, "_v2");
  return find_exact(newer);
}

void resolve_loaded() {
  Loaded loaded;
  dl_iterate_phdr(&note, &loaded);
  if (loaded.count == 0) return;
  for (std::size_t i = 0; i < kFunctionCount; ++i) real_of(i, 0);
}

}  // namespace aaco::hooks
