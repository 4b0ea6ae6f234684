// The only file that speaks to libbpf.
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "collectors/ebpf/event_plan.h"
#include "collectors/ebpf/event_source.h"
#include "collectors/ebpf/refusals.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/numbers.h"
#include "core/strings.h"

// The programs as clang built them; the path is the build's.
asm(R"(
  .section .rodata
  .global aaco_ebpf_object
  .global aaco_ebpf_object_end
  .balign 16
aaco_ebpf_object:
  .incbin ")" AACO_EBPF_OBJECT R"("
aaco_ebpf_object_end:
  .byte 0
  .previous
)");
extern "C" {
extern const unsigned char aaco_ebpf_object[];      // NOLINT(readability-identifier-naming): an assembler's symbol
extern const unsigned char aaco_ebpf_object_end[];  // NOLINT(readability-identifier-naming)
}

namespace aaco::collectors::ebpf {
namespace {

using core::ErrorCode;

constexpr std::size_t kRingBudget = std::size_t{64} << 20;  // of all CPUs together
constexpr std::size_t kMaxSymbols = std::size_t{64} << 20;  // of /proc/kallsyms
constexpr std::size_t kMaxRing = std::size_t{8} << 20, kMinRing = std::size_t{128} << 10;

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};
struct CloseLink {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
struct FreeRings {
  void operator()(ring_buffer* rings) const { ring_buffer__free(rings); }
};
struct FreeBtf {
  void operator()(btf* types) const { btf__free(types); }
};
using Object = std::unique_ptr<bpf_object, CloseObject>;
using Link = std::unique_ptr<bpf_link, CloseLink>;

// What libbpf and the verifier say goes into the text that explains a refusal: its last lines name the cause.
thread_local std::string last_words;
int keep_words(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  char line[1024];
  const int length = std::vsnprintf(line, sizeof(line), format, arguments);
  if (length > 0 && last_words.size() < 16384) last_words += line;
  return length;
}

std::string first_words(int code) {
  std::string said;
  for (const std::string_view line : core::split_lines(last_words)) {
    const std::string_view text = core::trim(line);
    if (text.empty() || text.starts_with("libbpf: failed to load object") || text.find("PROG LOAD LOG") != std::string_view::npos)
      continue;
    said = text;
    break;
  }
  last_words.clear();
  return std::string(std::strerror(-code)) + (said.empty() ? "" : " (" + said + ")");
}

Object open_object() {
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "aaco");
  return Object(
      bpf_object__open_mem(aaco_ebpf_object, static_cast<std::size_t>(aaco_ebpf_object_end - aaco_ebpf_object), &options));
}

// How many arguments the typed form of a tracepoint has; empty where this kernel has none, or no BTF.
std::optional<int> argument_count(const btf* types, const std::string& event) {
  if (types == nullptr) return std::nullopt;
  const int id = btf__find_by_name_kind(types, ("btf_trace_" + event).c_str(), BTF_KIND_TYPEDEF);
  if (id <= 0) return std::nullopt;
  const btf_type* type = btf__type_by_id(types, btf__type_by_id(types, static_cast<__u32>(id))->type);
  if (type == nullptr || !btf_is_ptr(type)) return std::nullopt;
  type = btf__type_by_id(types, type->type);
  if (type == nullptr || !btf_is_func_proto(type)) return std::nullopt;
  return btf_vlen(type) - 1;  // the first is the tracepoint's own
}

class Kernel final : public EventSource {
 public:
  core::Status open(const WatchOptions& options) {
    AACO_TRY(sees_the_machines_processes(options.root));
    libbpf_set_print(keep_words);
    const core::FileDescriptor probe(bpf_map_create(BPF_MAP_TYPE_ARRAY, "aaco_probe", 4, 4, 1, nullptr));
    if (probe.get() < 0) return tl::unexpected<core::Error>(refused(-errno));
    const std::string btf_path = options.root.at("/sys/kernel/btf/vmlinux");
    types_.reset(core::exists(btf_path) ? btf__parse(btf_path.c_str(), nullptr) : nullptr);
    layout_ = read_layout(tracefs_of(options.root), without_layout_);
    layout_.with_stacks = options.with_stacks ? 1 : 0;
    layout_.switch_has_state = argument_count(types_.get(), "sched_switch").value_or(0) >= 4 ? 1 : 0;
    layout_.issue_has_queue = argument_count(types_.get(), "block_rq_issue").value_or(1) >= 2 ? 1 : 0;
    const auto has_module = [&options](std::string_view name) {
      return core::exists(options.root.at("/sys/module/" + std::string(name)));
    };
    if (has_module("drm"))
      functions_ = probed_functions(core::read_file(options.root.at("/proc/kallsyms"), kMaxSymbols).value_or(std::string()));
    AACO_TRY(choose(options));
    attachments_ = worth_telling(choice_, has_module);
    return connect(options);
  }

