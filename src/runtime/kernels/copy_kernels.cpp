// The kernels that copy tensors between devices.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kernels/native_kernels.h"
#include "transfer.h"

namespace placewire {
namespace {

/// Which side of a copy must be on the host.
enum class HostSide : std::uint8_t { kSource, kDestination, kAny };

Error refused(ErrorCode code, const TensorImpl& source, const TensorImpl& destination,
              const char* why) {
  return {code, "cannot copy " + to_string(source) + " to " + to_string(destination) + ": " + why};
}

/// What has to be so of two tensors, whatever their sizes are.
Status check_pair(HostSide side, const TensorImpl& source, const TensorImpl& destination) {
  const auto refuse = [&](const char* why) {
    return refused(ErrorCode::INVALID_PROGRAM, source, destination, why);
  };
  if (side == HostSide::kSource && !source.device().is_cpu()) {
    return refuse("this operator copies from the CPU");
  }
  if (side == HostSide::kDestination && !destination.device().is_cpu()) {
    return refuse("this operator copies to the CPU");
  }
  if (source.scalar_type() != destination.scalar_type()) {
    return refuse("the element types differ");
  }
  if (!std::equal(source.dim_order().begin(), source.dim_order().end(),
                  destination.dim_order().begin(), destination.dim_order().end())) {
    return refuse("the orders of dimensions differ");
  }
  if (destination.is_read_only()) {
    return refuse("the destination is read-only");
  }
  return {};
}

/// One copy. If both tensors stay as they are, everything is looked up when it is bound.
class CopyCall final : public BoundKernel {
 public:
  CopyCall(HostSide side, const EValue& source, const EValue& destination)
      : side_(side), source_(source), destination_(destination) {}

  [[nodiscard]] bool has_tensors() const noexcept {
    return source_.tensor() != nullptr && destination_.tensor() != nullptr;
  }

  /// Checks the values that are there now, and finds the way from one to the other.
  Status check() {
    if (!has_tensors()) {
      const bool is_source = source_.tensor() == nullptr;
      return Error{ErrorCode::INVALID_PROGRAM,
                   std::string(is_source ? "the source" : "the destination") + " of the copy is " +
                       describe(is_source ? source_ : destination_) + ", expected a tensor"};
    }
    const TensorImpl& source = *source_.tensor();
    const TensorImpl& destination = *destination_.tensor();
    if (Status status = check_pair(side_, source, destination); !status.ok()) {
      return status;
    }
    if (way_ && way_->source() == source.device() && way_->destination() == destination.device()) {
      return {};
    }
    Result<Transfer> way = Transfer::find(source.device(), destination.device());
    if (!way.ok()) {
      return std::move(way).error();
    }
    way_.emplace(std::move(way).value());
    return {};
  }

  /// Gives the destination the source's sizes, and notes what is to be copied.
  Status measure() {
    const TensorImpl& source = *source_.tensor();
    TensorImpl& destination = *destination_.tensor();
    if (Status status = destination.resize(source.sizes()); !status.ok()) {
      return status;
    }
    nbytes_ = source.nbytes();
    from_ = source.data();
    to_ = destination.data();
    if (nbytes_ != 0 && (from_ == nullptr || to_ == nullptr)) {
      return refused(ErrorCode::INVALID_STATE, source, destination,
                     from_ == nullptr ? "the source has no data" : "the destination has no memory");
    }
    return {};
  }

  /// The tensors will always be what they were measured as.
  void set_fixed() noexcept { is_fixed_ = true; }

  Status run() override {
    if (!is_fixed_) {
      if (Status status = check(); !status.ok()) {
        return status;
      }
      if (Status status = measure(); !status.ok()) {
        return status;
      }
    }
    return way_->copy(to_, from_, nbytes_);
  }

 private:
  const HostSide side_;
  const EValue& source_;
  const EValue& destination_;
  bool is_fixed_ = false;
  std::optional<Transfer> way_;
  std::size_t nbytes_ = 0;
  const void* from_ = nullptr;
  void* to_ = nullptr;
};

class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(HostSide side) : side_(side) {}

  [[nodiscard]] bool is_pure() const noexcept override { return true; }

  Result<std::unique_ptr<BoundKernel>> bind(Span<const KernelArgument> arguments) override {
    if (arguments.size() != 3 || arguments[1].value != arguments[2].value) {
      return Error{
          ErrorCode::INVALID_PROGRAM,
          "a copy takes a source and a destination, and returns the latter; the call has " +
              std::to_string(arguments.size()) + " arguments" +
              (arguments.size() == 3 ? ", and returns another value" : "")};
    }
    if (arguments[1].is_constant) {
      return Error{ErrorCode::INVALID_PROGRAM, "the destination of the copy is a constant"};
    }
    auto call = std::make_unique<CopyCall>(side_, *arguments[0].value, *arguments[1].value);
    if (Status status = prepare(*call, arguments[0].is_fixed && arguments[1].is_fixed);
        !status.ok()) {
      return std::move(status).error();
    }
    return std::unique_ptr<BoundKernel>(std::move(call));
  }

 private:
  /// Also checks what may be replaced later, as far as it is there, so that a missing allocator or
  /// a wrong device is an error at load.
  static Status prepare(CopyCall& call, bool is_fixed) {
    if (!is_fixed && !call.has_tensors()) {
      return {};
    }
    if (Status status = call.check(); !status.ok()) {
      return status;
    }
    if (!is_fixed) {
      return {};
    }
    call.set_fixed();
    return call.measure();
  }

  const HostSide side_;
};

}  // namespace

void add_copy_kernels(NamedKernels& kernels) {
  kernels.emplace_back("et_copy::_h2d_copy.out", std::make_shared<CopyKernel>(HostSide::kSource));
  kernels.emplace_back("et_copy::_d2h_copy.out",
                       std::make_shared<CopyKernel>(HostSide::kDestination));
  kernels.emplace_back("placewire::d2d_copy.out", std::make_shared<CopyKernel>(HostSide::kAny));
}

}  // namespace placewire
