// The values of a method: made from the program's, in one block of memory.
#include "method/values.h"

#include <algorithm>
#include <new>
#include <type_traits>

namespace placewire {
namespace {

namespace program = schema::program;

// The block is freed as a whole, without destructors.
static_assert(std::is_trivially_destructible_v<EValue>);
static_assert(std::is_trivially_destructible_v<TensorImpl>);

/// How many objects of each type the values of a method need.
struct Count {
  std::size_t values = 0;
  std::size_t tensors = 0;
  /// Sizes, strides and bounds of tensors.
  std::size_t integers = 0;
  std::size_t items = 0;
  std::size_t doubles = 0;
  std::size_t bools = 0;
};

Count count(program::ExecutionPlan plan) noexcept {
  Count counted;
  counted.values = plan.values().size();
  for (const program::EValue value : plan.values()) {
    switch (value.val_type()) {
      case program::KernelTypes::Tensor:
        ++counted.tensors;
        counted.integers += 3 * value.val_as_Tensor().sizes().size();
        break;
      case program::KernelTypes::IntList:
        counted.items += value.val_as_IntList().items().size();
        break;
      case program::KernelTypes::TensorList:
        counted.items += value.val_as_TensorList().items().size();
        break;
      case program::KernelTypes::OptionalTensorList:
        counted.items += value.val_as_OptionalTensorList().items().size();
        break;
      case program::KernelTypes::DoubleList:
        counted.doubles += value.val_as_DoubleList().items().size();
        break;
      case program::KernelTypes::BoolList:
        counted.bools += value.val_as_BoolList().items().size();
        break;
      default:
        break;
    }
  }
  return counted;
}

}  // namespace

/// The block, from which objects are taken one after the other, each to be written once. Those of
/// the strictest alignment come first, so that nothing lies between them.
class Values::Layout {
 public:
  explicit Layout(const Count& counted)
      : memory_(new std::byte[counted.values * (sizeof(EValue) + sizeof(TensorImpl*)) +
                              counted.tensors * (sizeof(TensorImpl) + sizeof(std::uint32_t)) +
                              counted.integers * sizeof(std::int64_t) +
                              counted.items * sizeof(EValue*) + counted.doubles * sizeof(double) +
                              counted.bools * sizeof(bool)]),
        next_(memory_.get()) {}

  /// Room for the next `size` objects.
  template <typename T>
  [[nodiscard]] Span<T> take(std::size_t size) noexcept {
    T* const first = reinterpret_cast<T*>(next_);
    next_ += size * sizeof(T);
    return {first, size};
  }

  [[nodiscard]] std::unique_ptr<std::byte[]> release() noexcept { return std::move(memory_); }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::byte* next_;
};

/// Fills the values in, one after the other.
class Values::Filling {
 public:
  Filling(Values& values, Layout& layout, const Count& counted, Span<const Device> devices)
      : values_(values),
        devices_(devices),
        integers_(layout.take<std::int64_t>(counted.integers)),
        items_(layout.take<EValue*>(counted.items)),
        doubles_(layout.take<double>(counted.doubles)),
        owners_(layout.take<std::uint32_t>(counted.tensors)),
        bools_(layout.take<bool>(counted.bools)) {
    values.integers_ = integers_;
    values.owners_ = owners_;
  }

  [[nodiscard]] EValue value(std::size_t index, program::EValue from) {
    switch (from.val_type()) {
      case program::KernelTypes::Int:
        return from.val_as_Int().int_val();
      case program::KernelTypes::Bool:
        return from.val_as_Bool().bool_val();
      case program::KernelTypes::Double:
        return from.val_as_Double().double_val();
      case program::KernelTypes::String:
        return from.val_as_String().string_val();
      case program::KernelTypes::Tensor:
        return tensor(index, from.val_as_Tensor());
      case program::KernelTypes::IntList:
        return IntList{items(from.val_as_IntList().items())};
      case program::KernelTypes::TensorList:
        return TensorList{items(from.val_as_TensorList().items())};
      case program::KernelTypes::OptionalTensorList:
        return OptionalTensorList{items(from.val_as_OptionalTensorList().items())};
      case program::KernelTypes::DoubleList:
        return Span<const double>(copy(from.val_as_DoubleList().items(), doubles_));
      case program::KernelTypes::BoolList:
        return Span<const bool>(copy(from.val_as_BoolList().items(), bools_));
      default:
        return {};
    }
  }

 private:
  /// Takes the first `size` objects off a span.
  template <typename T>
  static Span<T> take(Span<T>& from, std::size_t size) noexcept {
    const Span<T> taken(from.data(), size);
    from = Span<T>(from.data() + size, from.size() - size);
    return taken;
  }

  template <typename T>
  static Span<T> copy(schema::Vector<T> from, Span<T>& into) noexcept {
    const Span<T> copied = take(into, from.size());
    std::copy(from.begin(), from.end(), copied.begin());
    return copied;
  }

  template <typename Index>
  Span<EValue* const> items(schema::Vector<Index> indices) noexcept {
    const Span<EValue*> taken = take(items_, indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      // Below 0 is `None`, which only lists of optional tensors have.
      taken[i] = indices[i] < 0 ? nullptr : &values_[static_cast<std::size_t>(indices[i])];
    }
    return {taken.data(), taken.size()};
  }

  TensorImpl* tensor(std::size_t index, program::Tensor from) noexcept {
    const auto sizes = from.sizes();
    TensorShape shape;
    shape.sizes = take(integers_, sizes.size()).data();
    shape.strides = take(integers_, sizes.size()).data();
    std::int64_t* const bounds = take(integers_, sizes.size()).data();
    shape.bounds = bounds;
    shape.dim_order = from.dim_order().data();
    std::copy(sizes.begin(), sizes.end(), shape.sizes);
    std::copy(sizes.begin(), sizes.end(), bounds);
    owners_[made_] = static_cast<std::uint32_t>(index);
    TensorImpl* const tensor = &values_.tensors_[made_++];
    values_.own_tensors_[index] = tensor;
    return new (tensor)
        TensorImpl(from.scalar_type(), sizes.size(), shape, from.shape_dynamism(), devices_[index]);
  }

  Values& values_;
  Span<const Device> devices_;
  Span<std::int64_t> integers_;
  Span<EValue*> items_;
  Span<double> doubles_;
  Span<std::uint32_t> owners_;
  Span<bool> bools_;
  /// Tensors that have been made.
  std::size_t made_ = 0;
};

Values::Values(const program::ExecutionPlan& plan, Span<const Device> devices) {
  const Count counted = count(plan);
  Layout layout(counted);
  values_ = layout.take<EValue>(counted.values);
  own_tensors_ = layout.take<TensorImpl*>(counted.values);
  tensors_ = layout.take<TensorImpl>(counted.tensors);
  Filling filling(*this, layout, counted, devices);
  const auto values = plan.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    own_tensors_[i] = nullptr;
    new (&values_[i]) EValue(filling.value(i, values[i]));
  }
  memory_ = layout.release();
}

}  // namespace placewire
