#pragma once

// Jobs of the DRM scheduler, which amdgpu and others hand their work to: given by a thread, run by the scheduler's own, done in
// an interrupt. Fields by the layout of tracefs, since drivers are modules whose BTF need not be there.

struct gpu_job {
  u64 queued_ns, run_ns;
  u32 thread, process;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, wire_max_requests);
  __type(key, u64);
  __type(value, struct gpu_job);
} gpu_jobs SEC(".maps");

// A job is known by its fence: by address, or by context and number (then `more` is not 0).
INLINE u64 job_key(const void* ctx, u32 first, u32 more) {
  u64 key = field(ctx, first, 8);
  return more ? key << 40 ^ field(ctx, more, 8) : key;
}

INLINE void queue_job(u64 key) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || !current_is_member(&current, set)) return;
  struct gpu_job job = {.queued_ns = bpf_ktime_get_ns(), .thread = current.thread, .process = current.process};
  if (bpf_map_update_elem(&gpu_jobs, &key, &job, BPF_ANY)) count_untracked();
}

INLINE void run_job(u64 key) {
  struct gpu_job* job = bpf_map_lookup_elem(&gpu_jobs, &key);
  if (job) job->run_ns = bpf_ktime_get_ns();
}

INLINE void end_job(u64 key) {
  struct gpu_job* job = bpf_map_lookup_elem(&gpu_jobs, &key);
  if (!job) return;
  struct WireEvent* event = settings() && job->run_ns ? begin_event(wire_gpu_job) : 0;
  if (event) {
    event->thread = job->thread;
    event->process = job->process;
    event->duration_ns = event->time_ns - job->run_ns;
    event->time_ns = job->run_ns;
    event->value = job->run_ns - job->queued_ns;
    end_event(event);
  }
  bpf_map_delete_elem(&gpu_jobs, &key);
}

#define GPU_POINT(point, name, member, action)                           \
  SEC("tracepoint/gpu_scheduler/" point) int tp_##name(void* ctx) {      \
    action(job_key(ctx, layout.member##_fence, layout.member##_number)); \
    return 0;                                                            \
  }

GPU_POINT("drm_sched_job", gpu_queue, gpu_queue, queue_job)
GPU_POINT("drm_run_job", gpu_run, gpu_run, run_job)
GPU_POINT("drm_sched_process_job", gpu_done, gpu_done, end_job)
// As they are called since Linux 6.17.
GPU_POINT("drm_sched_job_queue", gpu_queue_new, gpu_queue, queue_job)
GPU_POINT("drm_sched_job_run", gpu_run_new, gpu_run, run_job)
GPU_POINT("drm_sched_job_done", gpu_done_new, gpu_done, end_job)