  void set_enabled(bool enabled) override {
    control_.enabled = enabled ? 1 : 0;
    write_control();
  }
  void skip_this_thread() override {
    control_.skip_thread = static_cast<WireU32>(::gettid());
    write_control();
  }
  void adopt(std::uint32_t process, bool with_itself) override {
    const WireU32 value = with_itself ? wire_tree_member : wire_tree_parent;
    bpf_map_update_elem(map("processes"), &process, &value, BPF_ANY);
  }
  void forget(std::uint32_t process) override { bpf_map_delete_elem(map("processes"), &process); }

  void read(std::vector<WireEvent>& events) override {
    into_ = &events;
    ring_buffer__consume(rings_.get());
    into_ = nullptr;
  }

  [[nodiscard]] std::vector<std::uint64_t> stack(std::int32_t key) const override {
    std::vector<std::uint64_t> addresses(wire_stack_depth);
    if (key < 0 || bpf_map_lookup_elem(map("stacks"), &key, addresses.data()) != 0) return {};
    addresses.erase(std::find(addresses.begin(), addresses.end(), 0U), addresses.end());
    return addresses;
  }

  [[nodiscard]] SourceCounts counts() const override {
    SourceCounts counts;
    std::vector<WireCounts> each(static_cast<std::size_t>(cpus_));
    const WireU32 zero = 0;
    if (bpf_map_lookup_elem(map("counts"), &zero, each.data()) != 0) return counts;
    for (const WireCounts& one : each) {
      for (std::size_t kind = 0; kind < wire_kinds; ++kind) {
        counts.total.seen[kind] += one.seen[kind];
        counts.total.lost[kind] += one.lost[kind];
      }
      counts.total.untracked += one.untracked;
      counts.total.stacks_lost += one.stacks_lost;
    }
    return counts;
  }

  [[nodiscard]] const std::vector<Attachment>& attachments() const override { return attachments_; }

 private:
  // Which program hears each event. The first way that may work is tried for all at once; only where that fails, one by one.
  core::Status choose(const WatchOptions& options) {
    for (const EventPlan& plan : event_plans()) choice_.push_back(first_way(plan, options));
    if (complete() && try_load(choice_)) return {};
    if (layout_.with_stacks != 0) {  // a kernel that does not walk stacks for programs
      layout_.with_stacks = 0;
      if (complete() && try_load(choice_)) return {};
    }
    for (std::size_t i = 0; i < choice_.size(); ++i) {
      if (!choice_[i].way.empty()) try_one_by_one(i, options);
      if (choice_[i].way.empty() && event_plans()[i].required)
        return core::fail(
            ErrorCode::unsupported, "the kernel event '" + choice_[i].event + "' cannot be traced: " + choice_[i].reason,
            "use a kernel with BTF (/sys/kernel/btf/vmlinux) or mount tracefs: sudo mount -t tracefs nodev /sys/kernel/tracing");
    }
    if (try_load(choice_)) return {};
    return core::fail(ErrorCode::unsupported, "cannot load the eBPF programs together: " + first_words(error_), "see 'dmesg'");
  }

  // The first that may work, as far as that can be told without trying, and why not those before it.
  [[nodiscard]] Attachment first_way(const EventPlan& plan, const WatchOptions& options) const {
    Attachment chosen{std::string(plan.event), {}, {}};
    for (const std::string& way : options.ways) {
      const std::string why = why_not(plan, way);
      if (why.empty()) {
        chosen.way = way;
        return chosen;
      }
      add_reason(chosen, way, why);
    }
    return chosen;
  }

