#pragma once

// Fences, buffers and memory of GPU drivers: of the thread in whose calls they come about. Fences by tracepoint; buffers and TTM
// have none, so that functions which DRM exports to all its drivers are probed.

struct gpu_fence {
  u64 begin_ns;
  u32 thread, process;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_requests);
  __type(key, u64);  // context and number
  __type(value, struct gpu_fence);
} gpu_fences SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_requests);
  __type(key, u32);  // thread
  __type(value, u64);
} fence_waits SEC(".maps");

INLINE u64 fence_key(const void* ctx) { return field(ctx, layout.fence_context, 4) << 32 | field(ctx, layout.fence_number, 4); }

SEC("tracepoint/dma_fence/dma_fence_init") int tp_fence_new(void* ctx) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || in_interrupt() || !current_is_member(&current, set)) return 0;
  u64 key = fence_key(ctx);
  struct gpu_fence fence = {.begin_ns = bpf_ktime_get_ns(), .thread = current.thread, .process = current.process};
  if (bpf_map_update_elem(&gpu_fences, &key, &fence, BPF_ANY)) count_untracked();
  return 0;
}

SEC("tracepoint/dma_fence/dma_fence_signaled") int tp_fence_done(void* ctx) {
  u64 key = fence_key(ctx);
  struct gpu_fence* fence = bpf_map_lookup_elem(&gpu_fences, &key);
  if (!fence) return 0;
  struct WireEvent* event = settings() ? begin_event(wire_gpu_fence) : 0;
  if (event) {
    event->thread = fence->thread;
    event->process = fence->process;
    event->duration_ns = event->time_ns - fence->begin_ns;
    event->time_ns = fence->begin_ns;
    end_event(event);
  }
  bpf_map_delete_elem(&gpu_fences, &key);
  return 0;
}

// One that nobody signalled.
SEC("tracepoint/dma_fence/dma_fence_destroy") int tp_fence_end(void* ctx) {
  u64 key = fence_key(ctx);
  bpf_map_delete_elem(&gpu_fences, &key);
  return 0;
}

SEC("tracepoint/dma_fence/dma_fence_wait_start") int tp_fence_wait(void* ctx) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || !current_is_member(&current, set)) return 0;
  u64 now = bpf_ktime_get_ns();
  if (bpf_map_update_elem(&fence_waits, &current.thread, &now, BPF_ANY)) count_untracked();
  return 0;
}

SEC("tracepoint/dma_fence/dma_fence_wait_end") int tp_fence_waited(void* ctx) {
  u64 both = bpf_get_current_pid_tgid();
  u32 thread = (u32)both;
  u64* begin_ns = bpf_map_lookup_elem(&fence_waits, &thread);
  if (!begin_ns) return 0;
  struct WireEvent* event = settings() ? begin_event(wire_gpu_fence) : 0;
  if (event) {
    event->thread = thread;
    event->process = both >> 32;
    event->duration_ns = event->time_ns - *begin_ns;
    event->time_ns = *begin_ns;
    event->state = wire_state_waited;
    end_event(event);
  }
  bpf_map_delete_elem(&fence_waits, &thread);
  return 0;
}

struct gpu_buffer {
  u64 bytes;
  u32 thread, process;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_buffers);
  __type(key, u64);
  __type(value, struct gpu_buffer);
} gpu_buffers SEC(".maps");

// The kernel's function for buffers with pages of their own calls the other one, which the compiler may have built into it.
INLINE void begin_buffer(u64 key, u64 bytes) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || !current_is_member(&current, set) || bpf_map_lookup_elem(&gpu_buffers, &key)) return;
  struct gpu_buffer buffer = {.bytes = bytes, .thread = current.thread, .process = current.process};
  if (bpf_map_update_elem(&gpu_buffers, &key, &buffer, BPF_ANY)) count_untracked();
  struct WireEvent* event = begin_event(wire_gpu_buffer);
  if (!event) return;
  event->thread = current.thread;
  event->process = current.process;
  event->value = bytes;
  end_event(event);
}

