#pragma once

// Block I/O: of the thread that hands the request to the device.

INLINE void begin_request(u64 key, u64 bytes, u32 operation) {
  struct current_thread current;
  struct WireControl* set = settings();
  if (!set || !current_is_member(&current, set)) return;
  struct request_start start = {.begin_ns = bpf_ktime_get_ns(),
                                .bytes = bytes,
                                .thread = current.thread,
                                .process = current.process,
                                .operation = operation};
  if (bpf_map_update_elem(&requests, &key, &start, BPF_ANY)) count_untracked();
}

INLINE void end_request(u64 key) {
  struct request_start* start = bpf_map_lookup_elem(&requests, &key);
  if (!start) return;
  struct WireEvent* event = settings() ? begin_event(wire_block) : 0;
  if (event) {
    event->thread = start->thread;
    event->process = start->process;
    event->duration_ns = event->time_ns - start->begin_ns;
    event->time_ns = start->begin_ns;
    event->value = start->bytes;
    event->state = start->operation;
    end_event(event);
  }
  bpf_map_delete_elem(&requests, &key);
}

#define ON_ISSUE(FIELD)                                                                      \
  struct request* request = (void*)(layout.issue_has_queue ? ctx[1] : ctx[0]);               \
  begin_request((u64)request, FIELD(request, __data_len), FIELD(request, cmd_flags) & 0xff); \
  return 0;

SEC("tp_btf/block_rq_issue")
int btf_issue(u64* ctx){ON_ISSUE(PROBED)} SEC("raw_tp/block_rq_issue") int raw_issue(u64* ctx){
    ON_ISSUE(PROBED)} BOTH(complete, "block_rq_complete", end_request(ctx[0]))
