// Tensors of torch's over memory that stays where it is: one for all tensors that lie there alike.
#include "fixed_tensors.h"

#include <utility>

#include "arrays.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// How many numbers of a place come before the sizes.
constexpr std::size_t kHead = 4;

}  // namespace

FixedTensor::All& FixedTensor::all() {
  // Never destroyed, because kernels may outlive everything static.
  static auto* const known = new All;
  return *known;
}

FixedTensor::Place FixedTensor::place_of(const TensorImpl& tensor) {
  Place place{static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tensor.data())),
              static_cast<std::int64_t>(tensor.scalar_type()),
              static_cast<std::int64_t>(tensor.device().type), tensor.device().index};
  place.insert(place.end(), tensor.sizes().begin(), tensor.sizes().end());
  place.insert(place.end(), tensor.strides().begin(), tensor.strides().end());
  return place;
}

Result<std::shared_ptr<FixedTensor>> FixedTensor::of(const TensorImpl& tensor) {
  Place place = place_of(tensor);
  const auto found = all().find(place);
  if (found != all().end()) {
    return found->second.lock();
  }
  Result<nb::object> made = array_over(ArrayLibrary::kTorchInference, tensor, tensor.sizes());
  if (!made) {
    return std::move(made).error();
  }
  // Python may have run, and have asked for the same one.
  const auto [entry, is_new] = all().try_emplace(std::move(place));
  if (!is_new) {
    return entry->second.lock();
  }
  std::shared_ptr<FixedTensor> fixed(new FixedTensor(std::move(made).value(), entry));
  entry->second = fixed;
  return fixed;
}

FixedTensor::~FixedTensor() { all().erase(entry_); }

void FixedTensor::restore() const noexcept {
  const Place& place = entry_->first;
  const std::size_t rank = (place.size() - kHead) / 2;
  restore_layout(object(), {place.data() + kHead, rank}, {place.data() + kHead + rank, rank});
}

}  // namespace placewire::bindings
