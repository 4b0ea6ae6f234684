// The kernel's side of the eBPF plane: what happens to the threads of a process tree goes into a ring of the CPU it happens on.
// Each event has up to three programs, of which the loader attaches one: tp_btf (typed arguments), raw_tp (the same arguments,
// read through a function of the kernel), and tracepoint (no BTF needed: fields at offsets that the loader took from tracefs).
// Everything runs in the scheduler's own path, so that nothing here loops, and a full ring is a count.
// Each header stands on those before it.
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "collectors/ebpf/wire.h"
#include "collectors/ebpf/program/kernel_types.bpf.h"
#include "collectors/ebpf/program/maps.bpf.h"
#include "collectors/ebpf/program/event.bpf.h"
#include "collectors/ebpf/program/scheduler.bpf.h"
#include "collectors/ebpf/program/tree.bpf.h"
#include "collectors/ebpf/program/interrupts.bpf.h"
#include "collectors/ebpf/program/requests.bpf.h"
#include "collectors/ebpf/program/tracepoints.bpf.h"
#include "collectors/ebpf/program/gpu.bpf.h"
#include "collectors/ebpf/program/drm.bpf.h"
// clang-format on

char program_license[] SEC("license") = "GPL";
