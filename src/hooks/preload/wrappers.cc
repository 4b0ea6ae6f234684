#include <cstddef>
#include <utility>

#include "hooks/preload/state.h"

// The functions themselves. Each is recorded and passed on word by word: integers and pointers are in six registers and then on
// the stack, whatever the function's real parameters are.
namespace aaco::hooks {
namespace {

constexpr std::size_t kInRegisters = 6;
constexpr long kNotFound = 500;  // hipErrorNotFound, cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND
constexpr long kNotReady = 1;    // "not initialised" of the libraries on top

template <std::size_t>
using Word = long;

template <int Index, std::size_t N>
std::uint64_t pick(const long (&words)[N]) {
  if constexpr (Index < 0)
    return 0;
  else
    return static_cast<std::uint64_t>(words[Index]);
}

void record_text(std::size_t function, std::uint64_t subject, const char* text) {
  constexpr std::size_t kRoom = sizeof(wire::Record::words), kMaxText = 600;
  if (text == nullptr) return;
  for (std::size_t from = 0; from < kMaxText; from += kRoom) {
    if (kFunctions[function].role == Role::register_function) wait_for_room();
    std::uint64_t sequence = 0;
    wire::Record* const record = reserve(sequence);
    if (record == nullptr) return;
    char* const to = reinterpret_cast<char*>(record->words);
    std::size_t size = 0;
    while (size < kRoom && text[from + size] != 0) to[size] = text[from + size], ++size;
    const bool last = size < kRoom || from + kRoom >= kMaxText;
    for (std::size_t i = size; i < kRoom; ++i) to[i] = 0;
    record->result = static_cast<std::int32_t>(from);
    record->function = static_cast<std::uint16_t>(function);
    record->device = last ? 1 : 0;
    record->kind = static_cast<std::uint8_t>(wire::Kind::text);
    record->subject = subject;
    publish(*record, sequence);
    if (last) return;
  }
}

void record_alias(std::size_t function, std::uint64_t handle, std::uint64_t known) {
  std::uint64_t sequence = 0;
  wire::Record* const record = reserve(sequence);
  if (record == nullptr) return;
  record->function = static_cast<std::uint16_t>(function);
  record->kind = static_cast<std::uint8_t>(wire::Kind::alias);
  record->subject = handle;
  record->words[0] = known;
  publish(*record, sequence);
}

template <std::size_t F, unsigned Slot, class Stack>
struct Wrapper;

template <std::size_t F, unsigned Slot, std::size_t... I>
struct Wrapper<F, Slot, std::index_sequence<I...>> {
  static constexpr Function kOf = kFunctions[F];
  using Real = long (*)(long, long, long, long, long, long, Word<I>...);

  static long enter(long a, long b, long c, long d, long e, long f, Word<I>... stack) {
    const auto real = reinterpret_cast<Real>(real_of(F, Slot));
    if (__builtin_expect(static_cast<long>(real == nullptr), 0) != 0) return missing();
    if (!is_recording(kOf.group)) {
      const long result = real(a, b, c, d, e, f, stack...);
      const long words[] = {a, b, c, d, e, f};
      change(words, result);
      return result;
    }
    if constexpr (kOf.role == Role::register_function || kOf.role == Role::get_kernel) {
      const long result = real(a, b, c, d, e, f, stack...);
      name_kernel(a, b, d, result);
      return result;
    }
    const std::uint64_t start = now();
    const long result = real(a, b, c, d, e, f, stack...);
    const std::uint64_t end = now();
    const long words[] = {a, b, c, d, e, f, stack...};
    const long first[] = {a, b, c, d, e, f};
    change(first, result);
    std::uint64_t sequence = 0;
    wire::Record* const record = reserve(sequence);
    if (record == nullptr) return result;
    record->result = static_cast<std::int32_t>(result);
    record->function = F;
    record->device = thread.device;
    record->kind = static_cast<std::uint8_t>(wire::Kind::call);
    record->subject = pick<kOf.subject>(words);
    if constexpr (kOf.role == Role::alloc || kOf.role == Role::alloc_async || kOf.role == Role::host_alloc ||
                  kOf.role == Role::get_function)
      record->subject = static_cast<std::int32_t>(result) == 0 && a != 0 ? *reinterpret_cast<std::uint64_t*>(a) : 0;
    record->words[wire::start] = start;
    record->words[wire::end] = end;
    record->words[wire::stream] = stream_of(words);
    record->words[wire::bytes] = pick<kOf.bytes>(words);
    record->words[wire::aux] = pick<kOf.aux>(words);
    const std::uint64_t subject = record->subject;
    publish(*record, sequence);
    if constexpr (kOf.role == Role::get_function)
      if (static_cast<std::int32_t>(result) == 0) record_text(F, subject, reinterpret_cast<const char*>(c));
    return result;
  }