  static void add_reason(Attachment& attachment, const std::string& way, const std::string& why) {
    attachment.reason += (attachment.reason.empty() ? "" : "; ") + way + ": " + why;
  }

  [[nodiscard]] bool complete() const {
    for (std::size_t i = 0; i < choice_.size(); ++i)
      if (choice_[i].way.empty() && event_plans()[i].required) return false;
    return true;
  }

  void try_one_by_one(std::size_t number, const WatchOptions& options) {
    Attachment& chosen = choice_[number];
    chosen.way.clear();
    chosen.reason.clear();
    for (const std::string& way : options.ways) {
      std::vector<Attachment> alone(choice_.size());
      alone[number] = {chosen.event, way, {}};
      std::string why = why_not(event_plans()[number], way);
      if (why.empty() && !try_load(alone)) why = first_words(error_);
      if (why.empty()) {
        chosen.way = way;
        return;
      }
      add_reason(chosen, way, why);
    }
  }

  // Why a way cannot work here, as far as that can be told without trying.
  [[nodiscard]] std::string why_not(const EventPlan& plan, const std::string& way) const {
    if (way_prefix(way).empty()) return "unknown attach method";
    if (plan.only_way.empty() ? way == "kprobe" : way != plan.only_way)
      return plan.only_way == "kprobe" ? "only available as a kprobe" : "only available as a tracepoint";
    for (std::size_t i = 0; i < plan.names.size() && !plan.names.at(i).empty(); ++i) {
      const std::string point(plan.points.at(i));
      if (way == "kprobe") {
        if (!functions_.contains(point)) return "the kernel has no function " + point + " (/proc/kallsyms)";
      } else if (way == "tracepoint") {
        if (std::find(without_layout_.begin(), without_layout_.end(), point) != without_layout_.end())
          return "tracefs does not describe " + point;
      } else if (!argument_count(types_.get(), core::base_name(point))) {
        return types_ ? "the kernel's BTF has no " + core::base_name(point) : "the kernel has no BTF (/sys/kernel/btf/vmlinux)";
      }
    }
    return {};
  }