SEC("kprobe/drm_gem_private_object_init") int kp_buffer_new(struct pt_regs* ctx) {
  begin_buffer(ctx->si, ctx->dx);
  return 0;
}
SEC("kprobe/drm_gem_object_init") int kp_buffer_new_paged(struct pt_regs* ctx) {
  begin_buffer(ctx->si, ctx->dx);
  return 0;
}
SEC("kprobe/drm_gem_object_release") int kp_buffer_end(struct pt_regs* ctx) {
  u64 key = ctx->di;
  struct gpu_buffer* buffer = bpf_map_lookup_elem(&gpu_buffers, &key);
  if (!buffer) return 0;
  struct WireEvent* event = settings() ? begin_event(wire_gpu_buffer) : 0;
  if (event) {
    event->thread = buffer->thread;
    event->process = buffer->process;
    event->value = buffer->bytes;
    event->state = wire_state_freed;
    end_event(event);
  }
  bpf_map_delete_elem(&gpu_buffers, &key);
  return 0;
}

struct memory_request {
  u64 begin_ns, buffer;
  u32 domain;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_requests);
  __type(key, u32);  // thread
  __type(value, struct memory_request);
} memory_requests SEC(".maps");

// Memory for a buffer of TTM, which begins with its GEM object: both have one address.
SEC("kprobe/ttm_resource_alloc") int kp_memory_ask(struct pt_regs* ctx) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || !current_is_member(&current, set)) return 0;
  struct ttm_place* place = (void*)ctx->si;
  struct memory_request request = {.begin_ns = bpf_ktime_get_ns(), .buffer = ctx->di, .domain = wire_domain_unknown};
  if (bpf_core_field_exists(place->mem_type)) request.domain = BPF_CORE_READ(place, mem_type) & wire_state_mask;
  if (bpf_map_update_elem(&memory_requests, &current.thread, &request, BPF_ANY)) count_untracked();
  return 0;
}

SEC("kretprobe/ttm_resource_alloc") int kp_memory_given(struct pt_regs* ctx) {
  u64 both = bpf_get_current_pid_tgid();
  u32 thread = (u32)both;
  struct memory_request* request = bpf_map_lookup_elem(&memory_requests, &thread);
  if (!request) return 0;
  u64 key = request->buffer;
  struct gpu_buffer* buffer = bpf_map_lookup_elem(&gpu_buffers, &key);
  struct WireEvent* event = settings() && (int)ctx->ax == 0 ? begin_event(wire_gpu_memory) : 0;
  if (event) {
    event->thread = thread;
    event->process = both >> 32;
    event->duration_ns = event->time_ns - request->begin_ns;
    event->time_ns = request->begin_ns;
    event->value = buffer ? buffer->bytes : 0;
    event->state = request->domain;
    end_event(event);
  }
  bpf_map_delete_elem(&memory_requests, &thread);
  return 0;
}

SEC("kprobe/ttm_resource_free") int kp_memory_freed(struct pt_regs* ctx) {
  u64 key = ctx->di;
  struct gpu_buffer* buffer = bpf_map_lookup_elem(&gpu_buffers, &key);
  struct ttm_resource* resource = 0;
  bpf_probe_read_kernel(&resource, sizeof(resource), (void*)ctx->si);
  if (!buffer || !resource || !settings()) return 0;
  struct WireEvent* event = begin_event(wire_gpu_memory);
  if (!event) return 0;
  event->thread = buffer->thread;
  event->process = buffer->process;
  event->value = buffer->bytes;
  event->state = wire_domain_unknown;
  if (bpf_core_field_exists(resource->mem_type)) event->state = BPF_CORE_READ(resource, mem_type) & wire_state_mask;
  event->state |= wire_state_freed;
  end_event(event);
  return 0;
}
