#include "collectors/nvml/device_sources.h"

#include <utility>

namespace aaco::collectors::nvml {
namespace {

constexpr double kPercent = 1e-2;
constexpr double kMilli = 1e-3;
constexpr double kMega = 1e6;

}  // namespace

std::optional<double> pcie_speed(unsigned generation) {
  constexpr double kSpeeds[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
  return generation >= 1 && generation <= std::size(kSpeeds) ? std::optional(kSpeeds[generation - 1]) : std::nullopt;
}

void DeviceSource::name_questions(trace::Sink& sink, std::initializer_list<Question*> questions) {
  source_ = sink.name("nvml");
  for (Question* question : questions) question->name = sink.name(question->metric);
}

bool DeviceSource::accept(probe::Emitter& out, Question& question, bool present, int result) {
  if (present && result == kSuccess) return true;
  if (!present || result == kNotSupported)
    question.unsupported = true;
  else if (result == kGpuIsLost)
    out.drop("nvml: the GPU is lost");
  else
    out.drop("nvml: read failed");
  return false;
}

template <class Value, class Function, class... Arguments>
void DeviceSource::ask(probe::Emitter& out, Question& question, double unit, Function function, Arguments... arguments) {
  if (question.unsupported) return;
  Value value{};
  const int result = function != nullptr ? function(handle_, arguments..., &value) : kNotSupported;
  if (accept(out, question, function != nullptr, result)) emit(out, question, static_cast<double>(value) * unit);
}

void FastSource::intern(trace::Sink& sink) {
  name_questions(sink, {&busy_, &memory_busy_, &power_, &power_instant_, &energy_, &clock_, &memory_clock_, &temperature_,
                        &throttle_power_, &throttle_thermal_, &throttle_other_, &throttled_power_, &throttled_thermal_});
  instant_source_ = sink.name("nvml.instant");
}

void FastSource::sample(probe::Emitter& out) {
  sample_activity(out);
  sample_power(out);
  ask<unsigned>(out, clock_, kMega, api_->clock, kClockSm);
  ask<unsigned>(out, memory_clock_, kMega, api_->clock, kClockMemory);
  ask<unsigned>(out, temperature_, 1, api_->temperature, kTemperatureGpu);
  sample_throttling(out);
}

void FastSource::sample_activity(probe::Emitter& out) {
  if (busy_.unsupported) return;
  Utilization utilization;
  const bool present = api_->utilization != nullptr;
  if (!accept(out, busy_, present, present ? api_->utilization(handle_, &utilization) : kNotSupported)) return;
  emit(out, busy_, utilization.gpu * kPercent);
  emit(out, memory_busy_, utilization.memory * kPercent);
}

void FastSource::sample_power(probe::Emitter& out) {
  ask<unsigned>(out, power_, kMilli, api_->power);
  ask<unsigned long long>(out, energy_, kMilli, api_->energy);
  if (power_instant_.unsupported) return;
  FieldValue field;
  field.field = kFieldPowerInstant;
  const bool present = api_->field_values != nullptr;
  const int result = present ? api_->field_values(handle_, 1, &field) : kNotSupported;
  constexpr int kUnsignedInt = 1;
  if (present && result == kSuccess && field.result == kSuccess && field.value_type == kUnsignedInt)
    out.gpu(power_instant_.name, instant_source_, device_, field.value.u32 * kMilli);
  else
    power_instant_.unsupported = true;  // a second view of what power_ gives anyway
}

void FastSource::sample_throttling(probe::Emitter& out) {
  sample_violation(out, throttled_power_, kPolicyPower, power_before_);
  sample_violation(out, throttled_thermal_, kPolicyThermal, thermal_before_);
  if (throttle_power_.unsupported) return;
  unsigned long long reasons = 0;
  const bool present = api_->event_reasons != nullptr;
  if (!accept(out, throttle_power_, present, present ? api_->event_reasons(handle_, &reasons) : kNotSupported)) return;
  const auto flag = [&](const Question& question, unsigned long long mask) {
    emit(out, question, (reasons & mask) != 0 ? 1 : 0);
  };
  flag(throttle_power_, kReasonSoftwarePowerCap | kReasonPowerBrake);
  flag(throttle_thermal_, kReasonSoftwareThermal | kReasonHardwareThermal);
  flag(throttle_other_, kReasonHardwareSlowdown | kReasonSyncBoost);
}

// The share of the time between two readings in which a policy held the clocks down.
void FastSource::sample_violation(probe::Emitter& out, Question& question, int policy, std::optional<ViolationTime>& before) {
  if (question.unsupported) return;
  ViolationTime now;
  const bool present = api_->violation != nullptr;
  if (!accept(out, question, present, present ? api_->violation(handle_, policy, &now) : kNotSupported)) return;
  const auto last = std::exchange(before, now);
  if (!last || now.reference_us <= last->reference_us || now.violation_ns < last->violation_ns) return;
  emit(out, question,
       static_cast<double>(now.violation_ns - last->violation_ns) * 1e-3 /
           static_cast<double>(now.reference_us - last->reference_us));
}

void SlowSource::intern(trace::Sink& sink) {
  name_questions(
      sink, {&memory_used_, &memory_total_, &power_cap_, &pcie_speed_, &pcie_width_, &pcie_replays_, &corrected_, &uncorrected_});
}

void SlowSource::sample(probe::Emitter& out) {
  if (!memory_used_.unsupported) {
    Memory memory;
    const bool present = api_->memory != nullptr;
    if (accept(out, memory_used_, present, present ? api_->memory(handle_, &memory) : kNotSupported)) {
      emit(out, memory_used_, static_cast<double>(memory.used));
      emit(out, memory_total_, static_cast<double>(memory.total));
    }
  }
  if (!pcie_speed_.unsupported) {
    unsigned generation = 0;
    const bool present = api_->pcie_generation != nullptr;
    if (accept(out, pcie_speed_, present, present ? api_->pcie_generation(handle_, &generation) : kNotSupported))
      if (const auto speed = pcie_speed(generation)) emit(out, pcie_speed_, *speed);
  }
  ask<unsigned>(out, power_cap_, kMilli, api_->power_limit);
  ask<unsigned>(out, pcie_width_, 1, api_->pcie_width);
  ask<unsigned>(out, pcie_replays_, 1, api_->pcie_replays);
  ask<unsigned long long>(out, corrected_, 1, api_->ecc_errors, kEccCorrected, kEccVolatile);
  ask<unsigned long long>(out, uncorrected_, 1, api_->ecc_errors, kEccUncorrected, kEccVolatile);
}

}  // namespace aaco::collectors::nvml
