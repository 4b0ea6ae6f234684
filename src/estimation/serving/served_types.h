#pragma once

#include <string>

#include "estimation/serving/step_work.h"

// Data types of a served model on a device, and what is to be said of them.
namespace aaco::estimation {

// With a type asked for, everything but the tables has it, whatever the configuration keeps.
DecoderArchitecture costed_as(const DecoderArchitecture& model, const ServingRequest& request);

// Fills the types of `served` and the bytes of a cached value; the name of the cache's type.
core::Result<std::string> fill_types(const hardware::Device& device, const ServingRequest& request, const ServingStack& stack,
                                     const ServingRules& rules, ServedModel& served);

// That the device lacks a type, and what stacks do then.
void add_type_notes(const ServedModel& served, const hardware::Device& device, ServingEstimate& out);

// All parts of what one request needs beside what there is.
tl::unexpected<core::Error> does_not_fit(const ServedModel& served, const hardware::Device& device, const ServingEstimate& out);

}  // namespace aaco::estimation
