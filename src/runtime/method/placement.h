// Gives the tensors of a method their memory, and what it holds at first.
#pragma once

#include "method/device_choice.h"
#include "method/state.h"

namespace placewire {

/// Finds or allocates the planned memory. Errors: INVALID_ARGUMENT if the memory that the options
/// give does not fit; those of PlannedMemory::create.
[[nodiscard]] Status provide_memory(Method::State& state, const DeviceChoice& choice,
                                    std::shared_ptr<PlannedMemory> given);

/// Points planned tensors and constants to their data. Constants that are to be on a device, or lie
/// in the file where their elements must not be, are copied.
[[nodiscard]] Status place_tensors(Method::State& state);

/// Sets the buffers of the model to their initial values, except those that are in `done` already,
/// and adds them to it. `is_fresh` says that nobody has used the memory yet.
[[nodiscard]] Status set_initial_values(Method::State& state, Initialized& done, bool is_fresh);

}  // namespace placewire