  // Loads and attaches a choice, or leaves nothing and the reason in error_.
  bool try_load(const std::vector<Attachment>& choice) {
    links_.clear();
    object_ = open_object();
    last_words.clear();
    if (!object_) {
      error_ = -errno;
      return false;
    }
    std::vector<bpf_program*> wanted;
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, object_.get()) bpf_program__set_autoload(program, false);
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (choice[i].way.empty()) continue;
      for (const std::string_view name : event_plans()[i].names) {
        if (name.empty()) continue;
        program = bpf_object__find_program_by_name(object_.get(),
                                                   (std::string(way_prefix(choice[i].way)) + "_" + std::string(name)).c_str());
        if (program == nullptr) {
          error_ = -ENOENT;
          return false;
        }
        bpf_program__set_autoload(program, true);
        wanted.push_back(program);
      }
    }
    cpus_ = std::max(1, libbpf_num_possible_cpus());
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), "rings"), static_cast<__u32>(cpus_));
    set_layout();
    if ((error_ = bpf_object__load(object_.get())) != 0) return false;
    for (bpf_program* each : wanted) {
      links_.emplace_back(bpf_program__attach(each));
      if (links_.back()) continue;
      error_ = -errno;
      links_.clear();
      return false;
    }
    return true;
  }

  void set_layout() {
    bpf_map* constants = nullptr;
    bpf_object__for_each_map(constants, object_.get()) {
      if (std::string_view(bpf_map__name(constants)).ends_with(".rodata"))
        bpf_map__set_initial_value(constants, &layout_, sizeof(layout_));
    }
  }

  // A ring a CPU, and the process tree as it is now.
  core::Status connect(const WatchOptions& options) {
    const std::size_t share = std::bit_floor(kRingBudget / static_cast<std::size_t>(cpus_));
    const std::size_t size = std::clamp(share, kMinRing, kMaxRing);
    for (int cpu = 0; cpu < cpus_; ++cpu) {
      const core::FileDescriptor ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "aaco_ring", 0, 0, static_cast<__u32>(size), nullptr));
      const int file = ring.get();
      if (file < 0 || bpf_map_update_elem(map("rings"), &cpu, &file, BPF_ANY) != 0)
        return tl::unexpected<core::Error>(refused(-errno));
      if (!rings_)
        rings_.reset(ring_buffer__new(file, &Kernel::take, this, nullptr));
      else if (ring_buffer__add(rings_.get(), file, &Kernel::take, this) != 0)
        return tl::unexpected<core::Error>(refused(-errno));
      if (!rings_) return tl::unexpected<core::Error>(refused(-errno));
    }
    if (options.process_id <= 0) return core::fail(ErrorCode::invalid_argument, "the eBPF collector needs a process to watch");
    adopt(static_cast<std::uint32_t>(options.process_id), options.with_itself);
    if (options.with_itself) adopt_tree(options.root, static_cast<std::uint32_t>(options.process_id));
    return {};
  }

  // Children and threads that are there already. New ones come by themselves; a pass that finds nothing new ends it.
  void adopt_tree(const SysRoot& root, std::uint32_t process) {
    constexpr int kMaxPasses = 8;
    std::size_t before = 0;
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      std::map<std::uint32_t, bool> seen;
      adopt_below(root, process, seen);
      if (seen.size() == before) return;
      before = seen.size();
    }
  }

  void adopt_below(const SysRoot& root, std::uint32_t process, std::map<std::uint32_t, bool>& seen) {
    struct {
      WireU32 process, waker;
    } thread{process, 0};
    if (!seen.emplace(process, true).second || seen.size() > wire_max_processes) return;
    adopt(process, true);
    const std::string tasks = root.at("/proc/" + std::to_string(process) + "/task");
    const auto names = core::list_directory(tasks);
    if (!names) return;
    for (const std::string& name : *names) {
      const auto id = core::parse_i64(name);
      if (!id || *id <= 0 || *id > INT32_MAX) continue;
      const auto number = static_cast<WireU32>(*id);
      bpf_map_update_elem(map("threads"), &number, &thread, BPF_NOEXIST);
      seen.emplace(number, false);
      const auto children = core::read_file(core::join_path(tasks, name + "/children"), 1 << 20);
      if (!children) continue;
      for (const std::string_view word : core::split(*children, ' '))
        if (const auto child = core::parse_i64(core::trim(word)); child && *child > 0 && *child <= INT32_MAX)
          adopt_below(root, static_cast<std::uint32_t>(*child), seen);
    }
  }

  static int take(void* self, void* data, std::size_t size) {
    if (size < sizeof(WireEvent)) return 0;
    WireEvent event;
    std::memcpy(&event, data, sizeof(event));
    static_cast<Kernel*>(self)->into_->push_back(event);
    return 0;
  }

  [[nodiscard]] int map(const char* name) const { return bpf_object__find_map_fd_by_name(object_.get(), name); }

  void write_control() {
    const WireU32 zero = 0;
    bpf_map_update_elem(map("control"), &zero, &control_, BPF_ANY);
  }

  std::set<std::string, std::less<>> functions_;  // that kprobes want and this kernel has
  std::unique_ptr<btf, FreeBtf> types_;
  WireLayout layout_{};
  std::vector<std::string> without_layout_;
  std::vector<Attachment> choice_;  // of each event plan
  std::vector<Attachment> attachments_;
  Object object_;
  std::vector<Link> links_;  // before the object, which they belong to
  std::unique_ptr<ring_buffer, FreeRings> rings_;
  std::vector<WireEvent>* into_ = nullptr;
  WireControl control_{};
  int cpus_ = 1;
  int error_ = 0;
};

}  // namespace

core::Result<std::unique_ptr<EventSource>> open_kernel(const WatchOptions& options) {
  auto kernel = std::make_unique<Kernel>();
  AACO_TRY(kernel->open(options));
  return std::unique_ptr<EventSource>(std::move(kernel));
}

}  // namespace aaco::collectors::ebpf
