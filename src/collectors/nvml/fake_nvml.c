/* A stand-in for libnvidia-ml.so.1 with the same names and layouts. fake_nvml_set() changes what it answers. */
#include <stddef.h>
#include <string.h>

struct state {
  int init_result;
  unsigned devices;
  int lost_device; /* its calls answer "GPU is lost"; -1: none */
  int no_energy;   /* as chips before Volta */
  unsigned step;   /* moves counters on */
  int open;        /* initialised minus shut down */
  int calls;       /* of the energy function */
};
static struct state now = {0, 2, -1, 0, 0, 0, 0};

void fake_nvml_set(int init_result, unsigned devices, int lost_device, int no_energy, unsigned step) {
  now.init_result = init_result;
  now.devices = devices;
  now.lost_device = lost_device;
  now.no_energy = no_energy;
  now.step = step;
}
int fake_nvml_open(void) { return now.open; }
int fake_nvml_energy_calls(void) { return now.calls; }

typedef struct device* handle; /* the number of the device plus one */
static unsigned number(handle device) { return (unsigned)((size_t)device - 1); }
static int check(handle device) { return (int)number(device) == now.lost_device ? 15 : 0; }

int nvmlInit_v2(void) {
  if (now.init_result == 0) now.open++;
  return now.init_result;
}
int nvmlShutdown(void) {
  now.open--;
  return 0;
}
const char* nvmlErrorString(int error) { return error == 9 ? "Driver Not Loaded" : "Some Error"; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = now.devices;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, handle* device) {
  if (index >= now.devices) return 2;
  *device = (handle)(size_t)(index + 1);
  return 0;
}
struct utilization {
  unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(handle device, struct utilization* rates) {
  rates->gpu = 80 + number(device);
  rates->memory = 40;
  return check(device);
}
struct memory {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(handle device, struct memory* memory) {
  memory->total = 80ULL << 30;
  memory->used = 3ULL << 30;
  memory->free = memory->total - memory->used;
  return check(device);
}
int nvmlDeviceGetPowerUsage(handle device, unsigned* milliwatts) {
  *milliwatts = 350500;
  return check(device);
}
int nvmlDeviceGetTotalEnergyConsumption(handle device, unsigned long long* millijoules) {
  now.calls++;
  *millijoules = 5000000ULL + now.step * 35000ULL;
  return now.no_energy ? 3 : check(device);
}
int nvmlDeviceGetClockInfo(handle device, int type, unsigned* megahertz) {
  *megahertz = type == 2 ? 2619 : 1980;
  return check(device);
}
int nvmlDeviceGetTemperature(handle device, int sensor, unsigned* celsius) {
  *celsius = 61;
  return sensor == 0 ? check(device) : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(handle device, unsigned long long* reasons) {
  *reasons = 0x4; /* software power cap */
  return check(device);
}
struct violation {
  unsigned long long reference, violation;
};
int nvmlDeviceGetViolationStatus(handle device, int policy, struct violation* time) {
  time->reference = 1000000ULL + now.step * 100000ULL;                  /* us */
  time->violation = policy == 0 ? 7000ULL + now.step * 25000000ULL : 0; /* ns */
  return check(device);
}
int nvmlDeviceGetEnforcedPowerLimit(handle device, unsigned* milliwatts) {
  *milliwatts = 700000;
  return check(device);
}
int nvmlDeviceGetCurrPcieLinkGeneration(handle device, unsigned* generation) {
  *generation = 5;
  return check(device);
}
int nvmlDeviceGetCurrPcieLinkWidth(handle device, unsigned* lanes) {
  *lanes = 16;
  return check(device);
}
int nvmlDeviceGetPcieReplayCounter(handle device, unsigned* replays) {
  *replays = 2;
  return check(device);
}
int nvmlDeviceGetTotalEccErrors(handle device, int kind, int counter, unsigned long long* errors) {
  *errors = kind == 0 ? 9 : 1;
  return counter == 0 ? check(device) : 2;
}
struct field {
  unsigned field, scope;
  long long time, latency;
  int type, result;
  union {
    double f64;
    unsigned u32;
    unsigned long long u64;
  } value;
};
int nvmlDeviceGetFieldValues(handle device, int count, struct field* values) {
  int i;
  for (i = 0; i < count; i++) {
    values[i].result = values[i].field == 186 ? 0 : 3;
    values[i].type = 1;
    values[i].value.u32 = 402000;
  }
  return check(device);
}