  // Of a function that programs call for each of their kernels while they are loaded: its calls are no part of what they do.
  static void name_kernel(long a, long b, long d, long result) {
    if constexpr (kOf.role == Role::register_function)
      record_text(F, static_cast<std::uint64_t>(b), reinterpret_cast<const char*>(d));
    else if (static_cast<std::int32_t>(result) == 0 && a != 0)
      record_alias(F, *reinterpret_cast<const std::uint64_t*>(a), static_cast<std::uint64_t>(b));
  }

  template <std::size_t N>
  static std::uint64_t stream_of(const long (&words)[N]) {
    if constexpr (kOf.stream == -2)
      return words[0] == 0 ? 0 : *reinterpret_cast<const std::uint64_t*>(words[0] + static_cast<long>(kConfigStream));
    else
      return pick<kOf.stream>(words);
  }
  static long missing() {
    if (shared.control != nullptr) __atomic_fetch_add(&shared.control->missing, 1, __ATOMIC_RELAXED);
    return static_cast<unsigned>(kOf.group) < 3 ? kNotFound : kNotReady;
  }

  // What follows from a call whether it is recorded or not.
  static void change(const long (&words)[kInRegisters], long result) {
    if constexpr (kOf.role == Role::set_device)
      if (static_cast<std::int32_t>(result) == 0) thread.device = static_cast<std::uint8_t>(words[0]);
    if constexpr (kOf.role == Role::lookup) {
      auto** const place = reinterpret_cast<void**>(words[1]);
      if (static_cast<std::int32_t>(result) != 0 || place == nullptr || *place == nullptr) return;
      const int function = find_function(reinterpret_cast<const char*>(words[0]), true);
      if (function >= 0) *place = wrapper_of(static_cast<std::size_t>(function), *place);
    }
  }
};

template <std::size_t F>
using Stack = std::make_index_sequence<(kFunctions[F].words > kInRegisters ? kFunctions[F].words - kInRegisters : 0)>;

}  // namespace
}  // namespace aaco::hooks

namespace {
template <std::size_t F, unsigned Slot>
inline constexpr auto kEntry = &aaco::hooks::Wrapper<F, Slot, aaco::hooks::Stack<F>>::enter;
constexpr std::size_t kFirst = __COUNTER__ + 1;
}  // namespace

// In the order of functions.inc, which the macro counts. The linker fills it in: it is there before any constructor.
extern "C" __attribute__((visibility("hidden"), used)) void* const kHookEntries[] = {
#define AACO_HOOK_ENTRY(index, slot) reinterpret_cast<void*>(kEntry<(index), slot>)
#define AACO_HOOK_ENTRIES(index) \
  AACO_HOOK_ENTRY(index, 0), AACO_HOOK_ENTRY(index, 1), AACO_HOOK_ENTRY(index, 2), AACO_HOOK_ENTRY(index, 3)
#define AACO_HOOK(...) AACO_HOOK_ENTRIES(__COUNTER__ - kFirst),
#include "hooks/functions.inc"
#undef AACO_HOOK
};

// Exported symbols: each jumps to the wrapper of slot 0.
__asm__(
    ".set aaco_hook_index, 0\n"
    ".macro aaco_stub name\n"
    "  .globl \\name\n"
    "  .type \\name, @function\n"
    "  .balign 16\n"
    "\\name:\n"
    "  endbr64\n"
    "  jmp *aaco_hook_entries+aaco_hook_index*32(%rip)\n"
    "  .size \\name, .-\\name\n"
    "  .set aaco_hook_index, aaco_hook_index+1\n"
    ".endm\n"
    ".text\n"
    ".balign 16\n"
    ".globl aaco_hook_stubs\n"
    ".hidden aaco_hook_stubs\n"
    "aaco_hook_stubs:\n"
#define AACO_HOOK(name, ...) "aaco_stub " #name "\n"
#include "hooks/functions.inc"
#undef AACO_HOOK
);
